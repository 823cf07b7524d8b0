"""Choosing an insertion: which cut-out, how large, where, and in what light."""

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
from instar.cutouts.body import BODIES, stands
from instar.cutouts.pool import same_shape
from instar.imaging.average_hash import average_hash, majority
from instar.imaging.geometry import Boxes
from instar.imaging.photometric import Light, light_of
from instar.tasks.detection.answers import Detections

__all__ = ["Offer", "Room", "Scale", "Tone", "Way", "choose", "look_at", "tone_like"]

Scale = Literal["nearest", "paper"]
Way = Literal["guided", "random", "close"]
Ground = Literal["nearest", "between"] | None
GROUNDS: dict[Scale, tuple[Ground, ...]] = {
    # The ground line of the nearest instance, or else between those of its class: nothing hangs in the air.
    "nearest": ("nearest", "between"),
    "paper": (None,),
}
MOST_ENLARGED = 1.5
SHRINKING = (1.0, 0.85, 0.7, 0.55, 0.45)
CLOSE = 0.03  # of the picture's diagonal: the gap to an object that counts as close
CLOSE_CUTOUTS = 5  # of a class; other ways of placing take the best one only
CLOSE_SIZES = (1.25, 1.0, 0.8, 0.6, 0.45)  # times the size of the instance that it takes after
LEAST_SIDE = 8  # pixels; smaller objects are specks
GROUND = 0.08  # of the object's height: how far its feet may be from the ground line
LEAST_BACK = 0.6  # of the way that eye level asks for; a lower camera sees distant feet rise less
EDGE = 2  # pixels: a box that ends so close to the picture's lower edge is cut off by it
COLOURFUL = 14.0  # grey levels between the channels: with less on average a picture has little colour


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """A cut-out at a size (height, width) that has a free place in a window of places.

    `like` is the box of the instance that it takes after, `float32 (4,)`; `anchor` the index in the
    answer of the object whose ring the window is.
    """

    cutout: CutOut
    size: tuple[int, int]
    window: Window
    like: npt.NDArray[np.float32]
    anchor: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """All that a picture has room for, the boxes to keep clear of, and how colourful it is, 0 to 1."""

    rooms: tuple[Room, ...]
    taken: Boxes
    colour: float


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A cut-out that may go into a picture, and the instances of its class that it takes after, `(m, 4)`."""

    cutout: CutOut
    instances: Boxes


@dataclass(frozen=True, slots=True)
class Tone:
    """How to bring a cut-out into the light of a scene: colours times `gain` plus `offset`."""

    gain: float
    offset: float
    saturation: float


def look_at(
    source: Observation, pool: Pool, *, hysteresis: float, scale: Scale, way: Way
) -> Offer | Inapplicable:
    """Every insertion that a picture has room for.

    Guided, that is every pair of a cut-out and a found object that has a free place on the object's ring;
    at random, every cut-out that has a free place anywhere; close, every cut-out of several, in several
    sizes, with a found object that it can stand beside. Found out once, because a crowded picture has few of
    them and nothing else tells that it has none.
    """
    answer: Detections = source.answer
    image: Image = source.input
    found = np.flatnonzero(answer.scores >= answer.confidence)
    if not len(found):
        return Inapplicable("nothing found in the source")
    manner = MANNERS[way]
    candidates = _candidates(source, found, pool, scale, most=manner.cutouts)
    if not candidates:
        return Inapplicable("no cut-out of its class")
    candidates = [candidate for candidate in candidates if len(candidate.instances)]
    if not candidates:
        return Inapplicable("none of its class is seen whole")
    taken = answer.boxes[answer.scores >= answer.confidence - hysteresis]
    view = _View(answer.boxes, found, taken, (image.shape[0], image.shape[1]), scale)
    by_ground = (tuple(_rooms(candidates, view, manner, ground)) for ground in GROUNDS[scale])
    rooms = next(filter(None, by_ground), ())
    colour = min(1.0, light_of(image).chroma / COLOURFUL)
    return Offer(rooms, taken, colour) if rooms else Inapplicable("no free place")


def choose(offer: Offer, rng: np.random.Generator) -> tuple[Room, int, int]:
    """One of the rooms and a corner (x, y) in it, each room and each of its places equally likely."""
    room = offer.rooms[int(rng.integers(len(offer.rooms)))]
    x, y = one_of(free_places(room.window, room.size, offer.taken), room.window, rng)
    return room, x, y


def _candidates(
    source: Observation, found: npt.NDArray[np.intp], pool: Pool, scale: Scale, *, most: int
) -> list[Candidate]:
    """Of each class the cut-outs that look most like its instances here.

    With `nearest` it has the shape of an instance if any has, and takes after such instances.
    """
    image, boxes = source.input, source.answer.boxes[found]
    labels = np.array([source.answer.labels[i] for i in found], object)
    candidates = []
    for label in sorted(set(labels)):
        instances = boxes[labels == label]
        reference = majority([average_hash(_crop(image, box)) for box in instances])
        telling = instances if scale == "paper" else _telling(label, instances, image.shape)
        wanted = _shapes(telling) if scale == "nearest" else None
        here = source.scene.id
        for cutout in pool.nearest_few(label, reference, not_from=here, shapes=wanted, most=most):
            alike = same_shape(_shapes(telling), cutout.height / cutout.width)
            like = telling[alike] if scale == "nearest" and alike.any() else telling
            candidates.append(Candidate(cutout, like))
    return candidates


def _telling(label: str, instances: Boxes, shape: tuple[int, ...]) -> Boxes:
    """Those instances that tell how large one of their class is: whole ones.

    Of bodies there may be none: what half a figure measures says nothing of a whole one. Of other things
    any will do where no better one is there.
    """
    height, width = shape[:2]
    inside = (instances[:, :2] > EDGE) & (instances[:, 2:] < (width - EDGE, height - EDGE))
    whole = inside.all(axis=1) & stands(label, _shapes(instances))
    return instances[whole] if whole.any() or label in BODIES else instances


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """A picture to be pasted into: all boxes, which of them are found, and which to keep clear of."""

    boxes: Boxes
    found: npt.NDArray[np.intp]
    taken: Boxes
    shape: tuple[int, int]
    scale: Scale


@dataclass(frozen=True, slots=True)
class _Manner:
    """A way of placing: the places beside an anchor, or anywhere without one, and the sizes to try.

    With `every_size` each size that has room counts, else the largest.
    """

    window: Callable[[tuple[int, int], tuple[int, int], npt.NDArray[np.float32]], Window] | None
    sizes: Sequence[float] = SHRINKING
    every_size: bool = False
    cutouts: int = 1  # of a class


def _close(shape: tuple[int, int], size: tuple[int, int], anchor: npt.NDArray[np.float32]) -> Window:
    return close_to(shape, size, anchor, CLOSE * math.hypot(*shape))


MANNERS: dict[Way, _Manner] = {
    "guided": _Manner(ring_around),
    "random": _Manner(None),
    "close": _Manner(_close, CLOSE_SIZES, every_size=True, cutouts=CLOSE_CUTOUTS),
}


def _rooms(candidates: Sequence[Candidate], view: _View, manner: _Manner, ground: Ground) -> Iterator[Room]:
    """What has room: a cut-out with every found object, or without one after every instance of its class."""
    for candidate in candidates:
        for anchor, like in _pairs(candidate, view, manner):
            instances = candidate.instances if view.scale == "paper" else like[None]
            lines = (like if ground == "nearest" else candidate.instances)[..., 3]
            for factor, size in _sizes(candidate, instances, view.scale, manner.sizes):
                if anchor is None or manner.window is None:
                    window = anywhere(view.shape, size)  # the baseline knows no ground
                else:
                    window = manner.window(view.shape, size, view.boxes[anchor])
                    if ground:
                        window = _standing(window, size[0], min(1.0, factor), lines, view.shape[0])
                if free_places(window, size, view.taken).any():
                    yield Room(candidate.cutout, size, window, like, anchor)
                    if not manner.every_size:
                        break


def _pairs(
    candidate: Candidate, view: _View, manner: _Manner
) -> Iterator[tuple[int | None, npt.NDArray[np.float32]]]:
    """Anchors, each with the instance nearest to it; where none is wanted, every instance."""
    if manner.window is None:
        yield from ((None, like) for like in candidate.instances)
    else:
        nearest = candidate.instances[_nearest(view.boxes[view.found], candidate.instances)]
        yield from zip(view.found.tolist(), nearest)


def _sizes(
    candidate: Candidate, like: Boxes, scale: Scale, factors: Sequence[float]
) -> Iterator[tuple[float, tuple[int, int]]]:
    """The sizes that the object may have, each with its factor to the mean of what it takes after."""
    cutout = candidate.cutout
    width, height = (like[:, 2:] - like[:, :2]).mean(axis=0).tolist()
    if scale == "nearest" and cutout.label in BODIES:
        whole = height / cutout.height  # arms and legs make them wider or narrower, not larger
    else:
        whole = math.sqrt(width * height / (cutout.width * cutout.height))
    usual = min(MOST_ENLARGED, whole)
    for enlarged in dict.fromkeys(min(MOST_ENLARGED, usual * factor) for factor in factors):
        size = round(cutout.height * enlarged), round(cutout.width * enlarged)
        if min(size) >= LEAST_SIDE:
            yield enlarged / whole, size


def _standing(
    window: Window, height: int, factor: float, lines: npt.NDArray[np.float32], bottom: int
) -> Window:
    """Only the places with feet on a ground line, or between the highest and the lowest of several.

    A shrunk object stands farther back, its head about level with the instance's: so a camera at eye level
    sees a distant one, and on the same line it would be a doll. What the picture's edge cuts off stays cut
    off by it.
    """
    highest, lowest = float(lines.min()), float(lines.max())
    if highest >= bottom - EDGE:
        return window.rows(bottom - EDGE - height, bottom)
    farther_back = (1 / factor - 1) * height
    return window.rows(
        highest - farther_back - (1 + GROUND) * height,
        lowest - LEAST_BACK * farther_back - (1 - GROUND) * height,
    )


def tone_like(cutout: Light, offer: Offer, image: Image, like: npt.NDArray[np.float32]) -> Tone:
    """Halfway into the light of an instance of the scene, and into the grey of a grey scene."""
    here = light_of(_crop(image, like))
    gain = float(np.clip(((here.contrast + 1) / (cutout.contrast + 1)) ** 0.5, 0.8, 1.25))
    # The gain leaves the cut-out's own mean where it is; then half of the way to that of the scene.
    halfway = np.clip((here.mean - cutout.mean) / 2, -30, 30)
    offset = float(cutout.mean * (1 - gain) + halfway)
    return Tone(round(gain, 3), round(offset, 1), round(offer.colour, 2))


def _crop(image: Image, box: npt.NDArray[np.float32]) -> Image:
    height, width = image.shape[:2]
    x1, y1, x2, y2 = box.tolist()
    left, top = min(max(int(x1), 0), width - 1), min(max(int(y1), 0), height - 1)
    return image[top : max(top + 1, int(np.ceil(y2))), left : max(left + 1, int(np.ceil(x2)))]


def _shapes(boxes: Boxes) -> npt.NDArray[np.float32]:
    return (boxes[:, 3] - boxes[:, 1]) / (boxes[:, 2] - boxes[:, 0])


def _nearest(boxes: Boxes, instances: Boxes) -> npt.NDArray[np.intp]:
    """`int (len(boxes),)`: the instance whose centre is nearest to that of each box."""
    here, there = ((b[:, :2] + b[:, 2:]) / 2 for b in (boxes, instances))
    distances = np.hypot(*(here[:, None] - there[None]).transpose(2, 0, 1))
    return np.asarray(np.argmin(distances, axis=1), np.intp)
