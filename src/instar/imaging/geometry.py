"""Boxes: `float (n, 4)` arrays of x1, y1, x2, y2 in pixels, right and bottom exclusive."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Boxes: TypeAlias = npt.NDArray[np.float32]
Box: TypeAlias = tuple[float, float, float, float]
"""One of them."""


def areas(boxes: Boxes) -> npt.NDArray[np.float32]:
    """`float (n,)`, in square pixels."""
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def intersections(a: Boxes, b: Boxes) -> npt.NDArray[np.float32]:
    """`float (len(a), len(b))`: the area that each pair has in common."""
    width = np.minimum(a[:, None, 2], b[None, :, 2]) - np.maximum(a[:, None, 0], b[None, :, 0])
    height = np.minimum(a[:, None, 3], b[None, :, 3]) - np.maximum(a[:, None, 1], b[None, :, 1])
    common: npt.NDArray[np.float32] = np.maximum(width, 0) * np.maximum(height, 0)
    return common


def iou(a: Boxes, b: Boxes) -> npt.NDArray[np.float32]:
    """`float (len(a), len(b))`: intersection over union of each pair, 0 for boxes without area.

    >>> iou(np.float32([[0, 0, 2, 2]]), np.float32([[0, 0, 2, 1], [5, 5, 6, 6]]))
    array([[0.5, 0. ]], dtype=float32)
    """
    common = intersections(a, b)
    union = areas(a)[:, None] + areas(b)[None, :] - common
    share: npt.NDArray[np.float32] = np.divide(common, union, out=np.zeros_like(common), where=union > 0)
    return share


def centres_inside(boxes: Boxes, outer: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """`bool (n,)`: whose centre lies within the box `outer`, `float (4,)`."""
    x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    inside: npt.NDArray[np.bool_] = (x >= outer[0]) & (x < outer[2]) & (y >= outer[1]) & (y < outer[3])
    return inside


def shift_boxes(boxes: Boxes, dx: float, dy: float) -> Boxes:
    return boxes + np.array([dx, dy, dx, dy], np.float32)


def mask_bounds(mask: npt.NDArray[np.bool_]) -> tuple[int, int, int, int] | None:
    """The box (x1, y1, x2, y2) around all that is True; None where nothing is."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
