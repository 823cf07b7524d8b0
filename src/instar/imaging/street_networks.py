"""The networks of street pictures that come along, each with a card beside its weights."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from instar.imaging.onnx_session import open_onnx
from instar.installation import MissingExtra

if TYPE_CHECKING:
    from importlib.abc import Traversable

STREET_NETWORKS = ("painter-drawn", "painter-camvid", "street-maps", "translator-camvid")
MULTIPLE = 16  # sides of what a network is shown
WEIGHTS = files("instar.imaging") / "weights"


def network_card(name: str) -> dict[str, Any]:
    """What a network was trained on, its licence, how good it is, and how to train it again."""
    document: dict[str, Any] = json.loads((WEIGHTS / f"{name}.json").read_text(encoding="utf-8"))
    return document


def require_weights(file: Traversable) -> Traversable:
    """The file of a network, which a wheel of instar leaves to a package of its own."""
    if not file.is_file():
        wheel = "instar-weights (a wheel beside instar's own, or weights/ in its sources)"
        raise MissingExtra(wheel, extra="weights", needed_for=file.name)
    return file


@lru_cache(maxsize=len(STREET_NETWORKS))
def session(name: str) -> Any:
    """The network, ready to run on one thread."""
    with as_file(require_weights(WEIGHTS / f"{name}.onnx")) as path:
        return open_onnx(str(path))


def as_input(values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """`(H, W, channels)` as `float32 (1, channels, H, W)`, with the edge repeated up to multiples of 16."""
    below, beside = -values.shape[0] % MULTIPLE, -values.shape[1] % MULTIPLE
    wide = np.pad(values, ((0, below), (0, beside), (0, 0)), mode="edge")
    return np.ascontiguousarray(wide.transpose(2, 0, 1)[None], np.float32)
