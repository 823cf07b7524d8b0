"""YOLOX, a one-stage detector without anchors, run by onnxruntime on the CPU."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import cv2
import onnxruntime  # type: ignore[import-untyped]  # it ships no types

from instar.core.errors import UnknownName
from instar.core.options import require_fraction, require_picture, require_whole_number
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.coco_names import COCO_NAMES
from instar.tasks.detection.systems.decode import to_detections
from instar.tasks.detection.systems.heads import decode_yolox
from instar.tasks.detection.systems.onnx import open_session
from instar.tasks.detection.systems.preprocess import fit_picture
from instar.zoo import fetch

__all__ = ["Yolox", "yolox"]

SIZES = ("nano",)
PADDING = 114
DECODER = 1
"""Counts up whenever the code below, or its head, gives other answers for the same network output."""


@recorded
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
        require_fraction(name, "confidence", confidence)
        require_whole_number(name, "threads", threads, least=1)
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

    def __reduce__(self) -> tuple[Callable[[], Yolox], tuple[()]]:
        # A session cannot be pickled; a worker process opens its own.
        return self._recipe, ()

    def predict(self, images: Sequence[Image]) -> list[Detections]:
        """The objects of each picture `uint8 (H, W, 3)` RGB, strongest first."""
        return [self._find(image) for image in images]

    def _find(self, image: Image) -> Detections:
        require_picture(image)
        size = (self._side, self._side)
        fitted, scale, _ = fit_picture(image, size, "corner", PADDING)
        network_input = cv2.dnn.blobFromImage(fitted, swapRB=True)  # BGR, 0 to 255
        outputs = self._session.run(None, {self._input_name: network_input})
        boxes, classes, scores = decode_yolox(outputs, size)
        return to_detections(
            boxes * scale, classes, scores,
            names=COCO_NAMES, size=image.shape[:2], confidence=self._confidence,
        )  # fmt: skip
