"""From CRAFT's two maps to words: characters that are linked belong together."""

from __future__ import annotations

import cv2
import numpy as np
from scipy import ndimage

from instar.tasks.text.systems.rectangles import (
    Floats,
    rectangle_corners,
    smallest_rectangle,
    start_at_top_left,
)

__all__ = ["find_words"]

CHARACTER = 0.4
"""The region score above which a pixel belongs to a character."""
LINK = 0.4
"""The affinity above which a pixel lies between two characters of a word."""
LEAST_AREA = 10
"""Smaller pieces, in pixels of the map, are specks."""
GROWTH = 0.2
"""What a rectangle grows by on each side, in lengths of its shorter side: the map is cut above the foot of
its bells, which end where characters do."""


def find_words(region: Floats, affinity: Floats, *, least_score: float) -> tuple[Floats, Floats]:
    """Quads `float32 (n, 4, 2)` in pixels of the maps `float32 (H, W)`, and their scores `float32 (n,)`.

    A score is the greatest region score of the word.
    """
    characters = region > CHARACTER
    either = (characters | (affinity > LINK)).view(np.uint8)
    count, labels, extents, _ = cv2.connectedComponentsWithStats(either, connectivity=4)
    peaks = np.asarray(ndimage.maximum(region, labels, np.arange(1, count)), np.float32)
    words = 1 + np.flatnonzero((peaks >= least_score) & (extents[1:, cv2.CC_STAT_AREA] >= LEAST_AREA))
    found = []
    for word in words:
        left, top, width, height, _ = extents[word]
        part = np.s_[top : top + height, left : left + width]
        rows, columns = np.nonzero(characters[part] & (labels[part] == word))
        found.append(smallest_rectangle(np.stack([columns + left, rows + top], axis=1).astype(np.float32)))
    # The rectangles run through the centres of the outermost pixels; half a pixel more takes in all of them.
    centres = np.array([centre for centre, _, _ in found], np.float32).reshape(-1, 2) + 0.5
    sides = np.array([sides for _, sides, _ in found], np.float32).reshape(-1, 2) + 1
    turns = np.array([turn for _, _, turn in found], np.float32)
    sides = sides + 2 * GROWTH * sides.min(axis=1, keepdims=True)
    quads = start_at_top_left(rectangle_corners(centres, sides, turns))
    return quads, np.minimum(peaks[words - 1], np.float32(1))
