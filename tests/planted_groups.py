"""Faults of detectors for tests of groups: each spoils some of the objects that have a neighbour.

A fault says which objects it is about, given the answer and which object is nearest to each, and what becomes
of those objects. Several can be planted together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

import drawn
from instar.tasks.detection.answers import Detections

NEAR = 10  # pixels: the street keeps fourteen between objects, so that nothing is spoilt before a change


@dataclass(frozen=True)
class Fault:
    """`about(found, i, k)`: whether it is about object i, which has k beside it."""

    about: Callable[[Detections, int, int], bool]
    becomes: Callable[[Detections, int], Detections]


def planted(faults: Mapping[str, Fault]):
    """A detector with these faults; of an object the first that is about it."""

    def detect(image):
        found = drawn.exact(image)
        gaps = drawn._gaps(found.boxes)
        answer = found
        for i in reversed(np.flatnonzero(gaps.min(axis=1, initial=np.inf) <= NEAR).tolist()):
            k = int(gaps[i].argmin())
            fault = next((fault for fault in faults.values() if fault.about(found, i, k)), None)
            answer = answer if fault is None else fault.becomes(answer, i)
        return answer

    return drawn.Drawn(" and ".join(faults), detect)


def lost(found, i):
    return found.select(np.arange(len(found)) != i)


def renamed_to(name):
    def becomes(found, i):
        labels = tuple(name if k == i else label for k, label in enumerate(found.labels))
        return drawn._with(found, labels=labels)

    return becomes


def cut_to(share, side):
    """The box keeps this share of its side; `side` is its index in x1, y1, x2, y2."""

    def becomes(found, i):
        boxes = found.boxes.copy()
        other = (side + 2) % 4
        boxes[i, side] = boxes[i, other] + share * (boxes[i, side] - boxes[i, other])
        return drawn._with(found, boxes=boxes)

    return becomes


def ghost(label, box):
    def becomes(found, i):
        return Detections(
            np.concatenate([found.boxes, np.array([box], np.float32)]),
            (*found.labels, label),
            np.append(found.scores, np.float32(0.9)),
            found.confidence,
        )

    return becomes


def height(found, i):
    return found.boxes[i, 3] - found.boxes[i, 1]


def width(found, i):
    return found.boxes[i, 2] - found.boxes[i, 0]


def middle(found, i):
    return (found.boxes[i, :2] + found.boxes[i, 2:]) / 2


def of(*labels):
    return lambda found, i, k: found.labels[i] in labels


def beside(*labels):
    return lambda found, i, k: found.labels[k] in labels


def both(*abouts):
    return lambda found, i, k: all(about(found, i, k) for about in abouts)
