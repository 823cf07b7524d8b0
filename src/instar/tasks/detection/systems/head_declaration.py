"""From what a user declares to a head: a name, a table with options, or a function of the user's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from instar.core.errors import BadInput, UnknownName
from instar.core.options import require_one_of
from instar.tasks.detection.systems import heads
from instar.tasks.detection.systems.grids import grid
from instar.tasks.detection.systems.heads import DecodedBoxes, Head, Outputs

HEADS: Mapping[str, Callable[..., Head]] = {
    "yolox": partial(grid, boxes="offsets"),
    "yolov5": heads.yolov5,
    "yolov8": heads.yolov8,
    "ssd": heads.ssd,
    "tensorflow": heads.tensorflow,
    "table": heads.finished_table,
    "torchvision": heads.torchvision,
    "detr": heads.detr,
    "grid": grid,
}


def make_head(declared: str | Mapping[str, Any], classes: int) -> Head:
    """The head for a network with so many classes.

    A table has the name of the head as `kind` beside its options. `module:function` is called with the
    outputs by name and the size (height, width) of the input, and gives boxes, classes and scores.
    """
    if isinstance(declared, str):
        if ":" in declared:
            return Head(_users(declared))
        declared = {"kind": declared}
    if not isinstance(declared, Mapping) or "kind" not in declared:
        raise BadInput(f"onnx: head is {declared!r}; give a name, module:function, or a table with its kind")
    options = dict(declared)
    kind = options.pop("kind")
    require_one_of("onnx", "head", kind, HEADS)
    known = list(inspect.signature(HEADS[kind]).parameters.values())[1:]
    for name in options:
        if name not in [parameter.name for parameter in known]:
            unknown = UnknownName("option", name, [parameter.name for parameter in known])
            raise BadInput(f"onnx: head {kind}: {unknown}")
    missing = [p.name for p in known if p.default is p.empty and p.name not in options]
    if missing:
        raise BadInput(f'onnx: head {kind} needs {missing[0]}; give head = {{kind = "{kind}", ...}}')
    try:
        return HEADS[kind](classes, **options)
    except (BadInput, ValueError, TypeError) as error:
        raise BadInput(f"onnx: {error}") from None


def _users(name: str) -> Callable[[Outputs, tuple[int, int]], DecodedBoxes]:
    """The user's function, whose answer is checked."""
    module, _, attribute = name.partition(":")
    try:
        function = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise BadInput(f"onnx: head {name!r} cannot be imported: {error}") from error

    def decode(outputs: Outputs, size: tuple[int, int]) -> DecodedBoxes:
        given = function(dict(outputs), size)
        try:
            boxes, classes, scores = (np.asarray(part) for part in given)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must give boxes, classes and scores") from None
        boxes = boxes if boxes.size else boxes.reshape(-1, 4)
        if boxes.ndim != 2 or boxes.shape[1:] != (4,) or not len(boxes) == len(classes) == len(scores):
            shapes = f"{boxes.shape}, {classes.shape}, {scores.shape}"
            raise ValueError(f"{name} must give boxes (n, 4), classes (n) and scores (n); it gave {shapes}")
        heads.require_probabilities(scores)
        return boxes.astype(np.float32), classes.astype(np.intp), scores.astype(np.float32)

    return decode
