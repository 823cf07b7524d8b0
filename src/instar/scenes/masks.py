"""Masks from the ways in which COCO writes them: polygons and run lengths.

All give `bool (height, width)`. A pixel belongs to a polygon when its centre lies inside.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.core.scene import Mask


def polygons_mask(polygons: Sequence[npt.NDArray[np.float32]], size: tuple[int, int]) -> Mask:
    """The union of polygons, each `float32 (n, 2)` of x, y in pixels.

    >>> polygons_mask([np.array([(1, 0), (3, 0), (3, 2), (1, 2)], np.float32)], (2, 4)).astype(int)
    array([[0, 1, 1, 0],
           [0, 1, 1, 0]])
    """
    mask = np.zeros(size, bool)
    for polygon in polygons:
        mask |= _polygon_mask(polygon.astype(np.float64), size)
    return mask


def _polygon_mask(points: npt.NDArray[np.float64], size: tuple[int, int]) -> Mask:
    """Even-odd filling: along a row, every edge crossed changes between outside and inside."""
    height, width = size
    crossings = np.zeros((height, width + 1), bool)
    for (x1, y1), (x2, y2) in zip(points, np.roll(points, -1, axis=0)):
        # The rows whose centre line the edge crosses; half open, so that a corner counts once.
        first, last = np.clip(np.ceil(np.sort([y1, y2]) - 0.5), 0, height).astype(int)
        if first == last:
            continue
        rows = np.arange(first, last)
        x = x1 + (rows + 0.5 - y1) * ((x2 - x1) / (y2 - y1))
        columns = np.clip(np.ceil(x - 0.5), 0, width).astype(int)
        crossings[rows, columns] ^= True
    inside: Mask = np.logical_xor.accumulate(crossings, axis=1)[:, :width]
    return inside


def runs_mask(counts: Sequence[int] | str, size: tuple[int, int]) -> Mask:
    """The mask of run lengths down the columns, outside first; text is COCO's packed form.

    >>> runs_mask([1, 2, 3], (2, 3)).astype(int)
    array([[0, 1, 0],
           [1, 0, 0]])
    """
    runs = run_lengths(counts) if isinstance(counts, str) else list(counts)
    height, width = size
    if min(runs, default=0) < 0 or sum(runs) != height * width:
        raise BadInput(f"run lengths of {sum(runs)} pixels for a mask of {width} x {height}")
    inside = np.arange(len(runs)) % 2 == 1
    mask: Mask = np.repeat(inside, runs).reshape(width, height).T
    return np.ascontiguousarray(mask)


def run_lengths(packed: str) -> list[int]:
    """Unpack COCO's compressed run lengths.

    A number is written in groups of five bits, the lowest first, each as the character 48 + group; 32
    is added while more follow, and the sign is bit 16 of the last. From the fourth number on it is the
    difference to the number two before.
    """
    runs: list[int] = []
    value = shift = 0
    for character in packed:
        group = ord(character) - 48
        if not 0 <= group < 64:
            raise BadInput(f"run lengths contain the character {character!r}")
        value |= (group & 31) << shift
        shift += 5
        if group & 32:
            continue
        if group & 16:
            value -= 1 << shift
        runs.append(value + (runs[-2] if len(runs) > 2 else 0))
        value = shift = 0
    if shift:
        raise BadInput("run lengths end in the middle of a number")
    return runs
