"""EfficientDet-Lite0, an integer network with anchors, run by LiteRT on the CPU."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from instar.core.errors import MissingExtra
from instar.core.options import require_fraction, require_picture, require_whole_number
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.coco_names import COCO_IDS, COCO_NAMES
from instar.tasks.detection.systems.decode import LEAST_SCORE, Floats, to_detections
from instar.tasks.detection.systems.preprocess import fit_picture
from instar.zoo import fetch

__all__ = ["EfficientDet", "efficientdet_lite0"]

NAME = "efficientdet-lite0"
LEVELS = (3, 4, 5, 6, 7)  # of the pyramid: cells of 8 to 128 pixels
OCTAVES = (0, 1 / 3, 2 / 3)
RATIOS = (1.0, 2.0, 0.5)  # width over height
ANCHOR = 3.0  # sides of an anchor in cells
CHANNELS = np.array(COCO_IDS, np.intp) - 1  # of the network's 90; COCO's numbers have gaps
DECODER = 1
"""Counts up whenever the code below gives other answers for the same network output."""


@recorded
def efficientdet_lite0(*, confidence: float = 0.32, threads: int = 1) -> EfficientDet:
    """EfficientDet-Lite0, 80 COCO classes, 320x320, 8-bit integers; needs the extra 'litert'."""
    (weights,) = fetch(NAME)
    return EfficientDet(weights, confidence=confidence, threads=threads)


class EfficientDet:
    """The network in a file. Every picture is asked on its own, so its neighbours do not matter."""

    name = NAME
    batch = 8
    concurrent = True

    def __init__(self, weights: Path, *, confidence: float, threads: int) -> None:
        require_fraction(NAME, "confidence", confidence)
        require_whole_number(NAME, "threads", threads, least=1)
        self._content = weights.read_bytes()
        digest = hashlib.sha256(self._content).hexdigest()[:16]
        self._recipe = partial(EfficientDet, weights, confidence=confidence, threads=threads)
        self._confidence, self._threads = float(confidence), threads
        self._interpreters = threading.local()  # one holds the answer to one question at a time
        first = self._interpreter()
        self.fingerprint = (
            f"{NAME} weights={digest} confidence={confidence:g} threads={threads} decoder={DECODER} "
            f"litert={version('ai-edge-litert')} cv2={cv2.__version__}"
        )
        self._side: int = int(first.get_input_details()[0]["shape"][1])
        self._anchors = _anchors(self._side)

    def __reduce__(self) -> tuple[Callable[[], EfficientDet], tuple[()]]:
        # An interpreter cannot be pickled; a worker process opens its own.
        return self._recipe, ()

    def predict(self, images: Sequence[Image]) -> list[Detections]:
        """The objects of each picture `uint8 (H, W, 3)` RGB, strongest first."""
        return [self._find(image) for image in images]

    def _find(self, image: Image) -> Detections:
        require_picture(image)
        network = self._interpreter()
        fitted, scale, _ = fit_picture(image, (self._side, self._side), "corner", 0)
        network.set_tensor(network.get_input_details()[0]["index"], fitted[None])
        network.invoke()
        outputs = [network.get_tensor(output["index"])[0] for output in network.get_output_details()]
        deltas, scores = sorted(outputs, key=lambda output: output.shape[1])
        return _decode(deltas, scores, self._anchors, scale, image.shape[:2], self._confidence)

    def _interpreter(self) -> Any:
        if not hasattr(self._interpreters, "own"):
            self._interpreters.own = _open(self._content, self._threads)
        return self._interpreters.own


def _anchors(side: int) -> Floats:
    """`float32 (n, 4)`: centre y, x and height, width of every anchor in pixels, in the network's order."""
    levels = []
    for level in LEVELS:
        stride = 2**level
        cells = (np.arange(-(-side // stride)) + 0.5) * stride
        y, x = np.meshgrid(cells, cells, indexing="ij")
        shapes = [
            (ANCHOR * stride * 2**octave / ratio**0.5, ANCHOR * stride * 2**octave * ratio**0.5)
            for octave in OCTAVES
            for ratio in RATIOS
        ]
        centres = np.repeat(np.stack([y.ravel(), x.ravel()], axis=1), len(shapes), axis=0)
        levels.append(np.concatenate([centres, np.tile(shapes, (y.size, 1))], axis=1))
    return np.concatenate(levels).astype(np.float32)


def _decode(
    deltas: Floats, scores: Floats, anchors: Floats, scale: Floats, size: tuple[int, int], confidence: float
) -> Detections:
    """From `float32 (n, 4)` offsets y, x, height, width of the anchors and `float32 (n, 90)` scores."""
    # Comparing all and then looking which is many times faster here than the largest of each row.
    hopeful = np.unique(np.flatnonzero(scores >= LEAST_SCORE) // scores.shape[1])
    scores, deltas, anchors = scores[hopeful][:, CHANNELS], deltas[hopeful], anchors[hopeful]
    classes = scores.argmax(axis=1)
    centres = deltas[:, :2] * anchors[:, 2:] + anchors[:, :2]
    halves = np.exp(deltas[:, 2:]) * anchors[:, 2:] / 2
    boxes = np.concatenate([centres - halves, centres + halves], axis=1)[:, [1, 0, 3, 2]] * scale
    best = scores[np.arange(len(scores)), classes]
    return to_detections(boxes, classes, best, names=COCO_NAMES, size=size, confidence=confidence)


def _open(content: bytes, threads: int) -> Any:
    network = _litert().Interpreter(model_content=content, num_threads=threads)
    network.allocate_tensors()
    return network


def _litert() -> Any:
    try:
        from ai_edge_litert import interpreter
    except ImportError:
        raise MissingExtra("ai-edge-litert", extra="litert", needed_for=NAME) from None
    return interpreter
