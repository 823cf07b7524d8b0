"""How believable an insertion is, 0 to 1: what people see, measure by measure.

HOG tells how much of a picture's structure is left and is blind to what gives a pasted object away (a JPEG
copy scores lower). So five measures look at the object itself: its colours and its contrast against the
picture, its sharpness against the surroundings, its size against the nearest of its class, and where it
stands. Their geometric mean is the naturalness: one bad measure is enough to be disbelieved.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image, Observation
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.changes import Insertion

__all__ = ["Naturalness", "measure_naturalness"]

LEAST = 0.05  # of a measure: no single one makes a picture impossible
AROUND = 0.5  # of the object's sides: the surroundings that its sharpness is compared with
DIFFERENT = 6  # grey levels by which a pixel shows the object
COLOUR_FREE, COLOUR_SCALE = 18.0, 30.0  # Lab units off the picture's mean that are usual, and that are bad
GROUND_FREE = 0.15  # of the object's height that its feet may be off the line


@dataclass(frozen=True, slots=True)
class Naturalness:
    """Five measures, each 1 where nothing gives the object away."""

    colour: float
    contrast: float
    sharpness: float
    scale: float
    ground: float

    @property
    def overall(self) -> float:
        values = astuple(self)
        return math.exp(sum(math.log(max(LEAST, value)) for value in values) / len(values))


def measure_naturalness(source: Observation, follow_up: Image, change: Insertion) -> Naturalness:
    scene: Image = source.input
    object_ = _shown(scene, follow_up, change)
    around = _around(scene, change)
    return Naturalness(
        colour=_colour(scene, follow_up, object_),
        contrast=_alike(_grey(follow_up)[object_].std(), _grey(around).std()) if object_.any() else 1.0,
        sharpness=_sharpness(follow_up, object_, around),
        scale=_scale(source.answer, change),
        ground=_ground(source.answer, change, scene.shape[0]),
    )


def _shown(scene: Image, follow_up: Image, change: Insertion) -> npt.NDArray[np.bool_]:
    """`bool (H, W)`: where the object shows."""
    mask = np.zeros(scene.shape[:2], np.bool_)
    rows, columns = slice(change.y, change.y + change.height), slice(change.x, change.x + change.width)
    mask[rows, columns] = (cv2.absdiff(scene, follow_up)[rows, columns] > DIFFERENT).any(axis=2)
    return mask


def _around(scene: Image, change: Insertion) -> Image:
    dx, dy = round(AROUND * change.width) + 4, round(AROUND * change.height) + 4
    top, left = max(0, change.y - dy), max(0, change.x - dx)
    return scene[top : change.y + change.height + dy, left : change.x + change.width + dx]


def _colour(scene: Image, follow_up: Image, object_: npt.NDArray[np.bool_]) -> float:
    """How far the object's mean colour is off the picture's, beyond what objects usually are."""
    if not object_.any():
        return 1.0
    here = cv2.cvtColor(follow_up, cv2.COLOR_RGB2LAB)[object_].astype(np.float32).mean(axis=0)
    there = cv2.cvtColor(scene, cv2.COLOR_RGB2LAB).reshape(-1, 3).astype(np.float32)
    off = np.abs(here - there.mean(axis=0)) / (1 + there.std(axis=0) / COLOUR_FREE)
    return math.exp(-max(0.0, float(np.linalg.norm(off)) - COLOUR_FREE) / COLOUR_SCALE)


def _sharpness(follow_up: Image, object_: npt.NDArray[np.bool_], around: Image) -> float:
    """Fine detail of the object against that of its surroundings: blurred or crisp, it gives itself away."""
    inside = cv2.erode(object_.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    if np.count_nonzero(inside) < 30:
        return 1.0
    own = np.abs(cv2.Laplacian(_grey(follow_up), cv2.CV_32F))[inside]
    theirs = np.abs(cv2.Laplacian(_grey(around), cv2.CV_32F))
    return _alike(float(np.percentile(own, 80)), float(np.percentile(theirs, 80)))


def _scale(answer: Detections, change: Insertion) -> float:
    """Its height against that of the nearest found object of its class, farther ones being smaller."""
    like = _nearest(answer, change)
    if like is None:
        return 1.0
    return _alike(change.height, float(like[3] - like[1]), free=1.4)


def _ground(answer: Detections, change: Insertion, bottom: int) -> float:
    """Its feet against those of the nearest of its class; a smaller one may stand farther back."""
    like = _nearest(answer, change)
    if like is None or like[3] >= bottom - 2:
        return 1.0
    farther = max(0.0, float(like[3] - like[1]) - change.height)
    below = change.y + change.height - float(like[3])
    off = below if below > 0 else max(0.0, -below - farther)
    return math.exp(-max(0.0, off / change.height - GROUND_FREE) / 0.5)


def _nearest(answer: Detections, change: Insertion) -> npt.NDArray[np.float32] | None:
    found = answer.confident()
    same = found.boxes[np.array([label == change.label for label in found.labels], np.bool_)]
    if not len(same):
        return None
    x, y = change.x + change.width / 2, change.y + change.height / 2
    centres = (same[:, :2] + same[:, 2:]) / 2
    return np.asarray(same[int(np.hypot(centres[:, 0] - x, centres[:, 1] - y).argmin())])


def _alike(a: float, b: float, *, free: float = 1.6) -> float:
    """1 while two sizes differ by no more than the factor `free`; then falling with their ratio."""
    ratio = (max(a, b) + 1e-3) / (min(a, b) + 1e-3)
    return min(1.0, math.sqrt(free / ratio))


def _grey(image: Image) -> npt.NDArray[np.uint8]:
    return np.asarray(cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2GRAY), np.uint8)
