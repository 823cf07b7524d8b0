"""Choosing an insertion: which cut-out, how large, where, and in what light."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from instar.cutouts import CutOut, Pool, free_places, ring_around
from instar.cutouts.placement import Places
from instar.detection.answers import Detections
from instar.imaging.hashing import average_hash, majority
from instar.imaging.paste import RGBA
from instar.relation import Inapplicable
from instar.scene import Image, Observation

__all__ = ["Background", "Place", "Scale", "choose_place", "look_at", "tone_like"]

Scale = Literal["nearest", "paper"]
MOST_ENLARGED = 1.5
SHRINKING = (1.0, 0.85, 0.7, 0.55, 0.45)
LEAST_SIDE = 8  # pixels; smaller objects are specks
GROUND = 0.15  # of the object's height: how far its feet may be from the ground line


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """What a source offers: found boxes, boxes to keep clear of, and a fitting cut-out per class."""

    boxes: npt.NDArray[np.float32]
    labels: tuple[str, ...]
    indices: tuple[int, ...]  # of the found objects in the answer
    taken: npt.NDArray[np.float32]
    shape: tuple[int, int]
    cutouts: tuple[CutOut, ...]

    def of_class(self, label: str) -> npt.NDArray[np.float32]:
        return self.boxes[[i for i, other in enumerate(self.labels) if other == label]]


@dataclass(frozen=True, slots=True)
class Place:
    """A top left corner and a size; `like` is the box of the instance that gave the size."""

    x: int
    y: int
    width: int
    height: int
    like: tuple[float, float, float, float]


def look_at(source: Observation, pool: Pool, hysteresis: float) -> Background:
    """Found objects, and of each class the cut-out that looks most like its instances here."""
    answer: Detections = source.answer
    image: Image = source.input
    found = np.flatnonzero(answer.scores >= answer.confidence)
    labels = tuple(answer.labels[i] for i in found)
    cutouts = []
    for label in sorted(set(labels)):
        crops = [_crop(image, answer.boxes[i]) for i in found if answer.labels[i] == label]
        reference = majority([average_hash(crop) for crop in crops])
        nearest = pool.nearest(label, reference, not_from=source.scene.id)
        if nearest is not None:
            cutouts.append(nearest)
    return Background(
        boxes=answer.boxes[found],
        labels=labels,
        indices=tuple(int(i) for i in found),
        taken=answer.boxes[answer.scores >= answer.confidence - hysteresis],
        shape=(image.shape[0], image.shape[1]),
        cutouts=tuple(cutouts),
    )


def choose_place(
    background: Background, cutout: CutOut, anchor: int | None, scale: Scale, rng: np.random.Generator
) -> Place | Inapplicable:
    """A free place, uniformly: on the ring around the anchor, or anywhere without one.

    With `nearest` the object gets the size of the nearest instance of its class and, where the ring
    allows it, stands on that instance's ground line; it shrinks to 0.45 before there is no place.
    """
    same = background.of_class(cutout.label)
    near = same[0] if anchor is None else _nearest(same, background.boxes[anchor])
    if anchor is None and scale == "nearest":
        near = same[int(rng.integers(len(same)))]
    height = float(np.mean(same[:, 3] - same[:, 1])) if scale == "paper" else float(near[3] - near[1])
    height = min(height, MOST_ENLARGED * cutout.height)
    for factor in SHRINKING:
        size = _size(cutout, height * factor)
        if min(size) < LEAST_SIDE:
            break
        places = free_places(background.shape, size, background.taken)
        if anchor is not None:
            places = ring_around(places, size, background.boxes[anchor])
            if scale == "nearest":
                places = _on_the_ground(places, size[0], float(near[3]))
        flat = np.flatnonzero(places)
        if len(flat):
            y, x = np.unravel_index(int(rng.choice(flat)), places.shape)
            like = (float(near[0]), float(near[1]), float(near[2]), float(near[3]))
            return Place(int(x), int(y), size[1], size[0], like)
    return Inapplicable("no free place")


def tone_like(cutout: RGBA, image: Image, like: tuple[float, float, float, float]) -> tuple[float, float]:
    """A gain and an offset that bring the cut-out halfway into the light of an instance of the scene."""
    crop = _crop(image, np.array(like, np.float32)).astype(np.float32)
    opaque = cutout[..., :3][cutout[..., 3] > 127].astype(np.float32)
    if not len(opaque):
        return 1.0, 0.0
    gain = float(np.clip(np.sqrt((crop.std() + 1) / (opaque.std() + 1)), 0.8, 1.25))
    offset = float(np.clip((crop.mean() - gain * opaque.mean()) / 2, -30, 30))
    return round(gain, 3), round(offset, 1)


def _crop(image: Image, box: npt.NDArray[np.float32]) -> Image:
    height, width = image.shape[:2]
    x1, y1 = int(np.clip(box[0], 0, width - 1)), int(np.clip(box[1], 0, height - 1))
    x2, y2 = int(np.clip(np.ceil(box[2]), x1 + 1, width)), int(np.clip(np.ceil(box[3]), y1 + 1, height))
    return image[y1:y2, x1:x2]


def _nearest(boxes: npt.NDArray[np.float32], anchor: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    centres = (boxes[:, :2] + boxes[:, 2:]) / 2
    distance = np.hypot(*(centres - (anchor[:2] + anchor[2:]) / 2).T)
    nearest: npt.NDArray[np.float32] = boxes[int(np.argmin(distance))]
    return nearest


def _size(cutout: CutOut, height: float) -> tuple[int, int]:
    return max(1, round(height)), max(1, round(height * cutout.width / cutout.height))


def _on_the_ground(places: Places, height: int, ground: float) -> Places:
    """Only the places with feet near the ground line, if there are any."""
    feet = np.arange(places.shape[0]) + height
    rows = np.abs(feet - ground) <= max(2.0, GROUND * height)
    standing = places & rows[:, None]
    return standing if standing.any() else places
