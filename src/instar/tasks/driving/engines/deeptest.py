"""Rain as DeepTest made it: slanted grey streaks drawn over a blurred picture, the same everywhere.

It knows neither depth nor light; it is here to be compared with (Tables 10 and 11 of the paper).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import cv2
import numpy as np

from instar.core.change import Inapplicable
from instar.core.scene import Image
from instar.cutouts import CutOuts
from instar.tasks.driving.engines import Edit, SceneView
from instar.tasks.driving.engines.atmosphere import LEVELS, STRONGER
from instar.tasks.driving.rules.model import Condition

STREAKS = {"light": 0.004, "normal": 0.008, "heavy": 0.014}  # per pixel of the picture
LENGTH, SLANT = 0.06, 0.35  # of the picture's height; of a streak's length
COLOUR = (200, 200, 200)
DIMMED = 0.85


def plan(condition: Condition, view: SceneView, rng: np.random.Generator) -> tuple[Edit, ...] | Inapplicable:
    assert condition.new is not None, "weather and time are always replaced"
    if condition.new.properties.get("type") != "rain":
        return Inapplicable("DeepTest's engine makes rain only")
    level = condition.new.properties.get("level", "normal")
    told = {"of": "weather", "kind": "rain", "strength": LEVELS[level]}
    return ({"engine": "deeptest", **told, "density": STREAKS[level], "seed": int(rng.integers(2**31))},)


def alter(edit: Edit, comparative: str, view: SceneView) -> Edit | Inapplicable:
    if comparative not in ("more", "less"):
        return Inapplicable("weather is only more or less")
    return _times(edit, STRONGER if comparative == "more" else 1 / STRONGER)


def less(edit: Edit, view: SceneView) -> Iterator[Sequence[Edit]]:
    """Fewer streaks, by hundredths of the strength."""
    strength = float(edit["strength"])
    yield [_times(edit, n / 100 / strength) for n in range(1, math.ceil(100 * strength))]


def _times(edit: Edit, factor: float) -> Edit:
    return {**edit, "strength": round(edit["strength"] * factor, 4), "density": edit["density"] * factor}


def make(image: Image, edit: Edit, cutouts: CutOuts) -> Image:
    """The picture with streaks."""
    height, width = image.shape[:2]
    rng = np.random.default_rng(edit["seed"])
    length = max(3.0, LENGTH * height)
    slant = float(rng.uniform(-SLANT, SLANT)) * length
    count = round(edit["density"] * height * width)
    starts = np.column_stack([rng.integers(0, width, count), rng.integers(0, height, count)])
    ends = np.rint(starts + np.array([slant, length])).astype(np.int64)
    wet = np.array(image)
    thickness = max(1, round(height / 400))
    cv2.polylines(wet, list(np.stack([starts, ends], axis=1).astype(np.int32)), False, COLOUR, thickness)
    blurred = cv2.blur(wet, (3, 3))
    return np.asarray(cv2.convertScaleAbs(blurred, alpha=DIMMED), np.uint8)
