"""What a detector in a file is like, as far as the file and its answers to blank pictures tell."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.adapters.imagenet import IMAGENET_DEVIATION, IMAGENET_MEAN
from instar.adapters.openvino_session import open_openvino
from instar.adapters.torch_session import open_torch
from instar.core.errors import BadInput
from instar.core.system import describe_error
from instar.imaging.onnx_session import open_onnx
from instar.tasks.detection.coco_names import COCO_NAMES
from instar.tasks.detection.systems.head_declaration import HEADS
from instar.tasks.detection.systems.onnx_input import TYPES

__all__ = ["describe_file"]

USUAL_SIZES = (640, 416, 512, 320, 300)
STRIDES = (8, 16, 32)
COCO_LAST = 90
DETR = {"divide": 1.0, "mean": list(IMAGENET_MEAN), "std": list(IMAGENET_DEVIATION)}
"""What DETR wants to see; RT-DETR, whose 80 classes begin at 0, takes shares of white."""
YOLOX = {"colour": "bgr", "divide": 1.0, "fit": "corner"}
"""What YOLOX's own exports want to see."""
PICTURES = (0, 114)  # a black and a grey one

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


def describe_file(model: str, given: Mapping[str, Any]) -> Declaration:
    """The options of `onnx` or `torch-detector` that a file tells; `given` are those that the user gave.

    BadInput says what was seen and what to give where that is not enough.
    """
    if "head" in given and "labels" in given:
        return {}
    seen = _look(Path(model), given)
    names = _names(seen.metadata)
    labels = given.get("labels")
    classes = len(names) if names else len(labels) if isinstance(labels, (list, tuple)) else None
    found = _from_outputs(seen, classes)
    if found is None:
        raise BadInput(
            f"{seen}; how to read that cannot be told: give --set system.head=NAME (of {', '.join(HEADS)}) "
            "and --set system.labels=FILE"
        )
    head, wide = found
    declared: Declaration = {"head": head, "size": list(seen.size), "layout": seen.layout}
    declared |= YOLOX if head == "yolox" else {}
    if isinstance(head, dict) and head["kind"] == "detr":
        declared |= {"fit": "stretch", **(DETR if head["first"] or head["scores"] == "softmax" else {})}
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
    metadata: Mapping[str, str] = {}
    try:
        if model.suffix == ".onnx":
            session = open_onnx(str(model), 1)
            metadata = session.get_modelmeta().custom_metadata_map
        elif model.suffix == ".xml":
            session = open_openvino(model, 1)
        else:
            session = open_torch(model, given.get("network"), 1)
    except BadInput:
        raise
    except Exception as error:  # whatever onnxruntime raises at what is no network
        raise BadInput(f"{model} is no network that can be run: {describe_error(error)[:300]}") from None
    wanted = session.get_inputs()
    pictures = [one for one in wanted if len(one.shape) in (3, 4)]
    if len(wanted) != 1 or not pictures:
        listed = ", ".join(f"{one.name} {list(one.shape)}" for one in wanted)
        raise BadInput(f"{model} takes {listed}; give --set system.head=NAME, labels and also for the others")
    (port,) = pictures
    layout = "nhwc" if port.shape[-1] == 3 else "nchw"
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
    told = given.get("size") or _literal(metadata.get("imgsz", ""))
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
        if wide == 4 + many:
            return "yolov8", many
        if wide == 5 + many:
            raw = tables[0] if columns == wide else tables[0].T
            return ("yolox" if _are_offsets(raw, seen.size) else "yolov5"), many
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
    return _set_of_queries(tables, classes) if len(outputs) == len(tables) == 2 else None


def _set_of_queries(tables: Sequence[npt.NDArray[Any]], classes: int | None) -> tuple[Any, int] | None:
    """DETR's way: as many rows of classes as of boxes, which are shares of the picture."""
    boxes, logits = sorted(tables, key=lambda one: one.shape[1])
    if boxes.shape[1] != 4 or len(boxes) != len(logits) or boxes.min() < 0 or boxes.max() > 1:
        return None
    many = len(COCO_NAMES) if classes is None else classes
    wide = logits.shape[1]
    if classes is None and wide in (COCO_LAST + 1, COCO_LAST + 2):  # by COCO's own numbers, from 1
        many = COCO_LAST
    first = int(many == COCO_LAST and classes is None)
    for scores, beside in (("sigmoid", 0), ("softmax", 1)):
        if wide == first + many + beside:
            return {"kind": "detr", "scores": scores, "first": first}, many
    return None


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


def _names(metadata: Mapping[str, str]) -> list[str]:
    """The names of the classes that exporters write beside a network, in the order of their numbers."""
    told = _literal(metadata.get("names", ""))
    if isinstance(told, Mapping):
        return [str(told[key]) for key in sorted(told, key=int)]
    return [str(name) for name in told] if isinstance(told, list) else []


def _literal(text: str) -> Any:
    """A value that was written as a literal of Python; None for anything else."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
