"""YOLOX, a one-stage detector without anchors, run by onnxruntime on the CPU."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # it ships no types

from instar.core.errors import UnknownName
from instar.core.scene import Image
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.coco_names import COCO_NAMES
from instar.tasks.detection.systems.decode import (
    LEAST_SCORE,
    Floats,
    finished,
    require_confidence,
    require_picture,
    require_threads,
)
from instar.zoo import fetch

__all__ = ["Yolox", "cells", "open_session", "yolox"]

SIZES = ("nano",)
STRIDES = (8, 16, 32)
PADDING = 114
DECODER = 1
"""Counts up whenever the code below gives other answers for the same network output."""


def yolox(size: str = "nano", *, confidence: float = 0.3, threads: int = 1) -> Yolox:
    """YOLOX, 80 COCO classes, 416x416; its weights are fetched if need be.

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
        require_confidence(name, confidence)
        require_threads(name, threads)
        content = weights.read_bytes()
        self.name = name
        self.fingerprint = (
            f"{name} weights={hashlib.sha256(content).hexdigest()[:16]} confidence={confidence:g} "
            f"threads={threads} decoder={DECODER} onnxruntime={onnxruntime.__version__} cv2={cv2.__version__}"
        )
        self._recipe = partial(Yolox, weights, name=name, confidence=confidence, threads=threads)
        self._confidence = float(confidence)
        self._session = open_session(content, threads)
        (network_input,) = self._session.get_inputs()
        self._input_name: str = network_input.name
        self._side: int = network_input.shape[-1]
        self._cells = cells((self._side, self._side))

    def __reduce__(self) -> tuple[Callable[[], Yolox], tuple[()]]:
        # A session cannot be pickled; a worker process opens its own.
        return self._recipe, ()

    def predict(self, images: Sequence[Image]) -> list[Detections]:
        """The objects of each picture `uint8 (H, W, 3)` RGB, strongest first."""
        return [self._find(image) for image in images]

    def _find(self, image: Image) -> Detections:
        require_picture(image)
        network_input, scale = _letterbox(image, self._side)
        (output,) = self._session.run(None, {self._input_name: network_input})
        return _decode(output[0], self._cells, scale, image.shape[:2], self._confidence)


def open_session(weights: bytes, threads: int) -> Any:
    """A network on the CPU, with so many threads and no more."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])


def cells(size: tuple[int, int]) -> Floats:
    """The grid cell of each output row: `float32 (rows, 3)`, column, row and stride."""
    levels = []
    for stride in STRIDES:
        height, width = size[0] // stride, size[1] // stride
        rows, columns = np.divmod(np.arange(height * width), width)
        levels.append(np.stack([columns, rows, np.full(height * width, stride)], axis=1))
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

    stride = cells[:, 2:]
    centres = (output[:, 0:2] + cells[:, 0:2]) * stride
    halves = np.exp(output[:, 2:4]) * stride * np.float32(0.5)
    boxes = np.concatenate([centres - halves, centres + halves], axis=1) * scale
    return finished(boxes, classes, scores, names=COCO_NAMES, size=size, confidence=confidence)
