"""Smaller insertions: a smaller object, then one that is farther from all that was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from instar.core.scene import Observation
from instar.cutouts.placement import smaller_sizes
from instar.tasks.detection.changes import Insertion

LEAST_SIDE = 6  # pixels: less could not be told from noise
FARTHEST = 64  # pixels of one step away

_Direction = tuple[int, int]


def smaller_insertions(
    source: Observation, change: Insertion, shape: tuple[int, int]
) -> Iterator[list[Insertion]]:
    """Lines of smaller objects, and then of farther ones, pixel by pixel; `shape` is the cut-out's own.

    A smaller object lies within the larger one, as near as that was to what it was put beside. Nobody knows
    whether it is that which matters: so there is a line for every other object too, and one in every
    direction.
    """
    boxes = np.asarray(source.answer.boxes, np.float32)
    nearest = np.argsort(_gaps(boxes, change), kind="stable").tolist()
    beside = sorted(nearest, key=lambda k: k != change.anchor)
    sizes = list(smaller_sizes((change.height, change.width), shape, least=LEAST_SIDE))
    for k in beside or [None]:
        yield [_resized(change, size, boxes, k) for size in sizes]
    yield from _farther(source, change, boxes, nearest)


def _gaps(boxes: npt.NDArray[np.float32], change: Insertion) -> npt.NDArray[np.float32]:
    """`float32 (n,)`: pixels between each box and what is pasted, along the axis that separates them."""
    x1, y1, x2, y2 = change.box
    sides = [boxes[:, 0] - x2, x1 - boxes[:, 2], boxes[:, 1] - y2, y1 - boxes[:, 3]]
    return np.max(sides, axis=0) if len(boxes) else np.zeros(0, np.float32)


def _resized(
    change: Insertion, size: tuple[int, int], boxes: npt.NDArray[np.float32], beside: int | None
) -> Insertion:
    """The smaller one where it is nearest to a box; else on the same feet, in the middle."""
    height, width = size
    x, y = (change.width - width) // 2, change.height - height
    if beside is not None:
        x1, y1, x2, y2 = boxes[beside].tolist()
        x = _nearest(x, change.width - width, x1 - change.x - width, x2 - change.x)
        y = _nearest(y, change.height - height, y1 - change.y - height, y2 - change.y)
    return replace(change, x=change.x + x, y=change.y + y, width=width, height=height, anchor=beside)


def _nearest(usual: int, most: int, least_beside: float, most_beside: float) -> int:
    """From 0 to `most`: the usual, or what is nearest to lying between the other two."""
    wanted = min(max(float(usual), least_beside), most_beside)
    return int(np.clip(np.rint(wanted), 0, most))


def _farther(
    source: Observation, change: Insertion, boxes: npt.NDArray[np.float32], nearest: list[int]
) -> Iterator[list[Insertion]]:
    """Away from each object, the nearest first, as long as that is farther from all: the farthest first."""
    rows, columns = source.input.shape[:2]
    for right, down in dict.fromkeys(_away(boxes[k], change) for k in nearest):
        line, last = [], change
        for step in range(1, FARTHEST):
            moved = replace(change, x=change.x + right * step, y=change.y + down * step)
            x1, y1, x2, y2 = moved.box
            outside = x1 < 0 or y1 < 0 or x2 > columns or y2 > rows
            if outside or _gaps(boxes, moved).min() <= _gaps(boxes, last).min():
                break
            line.append(moved)
            last = moved
        yield line[::-1]


def _away(box: npt.NDArray[np.float32], change: Insertion) -> _Direction:
    """The direction (right, down) in which what is pasted stands from a box."""
    x1, y1, x2, y2 = box.tolist()
    gaps: dict[_Direction, float] = {
        (1, 0): change.x - x2,
        (-1, 0): x1 - (change.x + change.width),
        (0, 1): change.y - y2,
        (0, -1): y1 - (change.y + change.height),
    }
    return max(gaps, key=lambda direction: gaps[direction])
