"""How far a driver is off, beside one who always answers the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from instar.stats import clustered_mean
from instar.tasks.driving.answers import UNIT_OF
from instar.training.driving.examples import Split

__all__ = ["errors_of"]


def errors_of(parts: Split, given: npt.NDArray[np.float32]) -> dict[str, Any]:
    """For each output the errors on what was held out; the constant is the best one of the training.

    Intervals are for the mean absolute error, over stretches of road.
    """
    found: dict[str, Any] = {}
    for column, output in enumerate(parts.test.outputs):
        truth, learned = parts.test.targets[:, column], parts.training.targets[:, column]
        off = np.abs(given[:, column] - truth)
        constant_off = np.abs(truth - np.median(learned))
        low, high = clustered_mean(off, parts.test.groups)
        found[output] = {
            "unit": UNIT_OF[output],
            "mae": float(off.mean()),
            "interval": [low, high],
            "rmse": float(np.sqrt((off**2).mean())),
            "constant_mae": float(constant_off.mean()),
            "constant_rmse": float(np.sqrt(((truth - learned.mean()) ** 2).mean())),
            "pictures": len(truth),
            "groups": len(set(parts.test.groups)),
        }
        if output == "steering" and parts.test.published:
            found[output]["published_rmse"] = {
                name: float(np.sqrt(((values - truth) ** 2).mean()))
                for name, values in parts.test.published.items()
            }
    return found
