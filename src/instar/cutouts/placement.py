"""Where an object may stand, every free place being enumerated, and how small it may become."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from instar.imaging.by_identity import by_identity
from instar.imaging.geometry import Boxes

Places: TypeAlias = npt.NDArray[np.bool_]
"""`bool (bottom - top, right - left)` of a window: True where the object's top left corner may be."""


@dataclass(frozen=True, slots=True)
class Window:
    """A rectangle of places for the top left corner of an object, in pixels, ends exclusive."""

    top: int
    bottom: int
    left: int
    right: int

    def rows(self, first: float, last: float) -> Window:
        """Only the rows from `first` to `last`, both included."""
        top, bottom = max(self.top, math.ceil(first)), min(self.bottom, math.floor(last) + 1)
        return Window(top, max(top, bottom), self.left, self.right)


def anywhere(shape: tuple[int, int], size: tuple[int, int]) -> Window:
    """All places for an object of `size` (height, width) wholly inside a picture of `shape` (height,
    width). Empty when the object is larger than the picture.
    """
    (rows, columns), (height, width) = shape, size
    return Window(0, max(0, rows - height + 1), 0, max(0, columns - width + 1))


def ring_around(shape: tuple[int, int], size: tuple[int, int], anchor: npt.NDArray[np.float32]) -> Window:
    """The places whose centre lies within the outer edge of the ring around an anchor box.

    Per axis the ring's inner half-size is (anchor + object) / 2 and its outer half-size anchor / 2 + object:
    close, touching at the least. What lies within the inner edge overlaps the anchor, so that
    `free_places` leaves it out.
    """
    return _around(shape, size, anchor, (size[0] / 2, size[1] / 2))


def close_to(
    shape: tuple[int, int], size: tuple[int, int], anchor: npt.NDArray[np.float32], gap: float
) -> Window:
    """The places at which an object is at most `gap` pixels away from an anchor box, per axis."""
    return _around(shape, size, anchor, (gap, gap))


def _around(
    shape: tuple[int, int],
    size: tuple[int, int],
    anchor: npt.NDArray[np.float32],
    gaps: tuple[float, float],
) -> Window:
    """The places at most so many pixels (down, across) away from an anchor box."""
    (height, width), (down, across), whole = size, gaps, anywhere(shape, size)
    x1, y1, x2, y2 = (float(value) for value in anchor)
    left = max(whole.left, math.ceil(x1 - width - across))
    right = min(whole.right, math.floor(x2 + across) + 1)
    return Window(whole.top, whole.bottom, left, max(left, right)).rows(y1 - height - down, y2 + down)


def free_places(window: Window, size: tuple[int, int], taken: Boxes) -> Places:
    """The places of a window at which an object of `size` (height, width) overlaps none of the boxes.

    >>> free_places(anywhere((4, 4), (2, 2)), (2, 2), np.float32([[0, 0, 1, 4]])).astype(int).tolist()
    [[0, 1, 1], [0, 1, 1], [0, 1, 1]]
    """
    height, width = size
    places = np.ones((window.bottom - window.top, window.right - window.left), bool)
    # The object's corner (x, y) overlaps when x < x2 and x + width > x1, and likewise for y.
    for x1, y1, x2, y2 in _whole_pixels(taken):
        top, bottom = y1 - height + 1 - window.top, y2 - window.top
        left, right = x1 - width + 1 - window.left, x2 - window.left
        if bottom > 0 and right > 0:
            places[max(top, 0) : bottom, max(left, 0) : right] = False
    return places


@by_identity(64)
def _whole_pixels(boxes: Boxes) -> list[list[int]]:
    """The boxes, grown to whole pixels."""
    whole: list[list[int]] = np.hstack([np.floor(boxes[:, :2]), np.ceil(boxes[:, 2:])]).astype(int).tolist()
    return whole


def one_of(places: Places, window: Window, rng: np.random.Generator) -> tuple[int, int]:
    """The corner (x, y) of one of the free places, each equally likely; there must be one."""
    ends = np.cumsum(np.count_nonzero(places, axis=1))
    chosen = int(rng.integers(ends[-1]))
    row = int(np.searchsorted(ends, chosen, side="right"))
    columns = np.flatnonzero(places[row])
    return window.left + int(columns[chosen - ends[row]]), window.top + row  # counted from the row's end


def smaller_sizes(size: tuple[int, int], shape: tuple[int, int], *, least: int) -> Iterator[tuple[int, int]]:
    """(height, width) in the proportions of `shape`, the smallest first, up to one pixel less than `size`.

    Both sides are at least so long.

    >>> list(smaller_sizes((11, 8), (200, 160), least=6))
    [(7, 6), (8, 6), (9, 7), (10, 8)]
    """
    rows, columns = shape
    longest = max(shape)
    for side in range(least, max(size)):
        smaller = round(side * rows / longest), round(side * columns / longest)
        if min(smaller) >= least:
            yield smaller
