"""What the outputs of detection networks mean, style by style.

A head turns the outputs into boxes `float32 (n, 4)` in pixels of the network's input (x1, y1, x2, y2),
classes `int (n,)` and scores `float32 (n,)`; weak boxes may be left out, duplicates are dropped later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from instar.tasks.detection.systems.decode import LEAST_SCORE, Floats, sides

__all__ = ["HEADS", "Head", "best_classes", "corners_around", "decode_yolox", "grid_cells"]

STRIDES = (8, 16, 32)
Boxes = tuple[Floats, npt.NDArray[np.intp], Floats]
Head = Callable[[Sequence[Floats], tuple[int, int]], Boxes]


def decode_yolox(outputs: Sequence[Floats], size: tuple[int, int]) -> Boxes:
    """(rows, 5 + classes): centre and log sides in cells of 8, 16 and 32 pixels, objectness, classes."""
    rows, grid = _table(outputs), grid_cells(size)
    if len(grid) != len(rows):
        raise ValueError(f"the network answers with {len(rows)} boxes; at {size} a YOLOX has {len(grid)}")
    # A score is objectness times class, both at most 1: weak rows can go before any other work.
    hopeful = np.flatnonzero(rows[:, 4] >= LEAST_SCORE)
    rows, grid = rows[hopeful], grid[hopeful]
    classes, scores = best_classes(rows[:, 5:])
    centres = (rows[:, :2] + grid[:, :2]) * grid[:, 2:]
    return corners_around(centres, np.exp(rows[:, 2:4]) * grid[:, 2:]), classes, rows[:, 4] * scores


@lru_cache(maxsize=8)
def grid_cells(size: tuple[int, int]) -> Floats:
    """The cell of each row of a YOLOX: `float32 (rows, 3)`, column, row and stride; not to be written to."""
    levels = []
    for stride in STRIDES:
        height, width = size[0] // stride, size[1] // stride
        rows, columns = np.divmod(np.arange(height * width), width)
        levels.append(np.stack([columns, rows, np.full(height * width, stride)], axis=1))
    return np.concatenate(levels).astype(np.float32)


def decode_yolov5(outputs: Sequence[Floats], size: tuple[int, int]) -> Boxes:
    """(rows, 5 + classes): centre and sides in pixels, objectness, classes."""
    rows = _table(outputs)
    rows = rows[rows[:, 4] >= LEAST_SCORE]
    classes, scores = best_classes(rows[:, 5:] * rows[:, 4:5])
    return corners_around(rows[:, :2], rows[:, 2:4]), classes, scores


def decode_yolov8(outputs: Sequence[Floats], size: tuple[int, int]) -> Boxes:
    """(4 + classes, rows): centre and sides in pixels, classes; no objectness."""
    rows = _table(outputs).T
    classes, scores = best_classes(rows[:, 4:])
    keep = scores >= LEAST_SCORE
    return corners_around(rows[keep, :2], rows[keep, 2:4]), classes[keep], scores[keep]


def decode_ssd(outputs: Sequence[Floats], size: tuple[int, int]) -> Boxes:
    """(rows, 4) corners x1, y1, x2, y2 as shares of the input, and (rows, 1 + classes) scores, background
    first, in either order.
    """
    tables = [_single(output) for output in outputs if output.ndim >= 2]
    corners = next((table for table in tables if table.shape[-1] == 4), None)
    scores = next((table for table in tables if table is not corners), None)
    if corners is None or scores is None or len(corners) != len(scores):
        raise ValueError(f"an SSD answers with boxes and scores; here: {[o.shape for o in outputs]}")
    classes, best = best_classes(scores[:, 1:])
    keep = best >= LEAST_SCORE
    return corners[keep] * sides(size), classes[keep], best[keep]


def decode_tensorflow(outputs: Sequence[Floats], size: tuple[int, int]) -> Boxes:
    """The object detection API's four: boxes y1, x1, y2, x2 as shares, classes from 1, scores, how many.

    Classes and scores are told apart by their order in the file, which is the API's own.
    """
    boxes = next((_single(output) for output in outputs if output.ndim == 3), None)
    lists = [_single(output) for output in outputs if output.ndim == 2]
    if boxes is None or len(lists) != 2:
        raise ValueError(f"no boxes, classes and scores: {[output.shape for output in outputs]}")
    classes, scores = lists
    return boxes[:, [1, 0, 3, 2]] * sides(size), classes.astype(np.intp) - 1, scores.astype(np.float32)


HEADS: Mapping[str, Head] = {
    "yolox": decode_yolox,
    "yolov5": decode_yolov5,
    "yolov8": decode_yolov8,
    "ssd": decode_ssd,
    "tensorflow": decode_tensorflow,
}


def _table(outputs: Sequence[Floats]) -> Floats:
    table = _single(outputs[0])
    if table.ndim != 2:
        raise ValueError(f"the network answers with {outputs[0].shape}; this head reads one table")
    return table


def _single(output: Floats) -> Floats:
    """Without the axis of the batch, which has one picture."""
    return output[0] if output.ndim >= 2 and output.shape[0] == 1 else output


def best_classes(scores: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """The best class of each row, and its score."""
    classes = scores.argmax(axis=1)
    return classes, scores[np.arange(len(scores)), classes]


def corners_around(centres: Floats, sides: Floats) -> Floats:
    """Boxes `(n, 4)` by their centres and sides, `(n, 2)`."""
    half = sides * np.float32(0.5)
    return np.concatenate([centres - half, centres + half], axis=1)
