"""What the outputs of detection networks mean, style by style.

A head turns the outputs into boxes `float32 (n, 4)` in pixels of the network's input (x1, y1, x2, y2),
classes `int (n,)` and scores `float32 (n,)`; weak boxes may be left out. Outputs that it cannot read are a
ValueError that says what was expected. `grids` has the head of networks that answer cell by cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.core.options import require_one_of, require_strings, require_whole_number
from instar.tasks.detection.systems.decode import LEAST_SCORE, SAME_OBJECT, Floats, sides

Outputs = Mapping[str, npt.NDArray[Any]]
"""By the names that the file has for them, in its order."""
DecodedBoxes = tuple[Floats, npt.NDArray[np.intp], Floats]
UNITS = ("pixels", "shares")
COLUMNS = ("x1", "y1", "x2", "y2", "cx", "cy", "w", "h", "score", "class", "-")
CORNERS, CENTRES = ["x1", "y1", "x2", "y2"], ["cx", "cy", "w", "h"]


@dataclass(frozen=True, slots=True)
class Head:
    """How outputs are read. Of boxes of a class that overlap by more than `same_object` one stays; None
    where the network has seen to that.
    """

    decode: Callable[[Outputs, tuple[int, int]], DecodedBoxes]
    same_object: float | None = SAME_OBJECT


def yolov5(classes: int, *, unit: str = "pixels") -> Head:
    """(rows, 5 + classes): centre and sides, objectness, classes."""
    require_one_of("head", "unit", unit, UNITS)

    def decode(outputs: Outputs, size: tuple[int, int]) -> DecodedBoxes:
        rows = _only_table(outputs, 5 + classes)
        require_probabilities(rows[:, 4:])
        rows = rows[rows[:, 4] >= LEAST_SCORE]
        best, scores = best_classes(rows[:, 5:] * rows[:, 4:5])
        return _in_pixels(corners_around(rows[:, :2], rows[:, 2:4]), unit, size), best, scores

    return Head(decode)


def yolov8(classes: int, *, unit: str = "pixels") -> Head:
    """(4 + classes, rows): centre and sides, classes; no objectness."""
    require_one_of("head", "unit", unit, UNITS)

    def decode(outputs: Outputs, size: tuple[int, int]) -> DecodedBoxes:
        rows = _only_table(outputs, 4 + classes)
        require_probabilities(rows[:, 4:])
        best, scores = best_classes(rows[:, 4:])
        keep = scores >= LEAST_SCORE
        boxes = corners_around(rows[keep, :2], rows[keep, 2:4])
        return _in_pixels(boxes, unit, size), best[keep], scores[keep]

    return Head(decode)


def ssd(classes: int, *, unit: str = "shares", background: bool = True) -> Head:
    """(rows, 4) corners x1, y1, x2, y2, and (rows, classes) scores, with the background before them unless
    there is none, in either order; boxes come first where both are four wide.
    """
    require_one_of("head", "unit", unit, UNITS)
    width = classes + bool(background)

    def decode(outputs: Outputs, size: tuple[int, int]) -> DecodedBoxes:
        tables = [one for one in map(_single, outputs.values()) if one.ndim == 2]
        corners = next((one for one in tables if one.shape[1] == 4), None)
        scores = next((rows for one in tables if one is not corners for rows in _rows(one, width)), None)
        if corners is None or scores is None or len(corners) != len(scores):
            first = ", background first" if background else ""
            raise ValueError(f"expected boxes (rows, 4) and scores (rows, {width}){first}")
        require_probabilities(scores)
        best, strength = best_classes(scores[:, 1:] if background else scores)
        keep = strength >= LEAST_SCORE
        return _in_pixels(corners[keep], unit, size), best[keep], strength[keep]

    return Head(decode)


def tensorflow(classes: int) -> Head:
    """The object detection API's four: boxes y1, x1, y2, x2 as shares, classes from 1, scores, how many.

    Classes and scores are told apart by their order in the file, which is the API's own.
    """

    def decode(outputs: Outputs, size: tuple[int, int]) -> DecodedBoxes:
        boxes = next((one[0] for one in outputs.values() if one.ndim == 3 and one.shape[2] == 4), None)
        lists = [one[0] for one in outputs.values() if one.ndim == 2]
        if boxes is None or len(lists) != 2:
            raise ValueError("expected boxes (1, rows, 4), then classes and scores (1, rows)")
        numbers, scores = lists
        require_probabilities(scores)
        return boxes[:, [1, 0, 3, 2]] * sides(size), _whole(numbers) - 1, scores.astype(np.float32)

    return Head(decode)


def finished_table(
    classes: int,
    *,
    columns: Sequence[str] = ("x1", "y1", "x2", "y2", "score", "class"),
    unit: str = "pixels",
    first: int = 0,
) -> Head:
    """One table of finished detections, duplicates dropped: a row for each, with these `columns`.

    Corners, or cx, cy, w, h; "-" is a column that does not matter. `unit` is pixels of the network's input
    or shares of it, `first` the number of the first label.
    """
    named = require_strings("head", "columns", columns)
    for name in named:
        require_one_of("head", "columns", name, COLUMNS)
    require_one_of("head", "unit", unit, UNITS)
    require_whole_number("head", "first", first, least=0)
    around = set(CENTRES) <= set(named)
    needed = [*(CENTRES if around else CORNERS), "score", "class"]
    missing = [name for name in needed if name not in named]
    if missing:
        raise BadInput(f"head: columns are {list(named)}; there is no {missing[0]}")
    at = [named.index(name) for name in needed]

    def decode(outputs: Outputs, size: tuple[int, int]) -> DecodedBoxes:
        found = next((one for one in outputs.values() if one.ndim > 1 and one.shape[-1] == len(named)), None)
        if found is None:
            raise ValueError(f"expected one table of {len(named)} columns ({', '.join(named)})")
        rows = found.reshape(-1, len(named))[:, at].astype(np.float32)
        require_probabilities(rows[:, 4])
        boxes = corners_around(rows[:, :2], rows[:, 2:4]) if around else rows[:, :4]
        return _in_pixels(boxes, unit, size), _whole(rows[:, 5]) - first, rows[:, 4]

    return Head(decode, same_object=None)


def torchvision(classes: int, *, unit: str = "pixels", first: int = 1) -> Head:
    """Finished detections in three outputs of any order: boxes (n, 4), whole-numbered labels and scores (n,).

    Scores may also stand beside the boxes, (n, 5), as MMDetection has them.
    Number 0 is the background to torchvision; give `first = 0` to a network that has none.
    """
    require_one_of("head", "unit", unit, UNITS)
    require_whole_number("head", "first", first, least=0)

    def decode(outputs: Outputs, size: tuple[int, int]) -> DecodedBoxes:
        beside = next((one.reshape(-1, 5) for one in outputs.values() if _is_float(one, width=5)), None)
        if beside is not None:
            outputs = {**outputs, "boxes of both": beside[:, :4], "scores of both": beside[:, 4]}
        boxes = next((one.reshape(-1, 4) for one in outputs.values() if _is_float(one, width=4)), None)
        labels = next((one.ravel() for one in outputs.values() if one.dtype.kind in "iu"), None)
        scores = next((one.ravel() for one in outputs.values() if _is_float(one, rows=labels)), None)
        if boxes is None or labels is None or scores is None or len(boxes) != len(labels):
            raise ValueError(
                "expected boxes (n, 4), labels (n) of whole numbers and scores (n), or boxes (n, 5)"
            )
        require_probabilities(scores)
        return (
            _in_pixels(boxes.astype(np.float32), unit, size),
            labels.astype(np.intp) - first,
            scores.astype(np.float32),
        )

    return Head(decode, same_object=None)


def detr(classes: int, *, scores: str = "softmax", first: int = 0) -> Head:
    """A set of queries: class logits (n, classes) and centres and sides (n, 4) as shares of the input.

    `scores` says what makes probabilities of the logits: "softmax", whose last column is no object, or
    "sigmoid", which has no such column.
    """
    require_one_of("head", "scores", scores, ("softmax", "sigmoid"))
    require_whole_number("head", "first", first, least=0)
    width = first + classes + (scores == "softmax")

    def decode(outputs: Outputs, size: tuple[int, int]) -> DecodedBoxes:
        tables = [one for one in map(_single, outputs.values()) if one.ndim == 2]
        # Logits may be four wide too, but only boxes are shares throughout.
        fours = sorted((one for one in tables if one.shape[1] == 4), key=lambda one: not _are_shares(one))
        around = next(iter(fours), None)
        logits = next((one for one in tables if one is not around and one.shape[1] == width), None)
        if logits is None or around is None or len(logits) != len(around):
            raise ValueError(f"expected class logits (n, {width}) and boxes (n, 4)")
        if scores == "softmax":
            raised = np.exp(logits - logits.max(axis=1, keepdims=True))
            strengths = raised[:, :-1] / raised.sum(axis=1, keepdims=True)
        else:
            strengths = sigmoid(logits)
        best, strength = best_classes(strengths)
        boxes = corners_around(around[:, :2], around[:, 2:]) * sides(size)
        return boxes.astype(np.float32), best - first, strength.astype(np.float32)

    return Head(decode, same_object=None)


def require_probabilities(scores: npt.NDArray[Any]) -> None:
    """Scores outside 0 to 1 mean that something else was read."""
    if scores.size == 0:
        return
    low, high = float(scores.min()), float(scores.max())
    if not (low >= -0.001 and high <= 1.001):
        raise ValueError(
            f"scores go from {low:.3g} to {high:.3g}, not from 0 to 1: they are logits, or not the scores"
        )


def best_classes(scores: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """The best class of each row, and its score."""
    classes = scores.argmax(axis=1)
    return classes, scores[np.arange(len(scores)), classes]


def corners_around(centres: Floats, sides: Floats) -> Floats:
    """Boxes `(n, 4)` by their centres and sides, `(n, 2)`."""
    half = sides * np.float32(0.5)
    return np.concatenate([centres - half, centres + half], axis=1)


def sigmoid(values: Floats) -> Floats:
    """1 / (1 + exp(-x)), which no value can overflow."""
    return np.asarray(np.float32(0.5) * (np.tanh(values * np.float32(0.5)) + np.float32(1)), np.float32)


def _only_table(outputs: Outputs, width: int) -> Floats:
    """The first output as rows of that width."""
    for rows in _rows(_single(next(iter(outputs.values()))), width):
        return rows
    raise ValueError(f"expected one table (rows, {width}) or ({width}, rows)")


def _rows(output: npt.NDArray[Any], width: int) -> Iterator[npt.NDArray[Any]]:
    """The table itself where it is so wide, the transposed one where it is so high."""
    if output.ndim == 2 and output.shape[1] == width:
        yield output
    if output.ndim == 2 and output.shape[0] == width:
        yield output.T


def _single(output: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Without the axis of the batch, which has one picture."""
    return output[0] if output.ndim >= 3 and output.shape[0] == 1 else output


def _is_float(output: npt.NDArray[Any], *, width: int = 0, rows: npt.NDArray[Any] | None = None) -> bool:
    """Whether it is a table of floats of that width, or a list as long as that one."""
    if output.dtype.kind != "f":
        return False
    if width:
        return output.ndim >= 2 and output.shape[-1] == width
    return rows is not None and output.size == rows.size and (output.ndim == 1 or output.shape[-1] != 4)


def _are_shares(values: npt.NDArray[Any]) -> bool:
    return bool((values >= 0).all() and (values <= 1).all())


def _in_pixels(boxes: Floats, unit: str, size: tuple[int, int]) -> Floats:
    return boxes if unit == "pixels" else boxes * sides(size)


def _whole(numbers: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Classes that come as floats; what is between two numbers is none."""
    rounded: npt.NDArray[Any] = np.rint(numbers)
    if not np.array_equal(rounded, numbers):
        raise ValueError(f"classes are whole numbers; here is {float(numbers[rounded != numbers][0]):g}")
    return np.asarray(rounded, np.intp)
