"""The rows of a network that answers cell by cell, whatever shape its outputs have.

An output may hold all fields of a row or one of them, for one stride or for all, with channels first or last.
Which it is follows from its shape, since grids of different strides have different sizes. Outputs of the same
shape come in the order in which the fields were declared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

FIELDS = ("box", "objectness", "classes")
Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Levels:
    """The grids of an input of `size` (height, width), with so many anchors in each cell."""

    size: tuple[int, int]
    strides: tuple[int, ...]
    anchors: int

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Rows and columns of each grid; a cell that the input fills in part counts."""
        return [(-(-self.size[0] // stride), -(-self.size[1] // stride)) for stride in self.strides]

    @property
    def rows(self) -> list[int]:
        """How many rows each has in a table."""
        return [self.anchors * height * width for height, width in self.shapes]


def find_rows(outputs: Mapping[str, Array], levels: Levels, widths: Mapping[str, int]) -> dict[str, Array]:
    """For each field a table `(rows, width)`, level by level and anchor by anchor.

    `widths` are the fields in the order that they have in a row.
    """
    parts: dict[tuple[str, int], Array] = {}  # by field and level
    whole: dict[str, Array] = {}  # what comes in one table
    for output in outputs.values():
        for level, table in _readings(output, levels, widths):
            places = range(len(levels.strides)) if level is None else [level]
            names = _names_for(table.shape[1], widths, [n for n in widths if (n, places[0]) not in parts])
            if names:
                columns = _columns(table, names, widths)
                whole |= columns if level is None else {}
                parts |= {(name, i): part for name, part in columns.items() for i in places}
                break
    missing = [(name, i) for name in widths for i in range(len(levels.strides)) if (name, i) not in parts]
    if missing:
        raise ValueError(_expected(levels, widths, missing[0]))
    several = range(len(levels.strides))
    return {
        name: whole[name] if name in whole else np.concatenate([parts[name, i] for i in several])
        for name in widths
    }


def _readings(output: Array, levels: Levels, widths: Mapping[str, int]) -> Iterator[tuple[int | None, Array]]:
    """The tables that an output can be, each with its level, None for all of them."""
    array = output[0] if output.ndim >= 3 and output.shape[0] == 1 else output
    n, known = levels.anchors, {*widths.values(), sum(widths.values())}
    for i, (shape, rows) in enumerate(zip(levels.shapes, levels.rows)):
        if array.ndim == 4 and array.shape[:3] == (n, *shape):
            yield i, array.reshape(rows, -1)
        elif array.ndim == 4 and array.shape[:3] == (*shape, n):
            yield i, array.transpose(2, 0, 1, 3).reshape(rows, -1)
        elif array.ndim == 3 and array.shape[1:] == shape and array.shape[0] % n == 0:
            yield i, array.reshape(n, array.shape[0] // n, -1).transpose(0, 2, 1).reshape(rows, -1)
        elif array.ndim == 3 and array.shape[:2] == shape and array.shape[2] % n == 0:
            yield i, array.reshape(-1, n, array.shape[2] // n).transpose(1, 0, 2).reshape(rows, -1)
    if array.ndim == 2:
        for level, rows in [*enumerate(levels.rows), (None, sum(levels.rows))]:
            if array.shape[0] == rows and array.shape[1] in known:
                yield level, array
            elif array.shape[1] == rows and array.shape[0] in known:
                yield level, array.T


def _names_for(width: int, widths: Mapping[str, int], wanted: list[str]) -> list[str]:
    """The fields that so many columns are, of those that are still wanted: all of them, or one."""
    if width == sum(widths.values()) and len(wanted) == len(widths):
        return wanted
    return [name for name in wanted if widths[name] == width][:1]


def _columns(table: Array, names: list[str], widths: Mapping[str, int]) -> dict[str, Array]:
    """The columns of each of the fields that a table has side by side."""
    ends = np.cumsum([widths[name] for name in names]).tolist()
    return {name: table[:, end - widths[name] : end] for name, end in zip(names, ends)}


def _expected(levels: Levels, widths: Mapping[str, int], missing: tuple[str, int]) -> str:
    name, level = missing
    grids = ", ".join(f"{height}x{width}" for height, width in levels.shapes)
    row = ", ".join(f"{name} {width}" for name, width in widths.items())
    many = f" with {levels.anchors} anchors each" if levels.anchors > 1 else ""
    return (
        f"no output holds {name} of stride {levels.strides[level]}; expected grids of {grids} cells{many} "
        f"({sum(levels.rows)} in all), each cell with {sum(widths.values())} numbers ({row}), or each apart"
    )
