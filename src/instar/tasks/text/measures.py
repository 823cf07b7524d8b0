"""How alike two answers of a text locator are: per follow-up, per picture and per set of pictures.

The equations are those of the stability paper. Boxes are matched one to one here. The paper counts a box
as matched when any box of the other answer is like it, so that three copies of one box against that box
give 3.0; that reading is available as `matching="paper"`, to compare with published numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from instar.core.errors import BadInput

Matching = Literal["one-to-one", "paper"]
MATCHINGS: tuple[str, ...] = get_args(Matching)
EPS = 0.5
"""Two boxes are the same when their overlap exceeds 1 - eps (Eq. 1)."""


def match(overlap: npt.NDArray[np.float64], eps: float = EPS) -> dict[int, int]:
    """One to one, as many as possible and then with as much overlap as possible: from rows to columns."""
    allowed = overlap > 1 - eps
    if not allowed.any():
        return {}
    # One more pair must outweigh whatever overlap all the others could gain.
    gain = np.where(allowed, min(overlap.shape) + 1 + overlap, 0.0)
    rows, columns = linear_sum_assignment(gain, maximize=True)
    return {int(k): int(j) for k, j in zip(rows, columns) if allowed[k, j]}


def delta(overlap: npt.NDArray[np.float64], *, eps: float = EPS, matching: Matching = "one-to-one") -> float:
    """How alike two sets of boxes are (Eq. 4): matched over all; 1 when both are empty.

    `overlap` is of all pairs, `float64 (len(first), len(second))`.

    >>> delta(np.ones((1, 0))), delta(np.ones((0, 0)))
    (0.0, 1.0)
    >>> delta(np.ones((3, 1))), delta(np.ones((3, 1)), matching="paper")
    (0.3333333333333333, 3.0)
    """
    if not sum(overlap.shape):
        return 1.0
    like_any = int((overlap > 1 - eps).any(axis=1).sum())
    common = like_any if matching == "paper" else len(match(overlap, eps))
    return common / (sum(overlap.shape) - common)


def image_similarity(deltas: Sequence[float]) -> float:
    """The average over the follow-ups of one picture (Eq. 14)."""
    return _mean("image_similarity", deltas)


def set_similarity(deltas_of_images: Mapping[str, Sequence[float]]) -> float:
    """The average of the pictures' averages (Eq. 15); pictures without a follow-up do not count.

    >>> set_similarity({"a": [1.0, 0.5], "b": [0.0], "c": []})
    0.375
    """
    return _mean(
        "set_similarity", [image_similarity(deltas) for deltas in deltas_of_images.values() if deltas]
    )


def shooting_rate(found: Mapping[str, Sequence[bool]]) -> float:
    """The share of all watermarks that were found, over all follow-ups of all pictures."""
    return _mean("shooting_rate", [float(shot) for shots in found.values() for shot in shots])


def require_matching(who: str, matching: str, eps: float) -> None:
    """Raise BadInput unless both make sense; `who` begins the message."""
    if matching not in MATCHINGS:
        raise BadInput(f"{who}: matching is {matching!r}; it is one of {', '.join(MATCHINGS)}")
    if not (isinstance(eps, (int, float)) and 0 < eps <= 1):
        raise BadInput(f"{who}: eps is {eps!r}; it must be a number above 0 and at most 1")


def _mean(what: str, values: Sequence[float]) -> float:
    if not values:
        raise ValueError(f"{what}: there is nothing to average")
    return float(np.mean(values))
