"""From a map of text probabilities to boxes, as differentiable binarisation (DB) is read.

The network is trained on shrunken text, so that neighbours stay apart: each piece of the map above the
threshold is surrounded by its smallest rectangle, and the rectangle grown again.
"""

from __future__ import annotations

import cv2
import numpy as np

from instar.tasks.text.systems.rectangles import (
    Floats,
    rectangle_corners,
    smallest_rectangle,
    start_at_top_left,
)

__all__ = ["rectangles_of"]

THRESHOLD = 0.3
"""The probability above which a pixel is text."""
GROWTH = 1.6
"""A rectangle grows on each side by this times area over perimeter: what shrinking took away (DB, Eq. 10)."""
LEAST_SIDE = 3
"""Pieces whose rectangle is thinner, in pixels of the map, are specks."""


def rectangles_of(probabilities: Floats, *, least_score: float) -> tuple[Floats, Floats]:
    """Quads `float32 (n, 4, 2)` in pixels of the map `float32 (H, W)`, and their scores `float32 (n,)`.

    A score is the mean probability inside the rectangle before it grows.
    """
    # Grown by one pixel to the right and down: the outline of a piece, which runs through the centres of its
    # outermost pixels, then has the coordinates of the piece's edges.
    text = cv2.dilate((probabilities > THRESHOLD).view(np.uint8), np.ones((2, 2), np.uint8))
    outlines, _ = cv2.findContours(text, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    found = [smallest_rectangle(outline) for outline in outlines]
    centres = np.array([centre for centre, _, _ in found], np.float32).reshape(-1, 2)
    sides = np.array([sides for _, sides, _ in found], np.float32).reshape(-1, 2)
    turns = np.array([turn for _, _, turn in found], np.float32)

    wide = sides.min(axis=1) >= LEAST_SIDE if len(sides) else np.zeros(0, np.bool_)
    centres, sides, turns = centres[wide], sides[wide], turns[wide]
    inner = rectangle_corners(centres, sides, turns)
    scores = np.array([_mean_inside(probabilities, quad) for quad in inner], np.float32)
    sure = scores >= least_score
    centres, sides, turns, scores = centres[sure], sides[sure], turns[sure], scores[sure]
    growth = GROWTH * sides.prod(axis=1) / (2 * sides.sum(axis=1))
    return start_at_top_left(rectangle_corners(centres, sides + 2 * growth[:, None], turns)), scores


def _mean_inside(probabilities: Floats, quad: Floats) -> float:
    """The mean of the map over a quad."""
    height, width = probabilities.shape
    low = np.clip(np.floor(quad.min(axis=0)).astype(int), 0, (width - 1, height - 1))
    high = np.clip(np.ceil(quad.max(axis=0)).astype(int), 0, (width - 1, height - 1))
    mask = np.zeros((high[1] - low[1] + 1, high[0] - low[0] + 1), np.uint8)
    cv2.fillConvexPoly(mask, np.rint(quad - low).astype(np.int32), 1)
    patch = probabilities[low[1] : high[1] + 1, low[0] : high[0] + 1]
    return float(cv2.mean(patch, mask)[0])
