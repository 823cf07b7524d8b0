"""How much two heat maps of one picture differ, by several measures; 0 is not at all.

Each sees what others forgive: what is marked (IoU), the order of all places (ranks), where the hottest place
is (pointing), where the heat is on the whole (centre), and how much of it is on the object (inside).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Mask
from instar.imaging.by_identity import by_identity
from instar.imaging.geometry import Box
from instar.tasks.interpretation.answers import HeatMap
from instar.tasks.interpretation.boxes import KEPT_SHARE

SIDE = 28  # cells of the grid that maps are compared on: finer ones of gradients are mostly noise
BLUR = 1.5  # cells: what lies within it is at the same place
FAINT = 0.1  # of the most: places with less have no order
TIED = 5e-5  # of the most: places this close tie; blurring a plateau moves the last digits of a float
SHARES_OF_MAP = np.linspace(0, 1, 201)
MEASURES = ("marked", "ranks", "pointing", "centre", "inside")

Grid = npt.NDArray[np.float32]


def map_differences(
    before: HeatMap,
    after: HeatMap,
    *,
    kept: float = KEPT_SHARE,
    objects: Sequence[Box] = (),
    size: tuple[int, int] = (1, 1),
) -> Mapping[str, float]:
    """Each measure from 0 (the same) up; `objects` are boxes in a picture of `size` (height, width)."""
    a, b = _grid(before), _grid(after)
    hot_a, hot_b = _positive(a), _positive(b)
    marked_a, marked_b = hot_a > kept, hot_b > kept
    union = int(np.count_nonzero(marked_a | marked_b))
    found = {
        "marked": 1 - int(np.count_nonzero(marked_a & marked_b)) / max(1, union),
        "ranks": 1 - _correlation(_ranks(a), _ranks(b)),
        "pointing": 1 - min(hot_b.flat[int(hot_a.argmax())], hot_a.flat[int(hot_b.argmax())]),
        "centre": float(np.hypot(*np.subtract(_centre(hot_a), _centre(hot_b)))),
    }
    if objects:
        where = _on_grid(tuple((x1, y1, x2, y2) for x1, y1, x2, y2 in objects), size)
        found["inside"] = abs(_share(hot_a, where) - _share(hot_b, where))
    return {name: float(value) for name, value in found.items()}


def leak(before: HeatMap, after: HeatMap, changed: Mask) -> float:
    """How much hotter a changed part of the picture became, of the most; `changed` covers the picture."""
    where = cv2.resize(changed.astype(np.float32), (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    if not where.any():
        return 0.0
    became = hot_grid(after) - hot_grid(before)
    return max(0.0, float((became * where).sum() / where.sum()))


def amount_difference(before: HeatMap, after: HeatMap) -> float:
    """How much two maps differ in how much of them is how hot, wherever it is; of the mean heat of the first.

    Of the maps themselves: compared on the grid, all are alike that are mostly noise.
    """
    a, b = (np.quantile(one, SHARES_OF_MAP) for one in (before, after))
    return float(np.abs(a - b).mean() / max(1e-6, float(np.abs(a).mean())))


def hot_grid(heat: HeatMap) -> Grid:
    """`float32 (28, 28)`: what speaks for the label, as it is compared and shown, as a share of the most."""
    return _positive(_grid(heat))


def is_empty(heat: HeatMap) -> bool:
    return float(heat.max()) <= 0


@by_identity(16)
def _grid(heat: HeatMap) -> Grid:
    finer = max(1, -(-SIDE // min(heat.shape)))
    if finer > 1:  # coarse maps are smooth between the middles of their cells
        sides = (heat.shape[1] * finer, heat.shape[0] * finer)
        heat = np.asarray(cv2.resize(heat, sides, interpolation=cv2.INTER_LINEAR), np.float32)
    coarse = cv2.resize(heat, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.GaussianBlur(coarse, (0, 0), BLUR, borderType=cv2.BORDER_REPLICATE), np.float32)


@by_identity(16)
def _positive(grid: Grid) -> Grid:
    """What speaks for the label, as a share of the most."""
    hot = np.maximum(grid, 0)
    most = float(hot.max())
    return np.asarray(hot / most if most > 0 else hot, np.float32)


@by_identity(16)
def _ranks(grid: Grid) -> npt.NDArray[np.float64]:
    """The order of the places that are not faint; what differs by rounding alone is a tie."""
    most = float(np.abs(grid).max())
    shares = grid / most if most > 0 else grid
    values = np.where(np.abs(shares) < FAINT, 0, shares).ravel()
    order = values.argsort(kind="stable")
    which = np.zeros(len(values), np.int64)
    which[order[1:]] = np.cumsum(np.diff(values[order]) > TIED)
    counts = np.bincount(which)
    ranks = np.cumsum(counts) - (counts - 1) / 2  # a tie has the mean of its ranks
    return np.asarray(ranks[which], np.float64)


def _correlation(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    a, b = a - a.mean(), b - b.mean()
    norm = float(np.sqrt((a**2).sum() * (b**2).sum()))
    if norm == 0:  # a map without any order is only like another one without any
        return float((a == 0).all() and (b == 0).all())
    return float((a * b).sum()) / norm


def _centre(hot: Grid) -> tuple[float, float]:
    """(down, right) in shares of the sides."""
    total = float(hot.sum())
    at = (np.arange(SIDE) + 0.5) / SIDE
    return (
        (float((hot.sum(1) * at).sum() / total), float((hot.sum(0) * at).sum() / total))
        if total
        else (0.5, 0.5)
    )


def _share(hot: Grid, where: Grid) -> float:
    return float((hot * where).sum() / max(1e-9, float(hot.sum())))


@lru_cache(maxsize=16)
def _on_grid(boxes: tuple[Box, ...], size: tuple[int, int]) -> Grid:
    """How much of each cell the boxes cover."""
    fine = np.zeros((4 * SIDE, 4 * SIDE), np.float32)
    scale = (4 * SIDE / size[1], 4 * SIDE / size[0])
    for x1, y1, x2, y2 in boxes:
        fine[round(y1 * scale[1]) : round(y2 * scale[1]), round(x1 * scale[0]) : round(x2 * scale[0])] = 1
    return np.asarray(cv2.resize(fine, (SIDE, SIDE), interpolation=cv2.INTER_AREA), np.float32)
