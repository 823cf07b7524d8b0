"""The head of networks that answer cell by cell: one row of numbers for each cell of each grid.

What the numbers mean is declared: how a box is written (`boxes`), in which order the fields of a row come
(`fields`), and whether scores are probabilities or logits (`scores`). `grid_outputs` finds the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from instar.core.errors import BadInput
from instar.core.options import (
    require_fraction,
    require_number,
    require_one_of,
    require_strings,
    require_whole_number,
)
from instar.tasks.detection.systems.decode import LEAST_SCORE, Floats
from instar.tasks.detection.systems.grid_outputs import FIELDS, Levels, find_rows
from instar.tasks.detection.systems.heads import (
    DecodedBoxes,
    Head,
    Outputs,
    best_classes,
    corners_around,
    require_probabilities,
    sigmoid,
)

SCORES = ("probabilities", "logits")
UNITS = ("cells", "pixels")
Anchors = tuple[tuple[tuple[float, float], ...], ...]


@dataclass(frozen=True, slots=True)
class Cells:
    """Where the rows stand: `float32 (n, 2)` column and row, `(n, 1)` stride, and `(n, 2)` the sides of the
    anchor, which are the stride where there are none.
    """

    at: Floats
    stride: Floats
    anchor: Floats

    def select(self, rows: Any) -> Cells:
        return Cells(self.at[rows], self.stride[rows], self.anchor[rows])


def grid(
    classes: int,
    *,
    boxes: str,
    strides: Sequence[int] = (8, 16, 32),
    fields: Sequence[str] = FIELDS,
    scores: str = "probabilities",
    anchors: Sequence[Sequence[Sequence[float]]] = (),
    bins: int = 16,
    spread: float | None = None,
    centre: float = 0.5,
    unit: str = "cells",
) -> Head:
    """Outputs of any number: one for each stride, one for all of them, or each field in outputs of its own.

    `boxes` are written as

    - "offsets" of the cell's corner and logarithms of sides, in cells (YOLOX);
    - "exponentials": a sigmoid inside the cell, and powers of e of the anchor's sides (YOLOv3, v4);
    - "squares": a sigmoid inside the cell, and squares of it for the anchor's sides (YOLOv5, v7);
    - "distances" of the left, top, right and bottom edge from the cell's point, in `unit` (FCOS, RTMDet);
    - "distributions" of these distances over `bins` values 0, 1, 2, ... cells (NanoDet, PicoDet, YOLOv8).

    `anchors` are, for each stride, widths and heights in pixels. `spread` is how many cells the centre can
    lie in, 1 for exponentials and 2 for squares. `centre` says where in a cell its point is, 0 (its corner)
    to 1. With `scores = "logits"` all sigmoids are still to be done, those of the box as well.
    """
    require_one_of("head", "boxes", boxes, BOXES)
    require_one_of("head", "scores", scores, SCORES)
    require_one_of("head", "unit", unit, UNITS)
    require_whole_number("head", "bins", bins, least=2)
    require_fraction("head", "centre", centre)
    ordered = require_strings("head", "fields", fields)
    if not {"box", "classes"} <= set(ordered) <= set(FIELDS) or len(set(ordered)) != len(ordered):
        raise BadInput(f"head: fields is {list(ordered)}; give box, classes and perhaps objectness in order")
    for stride in strides:
        require_whole_number("head", "strides", stride, least=1)
    sizes = _anchors(anchors, len(strides), needed=boxes in ("exponentials", "squares"))
    if spread is not None:
        require_number("head", "spread", spread, least=1)
    is_done = scores == "probabilities"
    usual = {"exponentials": 1.0, "squares": 2.0}.get(boxes, 1.0)
    write: Mapping[str, Any] = {
        "done": is_done,
        "spread": np.float32(usual if spread is None else spread),
        "bins": bins,
        "centre": np.float32(centre),
        "in_pixels": unit == "pixels",
    }
    to_corners = partial(BOXES[boxes], **{name: write[name] for name in TAKES[boxes]})
    every = {"box": 4 * bins if boxes == "distributions" else 4, "objectness": 1, "classes": classes}
    widths = {name: every[name] for name in ordered}

    def decode(outputs: Outputs, size: tuple[int, int]) -> DecodedBoxes:
        levels = Levels(size, tuple(strides), max(1, len(sizes[0]) if sizes else 1))
        rows = find_rows(outputs, levels, widths)
        keep, best, strengths = _strongest(rows, is_done)
        cells = grid_cells(size, levels.strides, sizes).select(keep)
        return to_corners(rows["box"][keep].astype(np.float32), cells), best, strengths

    return Head(decode)


@lru_cache(maxsize=8)
def grid_cells(size: tuple[int, int], strides: tuple[int, ...] = (8, 16, 32), anchors: Anchors = ()) -> Cells:
    """The cell of each row, level by level, and with anchors those of the first anchor first."""
    levels = []
    for i, (height, width) in enumerate(Levels(size, strides, 1).shapes):
        row, column = np.divmod(np.arange(height * width), width)
        for anchor in anchors[i] if anchors else [(strides[i], strides[i])]:
            repeated = [np.full(height * width, value) for value in (strides[i], *anchor)]
            levels.append(np.stack([column, row, *repeated], axis=1))
    every = np.concatenate(levels).astype(np.float32)
    return Cells(every[:, :2], every[:, 2:3], every[:, 3:])


def _strongest(rows: Mapping[str, Floats], is_done: bool) -> tuple[Any, Any, Floats]:
    """Which rows are at least weakly an object, their classes and their scores."""
    if "objectness" not in rows:
        if is_done:
            require_probabilities(rows["classes"])
        best, strengths = best_classes(rows["classes"])
        strengths = strengths if is_done else sigmoid(strengths)
        keep = np.flatnonzero(strengths >= LEAST_SCORE)
        return keep, best[keep], strengths[keep]
    objectness = rows["objectness"][:, 0]
    if is_done:
        require_probabilities(objectness)
    else:
        objectness = sigmoid(objectness)
    # A score is objectness times class, both at most 1: weak rows can go before any other work.
    keep = np.flatnonzero(objectness >= LEAST_SCORE)
    best, strengths = best_classes(rows["classes"][keep])
    if is_done:
        require_probabilities(strengths)
    return keep, best, objectness[keep] * (strengths if is_done else sigmoid(strengths))


def _offsets(box: Floats, cells: Cells) -> Floats:
    return corners_around((box[:, :2] + cells.at) * cells.stride, np.exp(box[:, 2:]) * cells.anchor)


def _exponentials(box: Floats, cells: Cells, *, done: bool, spread: np.float32) -> Floats:
    centres = _inside(box[:, :2] if done else sigmoid(box[:, :2]), cells, spread)
    return corners_around(centres, np.exp(box[:, 2:]) * cells.anchor)


def _squares(box: Floats, cells: Cells, *, done: bool, spread: np.float32) -> Floats:
    shares = box if done else sigmoid(box)
    twice = np.float32(2) * shares[:, 2:]
    return corners_around(_inside(shares[:, :2], cells, spread), twice * twice * cells.anchor)


def _inside(shares: Floats, cells: Cells, spread: np.float32) -> Floats:
    """Centres in pixels: 0 to 1 is the middle `spread` cells around a cell's own middle."""
    return np.asarray((shares * spread - (spread - 1) / 2 + cells.at) * cells.stride, np.float32)


def _distances(box: Floats, cells: Cells, *, centre: np.float32, in_pixels: bool) -> Floats:
    points = (cells.at + centre) * cells.stride
    far = box if in_pixels else box * cells.stride
    return np.concatenate([points - far[:, :2], points + far[:, 2:]], axis=1)


def _distributions(box: Floats, cells: Cells, *, centre: np.float32, bins: int) -> Floats:
    logits = box.reshape(-1, 4, bins)
    raised = np.exp(logits - logits.max(axis=2, keepdims=True))
    mean = raised @ np.arange(bins, dtype=np.float32) / raised.sum(axis=2)
    return _distances(mean, cells, centre=centre, in_pixels=False)


BOXES: Mapping[str, Callable[..., Floats]] = {
    "offsets": _offsets,
    "exponentials": _exponentials,
    "squares": _squares,
    "distances": _distances,
    "distributions": _distributions,
}
TAKES: Mapping[str, tuple[str, ...]] = {
    "offsets": (),
    "exponentials": ("done", "spread"),
    "squares": ("done", "spread"),
    "distances": ("centre", "in_pixels"),
    "distributions": ("centre", "bins"),
}


def _anchors(given: Sequence[Any], strides: int, *, needed: bool) -> Anchors:
    """The same number of pairs for each stride."""
    if not needed and not given:
        return ()
    try:
        sizes = np.asarray(given, np.float64)
    except ValueError:  # rows of different lengths
        sizes = np.empty(0)
    if sizes.ndim != 3 or sizes.shape[0] != strides or sizes.shape[2] != 2 or sizes.shape[1] == 0:
        raise BadInput(
            f"head: anchors is {given!r}; give for each of the {strides} strides a list of [width, height], "
            "as many for each"
        )
    return tuple(tuple((float(w), float(h)) for w, h in level) for level in sizes)
