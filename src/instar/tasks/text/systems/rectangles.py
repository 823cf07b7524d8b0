"""Rotated rectangles as quads: smallest ones around points, grown, and ordered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


def smallest_rectangles(
    pieces: Iterable[npt.NDArray[np.integer[Any] | np.floating[Any]]],
) -> tuple[Floats, Floats, Floats]:
    """Of least area around points `(k, 2)`: centres (x, y) and sides `(n, 2)`, turns in degrees `(n,)`."""
    found = [cv2.minAreaRect(points) for points in pieces]
    centres, sides = (np.array([one[i] for one in found], np.float32).reshape(-1, 2) for i in (0, 1))
    return centres, sides, np.array([turn for _, _, turn in found], np.float32)


def rectangle_corners(centres: Floats, sides: Floats, turns: Floats) -> Floats:
    """Quads `float32 (n, 4, 2)`, clockwise, from centres and sides `(n, 2)` and turns in degrees `(n,)`."""
    signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], np.float32)
    along, across = np.moveaxis(signs * sides[:, None] / 2, -1, 0)
    cosine, sine = np.cos(np.deg2rad(turns))[:, None], np.sin(np.deg2rad(turns))[:, None]
    corners = np.stack([along * cosine - across * sine, along * sine + across * cosine], axis=-1)
    return np.asarray(corners + centres[:, None], np.float32)


def start_at_top_left(quads: Floats) -> Floats:
    """Clockwise quads `(n, 4, 2)`, each begun at its corner nearest to the top left of the picture."""
    first = quads.sum(axis=2).argmin(axis=1)
    turned = (first[:, None] + np.arange(4)) % 4
    return np.take_along_axis(quads, turned[..., None], axis=1)


def reading_order(quads: Floats) -> npt.NDArray[np.intp]:
    """Indices that go from top to bottom, then from left to right, by top left corners."""
    return np.lexsort((quads[:, 0, 0], quads[:, 0, 1]))
