"""Rotated rectangles as quads: smallest ones around points, grown, ordered and kept within a picture."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

__all__ = [
    "Floats",
    "clip_quads",
    "reading_order",
    "rectangle_corners",
    "smallest_rectangle",
    "start_at_top_left",
]

Floats = npt.NDArray[np.float32]


def smallest_rectangle(
    points: npt.NDArray[np.integer[Any] | np.floating[Any]],
) -> tuple[Floats, Floats, float]:
    """The rectangle of least area around points `(n, 2)`: centre (x, y), sides, turn in degrees."""
    centre, sides, turn = cv2.minAreaRect(points)
    return np.array(centre, np.float32), np.array(sides, np.float32), float(turn)


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


def clip_quads(quads: Floats, size: tuple[int, int]) -> Floats:
    """The quads with every corner moved into a picture of that (height, width)."""
    height, width = size
    return np.clip(quads, 0, np.array([width, height], np.float32))


def reading_order(quads: Floats) -> npt.NDArray[np.intp]:
    """Indices that go from top to bottom, then from left to right, by top left corners."""
    return np.lexsort((quads[:, 0, 0], quads[:, 0, 1]))
