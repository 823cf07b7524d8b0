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

    A smaller object keeps its distance from what it was put beside, and stands on the same line.
    """
    if not isinstance(change, Insertion):
        return
    away = _away_from_anchor(source, change)
    longer = max(change.width, change.height)
    less = longer // 2
    while less >= 1:
        yield from _resized(change, (longer - less) / longer, away)
        less //= 2
    if away is not None:
        yield from _farther(source, change, away)


def _away_from_anchor(source: Observation, change: Insertion) -> tuple[int, int] | None:
    """The direction (right, down) in which it stands from the object that it was put beside."""
    found: Detections = source.answer
    if change.anchor is None or not 0 <= change.anchor < len(found):
        return None
    x1, y1, x2, y2 = found.boxes[change.anchor].tolist()
    gaps = {
        (1, 0): change.x - x2,
        (-1, 0): x1 - (change.x + change.width),
        (0, 1): change.y - y2,
        (0, -1): y1 - (change.y + change.height),
    }
    return max(gaps, key=lambda direction: gaps[direction])


def _resized(change: Insertion, scale: float, away: tuple[int, int] | None) -> Iterator[Insertion]:
    width, height = round(change.width * scale), round(change.height * scale)
    if min(width, height) < LEAST_SIDE or (width, height) == (change.width, change.height):
        return
    right, down = away or (0, 0)
    spare = change.width - width
    x = change.x + (0 if right > 0 else spare if right < 0 else spare // 2)
    y = change.y if down > 0 else change.y + change.height - height
    yield replace(change, x=x, y=y, width=width, height=height)


def _farther(source: Observation, change: Insertion, away: tuple[int, int]) -> Iterator[Insertion]:
    rows, columns = source.input.shape[:2]
    step = FARTHEST
    while step >= 1:
        x, y = change.x + away[0] * step, change.y + away[1] * step
        if 0 <= x <= columns - change.width and 0 <= y <= rows - change.height:
            yield replace(change, x=x, y=y)
        step //= 2
