"""What a locator by differentiable binarisation (DB) learns from: where text is, a little shrunk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.frame import transform
from instar.core.scene import Image
from instar.imaging.words import Word
from instar.tasks.text.accuracy import move_words

SHRINKING = 0.4
"""Words are drawn smaller by it, so that neighbours stay apart (DB, Eq. 10); the reader grows them again."""
LEAST_SIDE = 3.0  # pixels; thinner words are not learned, nor is it held against the network to find them
ZOOM = (0.7, 1.6)
TURN = 8.0  # degrees, at most


@dataclass(frozen=True, slots=True, eq=False)
class TextExample:
    """A picture and its words."""

    image: Image
    words: Sequence[Word]


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """`float32 (H, W)` each: 1 where text is, and 1 where it counts what the network says."""

    text: npt.NDArray[np.float32]
    counts: npt.NDArray[np.float32]


def target_of(words: Iterable[Word], size: tuple[int, int]) -> Target:
    """The words of a picture of (height, width); where nobody can read one, nothing counts."""
    text, counts = np.zeros(size, np.float32), np.ones(size, np.float32)
    for word in words:
        low = np.floor(word.outline.min(axis=0)).astype(int) - 1
        width, height = np.ceil(word.outline.max(axis=0)).astype(int) + 2 - low
        filled = np.zeros((max(height, 1), max(width, 1)), np.uint8)
        cv2.fillPoly(filled, [np.rint(word.outline - low).astype(np.int32)], 1)
        area = cv2.contourArea(word.outline.astype(np.float32))
        around = cv2.arcLength(word.outline.astype(np.float32), True)
        thin = min(cv2.minAreaRect(word.outline.astype(np.float32))[1]) < LEAST_SIDE
        shrunk = filled.view(np.bool_)
        if not (word.ignored or thin):
            by = area * (1 - SHRINKING**2) / max(around, 1e-6)
            shrunk = cv2.distanceTransform(filled, cv2.DIST_L2, 5) > by
        top, left = max(low[1], 0), max(low[0], 0)
        bottom, right = min(low[1] + filled.shape[0], size[0]), min(low[0] + filled.shape[1], size[1])
        if top >= bottom or left >= right:
            continue
        part = shrunk[top - low[1] : bottom - low[1], left - low[0] : right - low[0]]
        if word.ignored or thin:
            counts[top:bottom, left:right][part] = 0
        else:
            text[top:bottom, left:right][part] = 1
    return Target(text, counts)


def cut_square(example: TextExample, side: int, rng: np.random.Generator) -> tuple[Image, Target]:
    """A square out of the picture, around one of its words where it has any, nearer or farther and turned."""
    height, width = example.image.shape[:2]
    legible = [word for word in example.words if not word.ignored]
    middle = np.array([rng.uniform(0, width), rng.uniform(0, height)])
    if legible:
        middle = (
            legible[int(rng.integers(len(legible)))].outline.mean(axis=0) + rng.uniform(-0.3, 0.3, 2) * side
        )
    zoom, turn = np.exp(rng.uniform(*np.log(ZOOM))), rng.uniform(-TURN, TURN)
    matrix = np.eye(3)
    matrix[:2] = cv2.getRotationMatrix2D(tuple(map(float, middle)), turn, zoom)
    matrix[:2, 2] += side / 2 - middle
    image = cv2.warpAffine(example.image, matrix[:2], (side, side), flags=cv2.INTER_LINEAR)
    words = move_words(example.words, matrix)
    target = target_of(words, (side, side))
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    inside = np.zeros((side, side), np.uint8)
    cv2.fillPoly(inside, [np.rint(transform(matrix, corners)).astype(np.int32)], 1)
    return np.asarray(image, np.uint8), Target(target.text, target.counts * inside)
