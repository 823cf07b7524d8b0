"""Detectors with planted faults, for tests: each takes a good detector and spoils it in one way.

All are plain functions behind a name and can be pickled, so a worker process can run them too. The street
keeps fourteen pixels between objects: a fault that needs a neighbour within ten does not show on a scene as
it is drawn, only when something is put there.
"""

from __future__ import annotations

import itertools
import threading
import time
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.scene import Image
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.systems.street import street_exact

Detect = Callable[[Image], Detections]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A system made of one function from a picture to an answer."""

    name: str
    detect: Callable[[Image], Any]

    batch = 8
    concurrent = True

    def predict(self, images: Sequence[Image]) -> list[Any]:
        return [self.detect(image) for image in images]


def exact(image: Image) -> Detections:
    """What is there, no more and no less."""
    return street_exact().predict([image])[0]


# Objects that are lost, renamed, drifted or invented.


def loses_neighbours(detect: Detect = exact, *, within: float = 10) -> Drawn:
    """Objects that have another within so many pixels are lost."""
    return Drawn("loses-neighbours", partial(_lose, detect, within))


def swaps_labels(detect: Detect = exact, *, first: str = "car", second: str = "person") -> Drawn:
    """From the third object of two classes on, each is called by the other's name."""
    return Drawn("swaps-labels", partial(_swap, detect, first, second))


def drifts(detect: Detect = exact, *, within: float = 10) -> Drawn:
    """The box of an object that has another within so many pixels shrinks back from it to under half."""
    return Drawn("drifts", partial(_drift, detect, within))


def invents(detect: Detect = exact, *, within: float = 10) -> Drawn:
    """Sees a bird in the corner of the sky when two objects stand within so many pixels."""
    return Drawn("invents", partial(_invent, detect, within))


def jitters(detect: Detect = exact, *, borderline: Collection[str] = ("person", "dog")) -> Drawn:
    """Right, but half of all pictures, by a hash of their pixels, leave it unsure of some classes."""
    return Drawn("jitters", partial(_jitter, detect, frozenset(borderline)))


def _lose(detect: Detect, within: float, image: Image) -> Detections:
    found = detect(image)
    return found.select(_gaps(found.boxes).min(axis=1, initial=np.inf) > within)


def _swap(detect: Detect, first: str, second: str, image: Image) -> Detections:
    found = detect(image)
    if sum(label in (first, second) for label in found.labels) < 3:
        return found
    names = {first: second, second: first}
    return _with(found, labels=tuple(names.get(label, label) for label in found.labels))


def _drift(detect: Detect, within: float, image: Image) -> Detections:
    found = detect(image)
    gaps, boxes = _gaps(found.boxes), found.boxes.copy()
    for i in np.flatnonzero(gaps.min(axis=1, initial=np.inf) <= within):
        neighbour, (x1, y1, x2, y2) = found.boxes[gaps[i].argmin()], found.boxes[i]
        if neighbour[0] >= x2 or neighbour[2] <= x1:
            shift = -0.45 if neighbour[0] >= x2 else 0.45
            boxes[i, [0, 2]] += np.float32(shift * (x2 - x1))
        else:
            shift = -0.45 if neighbour[1] >= y2 else 0.45
            boxes[i, [1, 3]] += np.float32(shift * (y2 - y1))
    # An object that would drift out of the picture is pressed against its border.
    height, width = image.shape[:2]
    return _with(found, boxes=np.clip(boxes, 0, np.array([width, height] * 2, np.float32)))


def _invent(detect: Detect, within: float, image: Image) -> Detections:
    found = detect(image)
    if _gaps(found.boxes).min(initial=np.inf) > within:
        return found
    corner = np.array([[4, 4, 40, 30]], np.float32)
    return Detections(
        np.concatenate([found.boxes, corner]),
        (*found.labels, "bird"),
        np.append(found.scores, np.float32(0.9)),
        found.confidence,
    )


def _jitter(detect: Detect, borderline: Collection[str], image: Image) -> Detections:
    found = detect(image)
    weak = np.array([label in borderline for label in found.labels], np.bool_)
    unsure = zlib.crc32(image.tobytes()) % 2 == 1
    return _with(found, scores=np.where(weak & unsure, np.float32(0.2), found.scores).astype(np.float32))


# Failures: no answer, or none that can be used.


def raises(detect: Detect = exact, *, one_in: int = 1) -> Drawn:
    """Raises on one picture in so many."""
    return Drawn("raises", partial(_raise, detect, one_in))


def hangs(detect: Detect = exact, *, one_in: int = 1, seconds: float = 3600) -> Drawn:
    """Does not come back on one picture in so many."""
    return Drawn("hangs", partial(_hang, detect, one_in, seconds))


def answers_nan(detect: Detect = exact, *, one_in: int = 1) -> Drawn:
    """Scores are not numbers on one picture in so many."""
    return Drawn("answers-nan", partial(_nan, detect, one_in))


@dataclass(frozen=True, slots=True)
class Forgets:
    """Answers all pictures of a batch but the last."""

    detect: Detect = exact

    name = "forgets"
    batch = 8

    def predict(self, images: Sequence[Image]) -> list[Any]:
        return [self.detect(image) for image in images[:-1]]


@dataclass(frozen=True)
class Wavers:
    """Answers every second question without its first object, whatever the picture."""

    detect: Detect = exact
    turn: Iterator[int] = field(default_factory=itertools.count)
    lock: Any = field(default_factory=threading.Lock)

    name = "wavers"

    def predict(self, images: Sequence[Image]) -> list[Any]:
        return [self._answer(image) for image in images]

    def _answer(self, image: Image) -> Detections:
        with self.lock:
            turn = next(self.turn)
        found = self.detect(image)
        return found.select(np.arange(len(found)) >= turn % 2)


def _raise(detect: Detect, one_in: int, image: Image) -> Detections:
    if _chosen(image, one_in):
        raise RuntimeError("the lens cap is on")
    return detect(image)


def _hang(detect: Detect, one_in: int, seconds: float, image: Image) -> Detections:
    if _chosen(image, one_in):
        time.sleep(seconds)
    return detect(image)


def _nan(detect: Detect, one_in: int, image: Image) -> Any:
    found = detect(image)
    if not _chosen(image, one_in):
        return found
    return {"boxes": found.boxes, "labels": found.labels, "scores": found.scores * np.float32(np.nan)}


def _chosen(image: Image, one_in: int) -> bool:
    """One picture in so many, decided by its pixels."""
    return int(image.sum(dtype=np.int64)) % one_in == 0


def _gaps(boxes: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """`float32 (n, n)`: pixels between two boxes along the axis that separates them; infinite to itself."""
    first, second = boxes[:, None], boxes[None]
    apart = np.maximum(first[..., :2] - second[..., 2:], second[..., :2] - first[..., 2:]).max(axis=-1)
    np.fill_diagonal(apart, np.inf)
    return np.asarray(apart, np.float32)


def _with(
    found: Detections,
    *,
    boxes: npt.NDArray[np.float32] | None = None,
    labels: tuple[str, ...] | None = None,
    scores: npt.NDArray[np.float32] | None = None,
) -> Detections:
    return Detections(
        found.boxes if boxes is None else boxes,
        found.labels if labels is None else labels,
        found.scores if scores is None else scores,
        found.confidence,
    )
