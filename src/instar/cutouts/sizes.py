"""Smaller sizes of what is pasted, for finding the least that suffices."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["smaller_sizes"]


def smaller_sizes(size: tuple[int, int], shape: tuple[int, int], *, least: int) -> Iterator[tuple[int, int]]:
    """(height, width) in the proportions of `shape`, the smallest first, up to one pixel less than `size`.

    Both sides are at least so long.

    >>> list(smaller_sizes((11, 8), (200, 160), least=6))
    [(7, 6), (8, 6), (9, 7), (10, 8)]
    """
    rows, columns = shape
    longest = max(shape)
    for side in range(least, max(size)):
        smaller = round(side * rows / longest), round(side * columns / longest)
        if min(smaller) >= least:
            yield smaller
