"""What a detector in a file is like, as far as the file and its answers to blank pictures tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.adapters.imagenet import IMAGENET_DEVIATION, IMAGENET_MEAN
from instar.adapters.labels import exported_names, parse_literal, read_labels
from instar.adapters.sessions import TYPES, open_network, require_one_picture
from instar.core.errors import BadInput
from instar.core.system import describe_error
from instar.tasks.detection.coco_names import COCO_NAMES
from instar.tasks.detection.systems.head_declaration import HEADS

USUAL_SIZES = (640, 416, 512, 320, 300)
STRIDES = (8, 16, 32)
COCO_LAST = 90
DETR = {"divide": 1.0, "mean": list(IMAGENET_MEAN), "std": list(IMAGENET_DEVIATION)}
"""What DETR wants to see; RT-DETR, whose 80 classes begin at 0, takes shares of white."""
YOLOX = {"colour": "bgr", "divide": 1.0, "fit": "corner"}
"""What YOLOX's own exports want to see."""
PICTURES = (0, 114)  # a black and a grey one
MOST_SHARE = 2.0  # of a side, that a box may reach where sides are 1

Declaration = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Seen:
    """A network and what it answers: its outputs without the axis of the batch, picture by picture."""

    where: str
    input: str
    size: tuple[int, int]
    layout: str
    is_whole: bool
    outputs: Sequence[Mapping[str, npt.NDArray[Any]]]
    metadata: Mapping[str, str]

    def __str__(self) -> str:
        shapes = ", ".join(f"{name} {list(one.shape)}" for name, one in self.outputs[0].items())
        return f"{self.where} takes {self.input} and answers with {shapes}"


def _other_kind(seen: _Seen, model: str) -> str:
    """What to do with outputs that are no known kind of a detector's."""
    shapes = [one.shape for one in seen.outputs[-1].values()]
    if all(len(shape) > 1 and np.prod(shape) == shape[1] > 1 for shape in shapes):
        return f", as classifiers do: give --system onnx-classifier --set system.model={model}"
    if all(len(shape) == 4 and shape[:2] == (1, 1) and shape[2] > 1 for shape in shapes):
        return f", as text locators do: give --system ppocr-v4-det --set system.weights={model}"
    return (
        f"; how to read that cannot be told: give --set system.head=NAME (of {', '.join(HEADS)}) "
        "and --set system.labels=FILE"
    )


def describe_file(model: str, given: Mapping[str, Any]) -> Declaration:
    """The options of `onnx` or `torch-detector` that a file tells; `given` are those that the user gave.

    BadInput says what was seen and what to give where that is not enough.
    """
    if "head" in given and "labels" in given:
        return {}
    seen = _look(Path(model), given)
    names = exported_names(seen.metadata)
    labels = read_labels(given.get("labels"))
    classes = len(names) if names else len(labels) if isinstance(labels, (list, tuple)) else None
    found = _from_outputs(seen, classes)
    if found is None:
        raise BadInput(f"{seen}{_other_kind(seen, model)}")
    head, wide = found
    declared: Declaration = {"head": head, "size": list(seen.size), "layout": seen.layout}
    declared |= YOLOX if head == "yolox" else {}
    if isinstance(head, dict) and (head["kind"] == "detr" or head.get("unit") == "shares"):
        declared["fit"] = "stretch"
    if isinstance(head, dict) and head["kind"] == "detr" and (head["first"] or head["scores"] == "softmax"):
        declared |= DETR
    if seen.is_whole:
        declared["divide"] = 1.0
    if names:
        declared["labels"] = names
    elif wide == len(COCO_NAMES):
        declared["labels"] = "coco"
    elif wide == COCO_LAST and labels is None:
        declared["labels"] = "coco-ids"
    elif labels is None:
        many = "classes" if wide is None else f"{wide} classes"
        raise BadInput(f"{seen}: {many} without names; give --set system.labels=FILE, one name on each line")
    return {key: value for key, value in declared.items() if key not in given}


def _look(model: Path, given: Mapping[str, Any]) -> _Seen:
    session, _ = open_network(model, network=given.get("network"))
    metadata = session.get_modelmeta().custom_metadata_map if model.suffix == ".onnx" else {}
    wanted = session.get_inputs()
    pictures = [one for one in wanted if len(one.shape) in (3, 4)]
    if len(wanted) != 1 or not pictures:
        listed = ", ".join(f"{one.name} {list(one.shape)}" for one in wanted)
        raise BadInput(f"{model} takes {listed}; give --set system.head=NAME, labels and also for the others")
    (port,) = pictures
    layout = "nhwc" if port.shape[-1] == 3 else "nchw"
    require_one_picture(model, port, layout)
    problem = ""
    for size in _sizes(port.shape, layout, metadata, given):
        try:
            outputs = [_ask(session, port, size, layout, level) for level in PICTURES]
        except Exception as error:
            problem = describe_error(error)[:200]
            continue
        shape = list(port.shape)
        is_whole = issubclass(TYPES.get(port.type, np.float32), np.integer)
        return _Seen(str(model), f"{port.name} {shape}", size, layout, is_whole, outputs, metadata)
    raise BadInput(f"{model} takes no picture of the usual sizes ({problem}); give --set system.size=N")


def _sizes(
    shape: Sequence[Any], layout: str, metadata: Mapping[str, str], given: Mapping[str, Any]
) -> list[tuple[int, int]]:
    """The sizes to try, (height, width): the one that is known, or the usual ones."""
    sides = list(shape)[-3:][1:] if layout == "nchw" else list(shape)[-3:][:2]
    if all(isinstance(side, int) and side > 0 for side in sides):
        return [(int(sides[0]), int(sides[1]))]
    told = given.get("size") or parse_literal(metadata.get("imgsz", ""))
    if isinstance(told, int):
        return [(told, told)]
    if isinstance(told, (list, tuple)) and len(told) == 2:
        return [(int(told[0]), int(told[1]))]
    return [(side, side) for side in USUAL_SIZES]


def _ask(
    session: Any, port: Any, size: tuple[int, int], layout: str, level: int
) -> dict[str, npt.NDArray[Any]]:
    kind = TYPES.get(port.type, np.float32)
    shape = (3, *size) if layout == "nchw" else (*size, 3)
    shown = np.full(shape if len(port.shape) == 3 else (1, *shape), level, kind)
    answers = zip(session.get_outputs(), session.run(None, {port.name: shown}))
    return {one.name: value for one, value in answers}


def _from_outputs(seen: _Seen, classes: int | None) -> tuple[Any, int | None] | None:
    """The head, and how many classes it has; None where that cannot be told."""
    tables = [one[0] for one in seen.outputs[-1].values() if one.ndim == 3 and one.shape[0] == 1]
    if len(seen.outputs[-1]) == 1 and len(tables) == 1:
        rows, columns = tables[0].shape
        wide = min(rows, columns)
        # Which side has the boxes: there are far more of them than classes, but for finished tables.
        if columns in (6, 7) and rows <= 1000:
            return _finished(columns), classes
        many = len(COCO_NAMES) if classes is None else classes
        raw = tables[0] if columns == wide else tables[0].T
        kind = {4 + many: "yolov8", 5 + many: "yolov5"}.get(wide)
        if kind == "yolov5" and _are_offsets(raw, seen.size):
            return "yolox", many
        if kind is not None:
            return ({"kind": kind, "unit": "shares"} if _unit(raw) == "shares" else kind), many
        if classes is not None:
            return None
        return ("yolov8", wide - 4) if columns > rows else None
    outputs = list(seen.outputs[-1].values())
    if len(outputs) == 1 and outputs[0].ndim == 2 and outputs[0].shape[1] in (6, 7) and len(outputs[0]) != 1:
        return _finished(outputs[0].shape[1]), classes
    names = [name.rpartition("/")[2].partition(":")[0] for name in seen.outputs[-1]]
    if {"detection_boxes", "detection_classes", "detection_scores"} <= set(names):
        return "tensorflow", None
    kinds = sorted((one.ndim, one.dtype.kind) for one in outputs)
    if kinds == [(1, "f"), (1, "i"), (2, "f")] and any(one.shape[1:] == (4,) for one in outputs):
        return "torchvision", None
    return _boxes_and_scores(tables, classes) if len(outputs) == len(tables) == 2 else None


def _boxes_and_scores(tables: Sequence[npt.NDArray[Any]], classes: int | None) -> tuple[Any, int] | None:
    """A row of classes for each box: DETR's logits, with centres and sides as shares of the picture; or
    probabilities, with corners, as SSD and many exports have them.
    """
    boxes, scores = sorted(tables, key=lambda one: one.shape[1])
    if boxes.shape[1] != 4 or len(boxes) != len(scores):
        return None
    many = len(COCO_NAMES) if classes is None else classes
    wide = scores.shape[1]
    if scores.min() >= 0 and scores.max() <= 1:
        if (boxes[:, 2:] < boxes[:, :2]).any() or wide not in (many, many + 1):
            return None
        return {"kind": "ssd", "unit": _unit(boxes), "background": wide > many}, many
    if boxes.min() < 0 or boxes.max() > 1:
        return None
    if classes is None and wide in (COCO_LAST + 1, COCO_LAST + 2):  # by COCO's own numbers, from 1
        many = COCO_LAST
    first = int(many == COCO_LAST and classes is None)
    for kind, beside in (("sigmoid", 0), ("softmax", 1)):
        if wide == first + many + beside:
            return {"kind": "detr", "scores": kind, "first": first}, many
    return None


def _unit(boxes: npt.NDArray[Any]) -> str:
    """Whether boxes are in pixels or in shares of the picture, over which some reach a little."""
    return "pixels" if boxes[:, :4].max() > MOST_SHARE else "shares"


def _finished(columns: int) -> Declaration:
    corners = ["x1", "y1", "x2", "y2"]
    more = ["score", "class"] if columns == 6 else ["class", "score"]
    return {"kind": "table", "columns": [*(["-"] if columns == 7 else []), *corners, *more]}


def _are_offsets(rows: npt.NDArray[Any], size: tuple[int, int]) -> bool:
    """Whether boxes are written as offsets within the cells of three grids: then there is a row for each
    cell, and no centre is farther than a few cells.
    """
    cells = sum((size[0] // stride) * (size[1] // stride) for stride in STRIDES)
    return len(rows) == cells and float(np.abs(rows[:, :2]).max()) < min(size) / 4
