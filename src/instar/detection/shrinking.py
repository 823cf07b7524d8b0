"""Smaller insertions: a smaller object, then one that is farther from what it was put beside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from instar.detection.answers import Detections
from instar.detection.changes import Insertion
from instar.nulls import Conditioned
from instar.scene import Observation

__all__ = ["smaller_insertions"]

LEAST_SIDE = 6  # pixels: less could not be told from noise
FARTHEST = 64  # pixels of one step away


def smaller_insertions(source: Observation, change: Conditioned) -> Iterator[Insertion]:
    """From the smallest on, and then from the farthest on, each time to one pixel less or more.

    A smaller object stands where it stood: its lower edge and its middle stay.
    """
    if not isinstance(change, Insertion):
        return
    longer = max(change.width, change.height)
    less = longer // 2
    while less >= 1:
        yield from _resized(change, (longer - less) / longer)
        less //= 2
    yield from _farther(source, change)


def _resized(change: Insertion, scale: float) -> Iterator[Insertion]:
    width, height = round(change.width * scale), round(change.height * scale)
    if min(width, height) < LEAST_SIDE or (width, height) == (change.width, change.height):
        return
    x = change.x + (change.width - width) // 2
    y = change.y + change.height - height
    yield replace(change, x=x, y=y, width=width, height=height)


def _farther(source: Observation, change: Insertion) -> Iterator[Insertion]:
    """Away from the object that it was put beside, along the side on which it stands."""
    found: Detections = source.answer
    if change.anchor is None or not 0 <= change.anchor < len(found):
        return
    x1, y1, x2, y2 = found.boxes[change.anchor].tolist()
    rows, columns = source.input.shape[:2]
    gaps = {
        (1, 0): change.x - x2,
        (-1, 0): x1 - (change.x + change.width),
        (0, 1): change.y - y2,
        (0, -1): y1 - (change.y + change.height),
    }
    (right, down), _ = max(gaps.items(), key=lambda item: item[1])
    step = FARTHEST
    while step >= 1:
        x, y = change.x + right * step, change.y + down * step
        if 0 <= x <= columns - change.width and 0 <= y <= rows - change.height:
            yield replace(change, x=x, y=y)
        step //= 2
