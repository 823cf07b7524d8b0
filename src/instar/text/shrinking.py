"""Smaller changes of the same kind, for finding the least that still breaks a locator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from instar.imaging.lettering import drawn_word
from instar.scene import Observation
from instar.text.changes import Light, Permutation, Perspective, Watermark

__all__ = ["dimmer", "less_pushed", "shorter", "swaps"]

SWAPS = ("rbg", "grb", "bgr")


def dimmer(source: Observation, change: Light) -> Iterator[Light]:
    """Without the contrast; then half the way, three quarters, and so on up to one grey level less."""
    if change.gain != 1:
        yield replace(change, gain=1.0)
    levels = round(abs(change.levels))
    sign = 1 if change.levels > 0 else -1
    less = levels // 2
    while less >= 1:
        yield replace(change, levels=float(sign * (levels - less)))
        less //= 2


def swaps(source: Observation, change: Permutation) -> Iterator[Permutation]:
    """Two channels exchanged in place of all three going round."""
    if change.order not in SWAPS:
        yield from (replace(change, order=order) for order in SWAPS)


def less_pushed(source: Observation, change: Perspective) -> Iterator[Perspective]:
    """One corner alone, one corner less, then every push halved."""
    still = ((0, 0),) * 4
    moved = [corner for corner in range(4) if any(change.pushed[corner])]
    tried = [change.pushed, still]
    for keep in _sets_of_corners(moved):
        yield from _untried(change, [p if k in keep else (0, 0) for k, p in enumerate(change.pushed)], tried)
    yield from _untried(change, [(x // 2, y // 2) for x, y in change.pushed], tried)


def shorter(least: int) -> Callable[[Observation, Watermark], Iterable[Watermark]]:
    """Fewer letters of the word, at the same place and down to so many: what is left fits where it was."""

    def smaller(source: Observation, change: Watermark) -> Iterator[Watermark]:
        for length in range(least, len(change.text)):
            text = change.text[:length]
            height, width = drawn_word(text, change.size, font=change.font).shape
            yield replace(change, text=text, width=width, height=height)

    return smaller


def _sets_of_corners(moved: list[int]) -> Iterator[set[int]]:
    yield from ({corner} for corner in moved)
    yield from (set(moved) - {corner} for corner in moved)


def _untried(
    change: Perspective, pushed: list[tuple[float, float]], tried: list[tuple[tuple[float, float], ...]]
) -> Iterator[Perspective]:
    if tuple(pushed) not in tried:
        tried.append(tuple(pushed))
        yield replace(change, pushed=tuple(pushed))
