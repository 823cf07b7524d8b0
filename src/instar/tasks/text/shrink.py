"""Smaller changes of the same kind, for finding the least that still breaks a locator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from instar.core.scene import Observation
from instar.imaging.lettering import drawn_word
from instar.tasks.text.changes import Brightness, Permutation, Perspective, Watermark

SWAPS = ("rbg", "grb", "bgr")


def reduce_brightness(source: Observation, change: Brightness) -> Iterator[Brightness | list[Brightness]]:
    """The same without a change of contrast, then one grey level, two, and so on."""
    if change.gain != 1:
        yield replace(change, gain=1.0)
    sign = 1 if change.levels > 0 else -1
    yield [replace(change, levels=float(sign * levels)) for levels in range(1, round(abs(change.levels)))]


def reduce_to_swaps(source: Observation, change: Permutation) -> Iterator[Permutation]:
    """Two channels swapped, where all three had changed places."""
    if change.order not in SWAPS:
        yield from (replace(change, order=order) for order in SWAPS)


def reduce_pushes(source: Observation, change: Perspective) -> Iterator[Perspective | list[Perspective]]:
    """One corner alone, one corner less, then all pushes less, by a pixel of the largest each time."""
    moved = [corner for corner in range(4) if any(change.pushed[corner])]
    sets = [*(frozenset({corner}) for corner in moved), *(frozenset(moved) - {corner} for corner in moved)]
    for keep in dict.fromkeys(sets):
        if 0 < len(keep) < len(moved):
            kept = tuple(push if corner in keep else (0, 0) for corner, push in enumerate(change.pushed))
            yield replace(change, pushed=kept)
    most = round(max(max(corner) for corner in change.pushed))
    yield [
        replace(change, pushed=tuple((round(x * n / most), round(y * n / most)) for x, y in change.pushed))
        for n in range(1, most)
    ]


def reduce_word(letters: int, height: int) -> Callable[[Observation, Watermark], Iterable[list[Watermark]]]:
    """Fewer letters of the word, and lower ones, at the same place and down to so many pixels.

    What is left fits where it was.
    """

    def smaller(source: Observation, change: Watermark) -> Iterator[list[Watermark]]:
        yield [_drawn_as(change, change.text[:n], change.size) for n in range(letters, len(change.text))]
        yield [_drawn_as(change, change.text, size) for size in range(height, change.size)]

    return smaller


def _drawn_as(change: Watermark, text: str, size: int) -> Watermark:
    height, width = drawn_word(text, size, font=change.font).shape
    return replace(change, text=text, size=size, width=width, height=height)
