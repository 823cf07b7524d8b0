"""Whether a detector takes a cut-out for what it is, standing on a drawn street or in a drawn room."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np

from instar.core.scene import Image
from instar.core.system import System
from instar.imaging.geometry import iou
from instar.imaging.paste import RGBA, pasted, resized
from instar.tasks.detection.answers import read
from instar.tasks.detection.class_names import canonical_class

HEIGHTS = (0.35, 0.6)  # of the picture
LEAST_IOU = 0.6
ROWS, COLUMNS, LINE, FOOT = 480, 640, 240, 432
GRAIN = 4.0  # grey levels


def recognition(detector: System, cutout: RGBA, label: str) -> float:
    """The score with which the detector finds it as one of its class, where it does so best; 0 for never."""
    best = 0.0
    for ground, share in product((_street(), _room()), HEIGHTS):
        scale = min(share * ROWS / cutout.shape[0], 0.6 * COLUMNS / cutout.shape[1])
        height, width = (max(1, round(side * scale)) for side in cutout.shape[:2])
        x, y = (COLUMNS - width) // 2, FOOT - height
        picture = pasted(ground, resized(cutout, width, height), x, y, "hard")
        (answer,) = detector.predict([picture])
        found = read(picture, answer)
        same = np.array([canonical_class(one) == canonical_class(label) for one in found.labels], np.bool_)
        box = np.array([[x, y, x + width, y + height]], np.float32)
        there = same & (iou(found.boxes, box)[:, 0] >= LEAST_IOU)
        best = max(best, float(found.scores[there].max(initial=0.0)))
    return best


@lru_cache(maxsize=1)
def _street() -> Image:
    """A pale sky over grey asphalt."""
    return _drawn((200, 212, 226), (225, 228, 230), (128, 128, 126), (104, 103, 101))


@lru_cache(maxsize=1)
def _room() -> Image:
    """A light wall over a wooden floor."""
    return _drawn((205, 200, 190), (188, 183, 172), (150, 118, 88), (124, 94, 66))


def _drawn(*colours: tuple[int, int, int]) -> Image:
    shades = np.linspace(0, 1, LINE)[:, None, None]
    top, above, below, bottom = (np.array(colour, np.float64) for colour in colours)
    picture = np.vstack([top + (above - top) * shades, below + (bottom - below) * shades])
    grain = np.random.default_rng(0).normal(0, GRAIN, (ROWS, COLUMNS, 1))
    return np.clip(picture + grain, 0, 255).astype(np.uint8)
