"""Locators for drawn pages, from pixels alone: steep edges, grown together into words, boxes around them.

`page_exact` is right. `page_glare` has a fault that real locators have: where most of a picture is white it
expects glare, asks for steeper edges, and loses words that are as plain to see as before.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import numpy.typing as npt

from instar.adapters.picture_system import PictureSystem, one_by_one
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.tasks.text.answers import Quads
from instar.tasks.text.systems.rectangles import (
    reading_order,
    rectangle_corners,
    smallest_rectangles,
    start_at_top_left,
)

# The grain of the paper and what compression leaves are below, every ink at every brightness above.
_STEEP = 34
_WHITE = 245
# Letters are at most so many pixels apart, words further.
_REACH = 17
# Longer than any word, such as the edge of a page on a larger canvas.
_LONGEST = 0.72
_LEAST_SIDE = 7.0
_AIR = 2.0


@recorded
def page_exact() -> PictureSystem[Quads]:
    """Finds exactly the words that are there."""
    return _locator("page-exact", page_exact, _STEEP)


@recorded
def page_glare() -> PictureSystem[Quads]:
    """Loses words in pictures that are mostly white."""
    return _locator("page-glare", page_glare, 110)


def _locator(name: str, factory: Callable[[], PictureSystem[Quads]], in_glare: int) -> PictureSystem[Quads]:
    """Finds drawn words; in a picture that is mostly white, edges must be as steep as `in_glare` says."""

    def locate(image: Image) -> Quads:
        grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
        glare = np.count_nonzero(grey >= _WHITE) > grey.size / 2
        edges = _steepest(image) >= (in_glare if glare else _STEEP)
        return Quads(_boxes(edges.view(np.uint8)))

    fingerprint = f"page-locator 1, in glare {in_glare}"
    return PictureSystem(name, one_by_one(locate), fingerprint=fingerprint, recipe=factory)


def _steepest(image: Image) -> npt.NDArray[np.uint8]:
    """`uint8 (H, W)`: how far the values around each pixel are apart, in the channel where it is most."""
    red, green, blue = cv2.split(cv2.morphologyEx(image, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)))
    return np.asarray(cv2.max(cv2.max(red, green), blue), np.uint8)


def _boxes(edges: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """`float32 (n, 4, 2)`: the words among the edges, in reading order."""
    height, width = edges.shape
    room = cv2.copyMakeBorder(edges, _REACH, _REACH, _REACH, _REACH, cv2.BORDER_CONSTANT, value=0)
    grown = cv2.morphologyEx(room, cv2.MORPH_CLOSE, np.ones((_REACH, _REACH), np.uint8))
    _, pieces, stats, _ = cv2.connectedComponentsWithStats(grown, connectivity=8)
    words = []
    for number, (x, y, wide, high, _) in enumerate(stats[1:].tolist(), start=1):
        if wide <= _LONGEST * width and high <= _LONGEST * height:
            rows, columns = np.nonzero(pieces[y : y + high, x : x + wide] == number)
            words.append(np.stack([columns + x, rows + y], axis=1).astype(np.float32))
    centres, sides, turns = smallest_rectangles(words)
    # From the centres of pixels to their corners.
    corners = rectangle_corners(centres + 0.5 - _REACH, sides + 1 + 2 * _AIR, turns)
    quads = start_at_top_left(corners[sides.min(axis=1) >= _LEAST_SIDE])
    return quads[reading_order(quads)]
