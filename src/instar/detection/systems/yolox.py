"""YOLOX, a one-stage detector without anchors, run by onnxruntime on the CPU."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import onnxruntime  # type: ignore[import-untyped]  # it ships no types

from instar.detection.answers import Detections
from instar.detection.coco_names import COCO_NAMES
from instar.errors import BadInput, UnknownName
from instar.scene import Image
from instar.zoo import fetch

__all__ = ["Yolox", "yolox"]

Floats = npt.NDArray[np.float32]

SIZES = ("nano",)
STRIDES = (8, 16, 32)
PADDING = 114
LEAST_SCORE = np.float32(0.05)
"""Weaker boxes are not reported."""
SAME_OBJECT = 0.45
"""The overlap (IoU) above which the weaker of two boxes of one class is dropped."""
DECODER = 1
"""Counts up whenever the code below gives other answers for the same network output."""


def yolox(size: str = "nano", *, confidence: float = 0.3, threads: int = 1) -> Yolox:
    """The detector of that size, its weights fetched if need be.

    `confidence` is the score from which on an object counts as found; every box of at least 0.05 is
    reported. One thread makes answers repeatable to the bit and lets a campaign run several at once.
    """
    if size not in SIZES:
        raise UnknownName("YOLOX size", size, SIZES)
    (weights,) = fetch(f"yolox-{size}")
    return Yolox(weights, name=f"yolox-{size}", confidence=confidence, threads=threads)


class Yolox:
    """A YOLOX network in a file. Every picture is asked on its own, so its neighbours do not matter."""

    batch = 8
    concurrent = True

    def __init__(self, weights: Path, *, name: str, confidence: float, threads: int) -> None:
        if not (isinstance(confidence, (int, float)) and 0 <= confidence <= 1):
            raise BadInput(f"{name}: confidence is {confidence!r}; it must be a number between 0 and 1")
        if not (isinstance(threads, int) and threads >= 1):
            raise BadInput(f"{name}: threads is {threads!r}; it must be a whole number of at least 1")
        content = weights.read_bytes()
        self.name = name
        self.fingerprint = (
            f"{name} weights={hashlib.sha256(content).hexdigest()[:16]} confidence={confidence:g} "
            f"threads={threads} decoder={DECODER} onnxruntime={onnxruntime.__version__} cv2={cv2.__version__}"
        )
        self._recipe = partial(Yolox, weights, name=name, confidence=confidence, threads=threads)
        self._confidence = float(confidence)
        self._session = _session(content, threads)
        (network_input,) = self._session.get_inputs()
        self._input_name: str = network_input.name
        self._side: int = network_input.shape[-1]
        self._cells = _cells(self._side)

    def __reduce__(self) -> tuple[Callable[[], Yolox], tuple[()]]:
        # A session cannot be pickled; a worker process opens its own.
        return self._recipe, ()

    def predict(self, images: Sequence[Image]) -> list[Detections]:
        """The objects of each picture `uint8 (H, W, 3)` RGB, strongest first."""
        return [self._find(image) for image in images]

    def _find(self, image: Image) -> Detections:
        if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
            raise ValueError(f"the picture is {image.dtype} {image.shape}; it must be uint8 (H, W, 3)")
        network_input, scale = _letterbox(image, self._side)
        (output,) = self._session.run(None, {self._input_name: network_input})
        return _decode(output[0], self._cells, scale, image.shape[:2], self._confidence)


def _session(weights: bytes, threads: int) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])


def _cells(side: int) -> Floats:
    """The grid cell of each output row: `float32 (rows, 3)`, column, row and stride."""
    levels = []
    for stride in STRIDES:
        n = side // stride
        rows, columns = np.divmod(np.arange(n * n), n)
        levels.append(np.stack([columns, rows, np.full(n * n, stride)], axis=1))
    return np.concatenate(levels).astype(np.float32)


def _letterbox(image: Image, side: int) -> tuple[Floats, Floats]:
    """The picture fitted into the top left of a grey square, as the network wants it.

    Returns `float32 (1, 3, side, side)` in BGR, 0 to 255, and what x, y, x, y of the square are to be
    multiplied by to get back to the picture.
    """
    height, width = image.shape[:2]
    ratio = min(side / height, side / width)
    new_height, new_width = max(1, round(height * ratio)), max(1, round(width * ratio))
    square = np.full((side, side, 3), PADDING, np.uint8)
    square[:new_height, :new_width] = cv2.resize(image, (new_width, new_height))
    scale = np.array([width / new_width, height / new_height] * 2, np.float32)
    return np.asarray(cv2.dnn.blobFromImage(square, swapRB=True), np.float32), scale


def _decode(
    output: Floats, cells: Floats, scale: Floats, size: tuple[int, int], confidence: float
) -> Detections:
    """Detections from the network's output `float32 (rows, 85)`: centre, size, objectness, classes."""
    # A score is objectness times class, both at most 1: weak rows can go before any other work.
    hopeful = np.flatnonzero(output[:, 4] >= LEAST_SCORE)
    output, cells = output[hopeful], cells[hopeful]
    classes = output[:, 5:].argmax(axis=1)
    scores = output[:, 4] * output[np.arange(len(output)), 5 + classes]

    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] >= LEAST_SCORE]
    output, cells, classes, scores = output[order], cells[order], classes[order], scores[order]
    stride = cells[:, 2:]
    centres = (output[:, 0:2] + cells[:, 0:2]) * stride
    halves = np.exp(output[:, 2:4]) * stride * np.float32(0.5)
    boxes = np.concatenate([centres - halves, centres + halves], axis=1) * scale

    keep = _strongest(boxes, classes)
    height, width = size
    boxes = np.clip(boxes[keep], 0, np.array([width, height, width, height], np.float32))
    # A box wholly in the grey border has nothing left.
    inside = (boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1])
    keep, boxes = keep[inside], boxes[inside]
    labels = tuple([COCO_NAMES[i] for i in classes[keep].tolist()])
    return Detections(boxes, labels, scores[keep], confidence)


def _strongest(boxes: Floats, classes: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Indices of the boxes left when each drops the weaker ones of its class that it overlaps.

    `boxes` come strongest first.
    """
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    shared_width = np.minimum(x2[:, None], x2) - np.maximum(x1[:, None], x1)
    shared_height = np.minimum(y2[:, None], y2) - np.maximum(y1[:, None], y1)
    shared = np.maximum(shared_width, 0) * np.maximum(shared_height, 0)
    drops = shared > SAME_OBJECT * (areas[:, None] + areas - shared)
    drops &= classes[:, None] == classes
    alive = np.ones(len(boxes), np.bool_)
    for i in range(len(boxes)):
        if alive[i]:
            alive[i + 1 :] &= ~drops[i, i + 1 :]
    return np.flatnonzero(alive)
