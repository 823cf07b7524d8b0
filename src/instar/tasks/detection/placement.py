"""Where an object can be pasted: which cut-out, how large, where it fits, and in what light."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from instar.core.change import Inapplicable
from instar.core.scene import Image, Observation
from instar.cutouts import CutOut, Pool, Window, anywhere, close_to, free_places, one_of, ring_around
from instar.cutouts.extraction import BODIES, stands
from instar.cutouts.pool import same_shape
from instar.imaging.average_hash import average_hash, majority
from instar.imaging.geometry import Boxes
from instar.imaging.photometric import Light, light_of
from instar.tasks.detection.answers import Detections

__all__ = ["Placement", "Placements", "Scale", "Way", "choose_place", "find_placements", "match_tone"]

Scale = Literal["nearest", "paper"]
Way = Literal["guided", "random", "close"]
MOST_ENLARGED = 1.5
SHRINKING = (1.0, 0.85, 0.7, 0.55, 0.45)
CLOSE = 0.03  # of the picture's diagonal: the gap to an object that counts as close
CLOSE_CUTOUTS = 5  # of a class; the other ways of placing take only the best one
CLOSE_SIZES = (1.25, 1.0, 0.8, 0.6, 0.45)  # times the size of the model
LEAST_SIDE = 8  # pixels; smaller objects are specks
GROUND = 0.08  # of the object's height: how far its feet may be from the ground line
LEAST_BACK = 0.6  # of the distance that eye level asks for; a lower camera sees distant feet rise less
EDGE = 2  # pixels: a box that ends so close to the picture's edge is cut off by it
COLOURFUL = 14.0  # grey levels between the channels: a picture with less on average has little colour

_Box = npt.NDArray[np.float32]
_Ground = Literal["nearest", "between"] | None
_Candidate = tuple[CutOut, Boxes]
"""A cut-out that may go into a picture, and the boxes of its class that give its size, `(m, 4)`."""
GROUNDS: dict[Scale, tuple[_Ground, ...]] = {
    # The ground line of the model, or else between those of its class: nothing hangs in the air.
    "nearest": ("nearest", "between"),
    "paper": (None,),
}


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """A cut-out at a size (height, width), and a window in which it has at least one free place.

    `model` is the box of the found object whose size and light it gets, `float32 (4,)`. `anchor` is the
    index in the answer of the object that it is put beside.
    """

    cutout: CutOut
    size: tuple[int, int]
    window: Window
    model: _Box
    anchor: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Placements:
    """All placements of a picture, the boxes to keep clear of, and how colourful it is, 0 to 1."""

    options: tuple[Placement, ...]
    taken: Boxes
    colour: float


def find_placements(
    source: Observation, pool: Pool, *, hysteresis: float, scale: Scale, way: Way
) -> Placements | Inapplicable:
    """Every way to paste something into a picture without covering what was found.

    - guided: each cut-out on the ring around each found object;
    - random: each cut-out anywhere;
    - close: several cut-outs of each class, in several sizes, right beside each found object.

    All are listed before one is drawn. A crowded picture has few, and only a list tells that it has none.
    """
    answer: Detections = source.answer
    image: Image = source.input
    found = np.flatnonzero(answer.scores >= answer.confidence)
    if not len(found):
        return Inapplicable("nothing found in the source")
    method = METHODS[way]
    candidates = _candidates(source, found, pool, scale, most=method.cutouts)
    if not candidates:
        return Inapplicable("no cut-out of its class")
    candidates = [(cutout, models) for cutout, models in candidates if len(models)]
    if not candidates:
        return Inapplicable("none of its class is seen whole")
    taken = answer.boxes[answer.scores >= answer.confidence - hysteresis]
    target = _Target(answer.boxes, found, taken, (image.shape[0], image.shape[1]), scale)
    by_ground = (tuple(_placements(candidates, target, method, ground)) for ground in GROUNDS[scale])
    options = next(filter(None, by_ground), ())
    colour = min(1.0, light_of(image).chroma / COLOURFUL)
    return Placements(options, taken, colour) if options else Inapplicable("no free place")


def choose_place(placements: Placements, rng: np.random.Generator) -> tuple[Placement, int, int]:
    """A placement and a corner (x, y) in it: every placement is equally likely, and so is every corner."""
    chosen = placements.options[int(rng.integers(len(placements.options)))]
    x, y = one_of(free_places(chosen.window, chosen.size, placements.taken), chosen.window, rng)
    return chosen, x, y


def match_tone(cutout: Light, scene: Image, model: _Box, colour: float) -> tuple[float, float, float]:
    """Gain, offset and saturation that bring a cut-out halfway into the light of its model.

    In a grey scene (`colour` 0) it becomes grey.
    """
    here = light_of(_crop(scene, model))
    gain = float(np.clip(((here.contrast + 1) / (cutout.contrast + 1)) ** 0.5, 0.8, 1.25))
    # The gain leaves the cut-out's own mean where it is; then half of the way to that of the scene.
    halfway = np.clip((here.mean - cutout.mean) / 2, -30, 30)
    offset = float(cutout.mean * (1 - gain) + halfway)
    return round(gain, 3), round(offset, 1), round(colour, 2)


def _candidates(
    source: Observation, found: npt.NDArray[np.intp], pool: Pool, scale: Scale, *, most: int
) -> list[_Candidate]:
    """Of each class found, the cut-outs that look most like the objects here.

    With `nearest`, cut-outs of the shape of an object here come first and have such objects as models.
    """
    image, boxes = source.input, source.answer.boxes[found]
    labels = np.array([source.answer.labels[i] for i in found], object)
    candidates = []
    for label in sorted(set(labels)):
        instances = boxes[labels == label]
        reference = majority([average_hash(_crop(image, box)) for box in instances])
        whole = instances if scale == "paper" else _whole_ones(label, instances, image.shape)
        wanted = _shapes(whole) if scale == "nearest" else None
        here = source.scene.id
        for cutout in pool.nearest_few(label, reference, not_from=here, shapes=wanted, most=most):
            alike = same_shape(_shapes(whole), cutout.height / cutout.width)
            models = whole[alike] if scale == "nearest" and alike.any() else whole
            candidates.append((cutout, models))
    return candidates


def _whole_ones(label: str, instances: Boxes, shape: tuple[int, ...]) -> Boxes:
    """The boxes that show a whole object, so that they tell how large one of this class is.

    Half a figure tells nothing about a whole one, so of bodies there may be none. Of other things all will
    do where none is whole.
    """
    height, width = shape[:2]
    inside = (instances[:, :2] > EDGE) & (instances[:, 2:] < (width - EDGE, height - EDGE))
    whole = inside.all(axis=1) & stands(label, _shapes(instances))
    return instances[whole] if whole.any() or label in BODIES else instances


@dataclass(frozen=True, slots=True, eq=False)
class _Target:
    """A picture to paste into: all boxes, which of them count as found, and which to keep clear of."""

    boxes: Boxes
    found: npt.NDArray[np.intp]
    taken: Boxes
    shape: tuple[int, int]
    scale: Scale


@dataclass(frozen=True, slots=True)
class _Method:
    """A way of placing: the window beside an anchor (None: anywhere), and the sizes to try.

    With `every_size` each size that fits is a placement, else only the largest.
    """

    window: Callable[[tuple[int, int], tuple[int, int], _Box], Window] | None
    sizes: Sequence[float] = SHRINKING
    every_size: bool = False
    cutouts: int = 1  # of a class


def _close_window(shape: tuple[int, int], size: tuple[int, int], anchor: _Box) -> Window:
    return close_to(shape, size, anchor, CLOSE * math.hypot(*shape))


METHODS: dict[Way, _Method] = {
    "guided": _Method(ring_around),
    "random": _Method(None),
    "close": _Method(_close_window, CLOSE_SIZES, every_size=True, cutouts=CLOSE_CUTOUTS),
}


def _placements(
    candidates: Sequence[_Candidate], target: _Target, method: _Method, ground: _Ground
) -> Iterator[Placement]:
    for cutout, models in candidates:
        for anchor, model in _anchors(models, target, method):
            sized_by = models if target.scale == "paper" else model[None]
            lines = (model if ground == "nearest" else models)[..., 3]
            for factor, size in _sizes(cutout, sized_by, target.scale, method.sizes):
                if anchor is None or method.window is None:
                    window = anywhere(target.shape, size)  # the baseline knows no ground
                else:
                    window = method.window(target.shape, size, target.boxes[anchor])
                    if ground:
                        window = _on_ground(window, size[0], min(1.0, factor), lines, target.shape[0])
                if free_places(window, size, target.taken).any():
                    yield Placement(cutout, size, window, model, anchor)
                    if not method.every_size:
                        break


def _anchors(models: Boxes, target: _Target, method: _Method) -> Iterator[tuple[int | None, _Box]]:
    """Every found object with the model nearest to it; without anchors, every model."""
    if method.window is None:
        yield from ((None, model) for model in models)
    else:
        nearest = models[_nearest(target.boxes[target.found], models)]
        yield from zip(target.found.tolist(), nearest)


def _sizes(
    cutout: CutOut, models: Boxes, scale: Scale, factors: Sequence[float]
) -> Iterator[tuple[float, tuple[int, int]]]:
    """The sizes that the object may have, each with its factor to the mean of its models."""
    width, height = (models[:, 2:] - models[:, :2]).mean(axis=0).tolist()
    if scale == "nearest" and cutout.label in BODIES:
        whole = height / cutout.height  # arms and legs make them wider or narrower, not larger
    else:
        whole = math.sqrt(width * height / (cutout.width * cutout.height))
    usual = min(MOST_ENLARGED, whole)
    for enlarged in dict.fromkeys(min(MOST_ENLARGED, usual * factor) for factor in factors):
        size = round(cutout.height * enlarged), round(cutout.width * enlarged)
        if min(size) >= LEAST_SIDE:
            yield enlarged / whole, size


def _on_ground(
    window: Window, height: int, factor: float, lines: npt.NDArray[np.float32], bottom: int
) -> Window:
    """Only the places with feet on a ground line, or between the highest and the lowest of several.

    A shrunk object stands farther back, with its head about level with the model's. That is how a camera at
    eye level sees a distant one; on the same line it would be a doll. What the picture's edge cuts off stays
    cut off by it.
    """
    highest, lowest = float(lines.min()), float(lines.max())
    if highest >= bottom - EDGE:
        return window.rows(bottom - EDGE - height, bottom)
    farther_back = (1 / factor - 1) * height
    return window.rows(
        highest - farther_back - (1 + GROUND) * height,
        lowest - LEAST_BACK * farther_back - (1 - GROUND) * height,
    )


def _crop(image: Image, box: _Box) -> Image:
    height, width = image.shape[:2]
    x1, y1, x2, y2 = box.tolist()
    left, top = min(max(int(x1), 0), width - 1), min(max(int(y1), 0), height - 1)
    return image[top : max(top + 1, int(np.ceil(y2))), left : max(left + 1, int(np.ceil(x2)))]


def _shapes(boxes: Boxes) -> npt.NDArray[np.float32]:
    """Height over width."""
    return (boxes[:, 3] - boxes[:, 1]) / (boxes[:, 2] - boxes[:, 0])


def _nearest(boxes: Boxes, models: Boxes) -> npt.NDArray[np.intp]:
    """`int (len(boxes),)`: the model whose centre is nearest to that of each box."""
    here, there = ((b[:, :2] + b[:, 2:]) / 2 for b in (boxes, models))
    distances = np.hypot(*(here[:, None] - there[None]).transpose(2, 0, 1))
    return np.asarray(np.argmin(distances, axis=1), np.intp)
