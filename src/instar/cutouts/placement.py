"""Where an object may stand: every free place is enumerated, none is guessed."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from instar.imaging.geometry import Boxes

__all__ = ["Places", "free_places", "ring_around"]

Places: TypeAlias = npt.NDArray[np.bool_]
"""`bool (H - height + 1, W - width + 1)`: True where the top left corner of the object may be."""


def free_places(shape: tuple[int, int], size: tuple[int, int], taken: Boxes) -> Places:
    """All places for an object of `size` (height, width) wholly inside a picture of `shape` (height,
    width), overlapping none of the boxes in `taken`. Empty when the object is larger than the picture.

    >>> free_places((4, 4), (2, 2), np.float32([[0, 0, 1, 4]])).astype(int).tolist()
    [[0, 1, 1], [0, 1, 1], [0, 1, 1]]
    """
    (rows, columns), (height, width) = shape, size
    places = np.ones((max(0, rows - height + 1), max(0, columns - width + 1)), bool)
    for x1, y1, x2, y2 in taken:
        # The object's corner (x, y) overlaps when x < x2 and x + width > x1, and likewise for y.
        top, left = max(0, int(np.floor(y1)) - height + 1), max(0, int(np.floor(x1)) - width + 1)
        places[top : max(0, int(np.ceil(y2))), left : max(0, int(np.ceil(x2)))] = False
    return places


def ring_around(places: Places, size: tuple[int, int], anchor: npt.NDArray[np.float32]) -> Places:
    """Those places whose centre lies on the ring around an anchor box.

    Per axis the ring's inner half-size is (anchor + object) / 2 and its outer half-size anchor / 2 + object:
    close, touching at the least.
    """
    height, width = size
    x1, y1, x2, y2 = (float(value) for value in anchor)
    ring = np.zeros_like(places)
    # Centres within the outer rectangle; those within the inner one overlap the anchor and are not free.
    left, right = _corners((x1 + x2) / 2, (x2 - x1) / 2 + width, width, places.shape[1])
    top, bottom = _corners((y1 + y2) / 2, (y2 - y1) / 2 + height, height, places.shape[0])
    ring[top:bottom, left:right] = places[top:bottom, left:right]
    return ring


def _corners(centre: float, half: float, side: int, end: int) -> tuple[int, int]:
    """The half-open range of corners whose object centre is within `half` of `centre`."""
    first = int(np.ceil(centre - half - side / 2))
    last = int(np.floor(centre + half - side / 2))
    return min(max(0, first), end), max(0, min(end, last + 1))
