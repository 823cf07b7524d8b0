"""Places as the MetaOD paper has them: the mean size of the class, on the ring around what was found or
anywhere, without a look at the ground.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from instar.core.scene import Observation
from instar.cutouts import CutOut, Pool, anywhere, free_places
from instar.imaging.average_hash import average_hash, majority
from instar.imaging.geometry import Boxes
from instar.tasks.detection.class_names import canonical_class
from instar.tasks.detection.places import BoxArray, Method, Placement, crop_box

MOST_ENLARGED = 1.5
LEAST_SIDE = 8  # pixels; smaller objects are specks

_Candidate: TypeAlias = tuple[CutOut, Boxes]
"""A cut-out that may go into a picture, and the boxes of its class that give its size, `(m, 4)`."""


def paper_places(
    source: Observation, found: npt.NDArray[np.intp], taken: Boxes, pool: Pool, method: Method
) -> Iterator[Placement]:
    """Every cut-out of a class found, beside every found object, or anywhere."""
    boxes = source.answer.boxes
    shape = (source.input.shape[0], source.input.shape[1])
    for cutout, models in _candidates(source, found, pool, most=method.cutouts):
        for anchor, model in _anchors(models, boxes, found, method):
            for size in _sizes(cutout, models, method.sizes):
                if anchor is None or method.window is None:
                    window = anywhere(shape, size)
                else:
                    window = method.window(shape, size, boxes[anchor])
                if free_places(window, size, taken).any():
                    yield Placement(cutout, size, window, model, anchor)
                    if not method.every_size:
                        break


def _candidates(
    source: Observation, found: npt.NDArray[np.intp], pool: Pool, *, most: int
) -> Iterator[_Candidate]:
    """Of each class found, the cut-outs that look most like the objects here."""
    image, boxes = source.input, source.answer.boxes[found]
    labels = np.array([canonical_class(source.answer.labels[i]) for i in found], object)
    for label in sorted(set(labels)):
        models = boxes[labels == label]
        reference = majority([average_hash(crop_box(image, box)) for box in models])
        for cutout in pool.nearest_few(label, reference, not_from=source.scene.id, most=most):
            yield cutout, models


def _anchors(
    models: Boxes, boxes: Boxes, found: npt.NDArray[np.intp], method: Method
) -> Iterator[tuple[int | None, BoxArray]]:
    """Every found object with the model nearest to it; without anchors, every model."""
    if method.window is None:
        yield from ((None, model) for model in models)
    else:
        nearest = models[_nearest(boxes[found], models)]
        yield from zip(found.tolist(), nearest)


def _sizes(cutout: CutOut, models: Boxes, factors: Sequence[float]) -> Iterator[tuple[int, int]]:
    """The sizes that the object may have: the mean area of its models, and smaller."""
    width, height = (models[:, 2:] - models[:, :2]).mean(axis=0).tolist()
    usual = min(MOST_ENLARGED, math.sqrt(width * height / (cutout.width * cutout.height)))
    for enlarged in dict.fromkeys(min(MOST_ENLARGED, usual * factor) for factor in factors):
        size = round(cutout.height * enlarged), round(cutout.width * enlarged)
        if min(size) >= LEAST_SIDE:
            yield size


def _nearest(boxes: Boxes, models: Boxes) -> npt.NDArray[np.intp]:
    """`int (len(boxes),)`: the model whose centre is nearest to that of each box."""
    here, there = ((b[:, :2] + b[:, 2:]) / 2 for b in (boxes, models))
    distances = np.hypot(*(here[:, None] - there[None]).transpose(2, 0, 1))
    return np.asarray(np.argmin(distances, axis=1), np.intp)
