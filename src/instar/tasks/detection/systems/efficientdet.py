"""EfficientDet-Lite 0 to 2, integer networks with anchors, run by LiteRT on the CPU."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any

import cv2
import numpy as np

from instar.adapters.picture_system import PictureSystem, hash_files, one_by_one
from instar.core.options import require_fraction, require_whole_number
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.installation import import_extra
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.coco_names import COCO_IDS, COCO_NAMES
from instar.tasks.detection.systems.decode import LEAST_SCORE, Floats, fit_picture, to_detections
from instar.tasks.detection.systems.heads import best_classes, corners_around
from instar.zoo import fetch

LEVELS = (3, 4, 5, 6, 7)  # of the pyramid: cells of 8 to 128 pixels
OCTAVES = (0, 1 / 3, 2 / 3)
RATIOS = (1.0, 2.0, 0.5)  # width over height
ANCHOR = 3.0  # sides of an anchor in cells
CLASSES = 90
CHANNELS = np.array(COCO_IDS, np.intp) - 1  # of the network's; COCO's numbers have gaps
DECODER = 2
"""Counts up whenever the code below gives other answers for the same network output."""


@recorded
def efficientdet_lite0(*, confidence: float = 0.32, threads: int = 1) -> PictureSystem[Detections]:
    """EfficientDet-Lite0, 80 COCO classes, 320x320, 8-bit integers; needs the extra 'litert'."""
    again = partial(efficientdet_lite0, confidence=confidence, threads=threads)
    return _open("efficientdet-lite0", confidence, threads, again)


@recorded
def efficientdet_lite1(*, confidence: float = 0.32, threads: int = 1) -> PictureSystem[Detections]:
    """EfficientDet-Lite1, 80 COCO classes, 384x384, 8-bit integers; needs the extra 'litert'."""
    again = partial(efficientdet_lite1, confidence=confidence, threads=threads)
    return _open("efficientdet-lite1", confidence, threads, again)


@recorded
def efficientdet_lite2(*, confidence: float = 0.36, threads: int = 1) -> PictureSystem[Detections]:
    """EfficientDet-Lite2, 80 COCO classes, 448x448, 8-bit integers; needs the extra 'litert'."""
    again = partial(efficientdet_lite2, confidence=confidence, threads=threads)
    return _open("efficientdet-lite2", confidence, threads, again)


def _open(
    name: str, confidence: float, threads: int, again: Callable[[], PictureSystem[Detections]]
) -> PictureSystem[Detections]:
    """The network of that name in the zoo; `again` makes it anew elsewhere."""
    (weights,) = fetch(name)
    require_fraction(name, "confidence", confidence)
    require_whole_number(name, "threads", threads, least=1)
    content = weights.read_bytes()
    networks = threading.local()  # one holds the answer to one question at a time

    def interpreter() -> Any:
        if not hasattr(networks, "own"):
            litert = import_extra(
                "ai_edge_litert.interpreter", "ai-edge-litert", extra="litert", needed_for=name
            )
            networks.own = litert.Interpreter(model_content=content, num_threads=threads)
            networks.own.allocate_tensors()
        return networks.own

    side = int(interpreter().get_input_details()[0]["shape"][1])
    anchors = _anchors(side)
    deltas_at, scores_at = (_index(interpreter(), (1, len(anchors), wide)) for wide in (4, CLASSES))

    def find(image: Image) -> Detections:
        network = interpreter()
        fitted, scale, _ = fit_picture(image, (side, side), "corner", 0)
        network.set_tensor(network.get_input_details()[0]["index"], fitted[None])
        network.invoke()
        deltas, scores = network.get_tensor(deltas_at)[0], network.get_tensor(scores_at)[0]
        return _decode(deltas, scores, anchors, scale, image.shape[:2], float(confidence))

    return PictureSystem(
        name,
        one_by_one(find),
        fingerprint=f"{name} weights={hash_files(weights)} confidence={confidence:g} threads={threads} "
        f"decoder={DECODER} litert={version('ai-edge-litert')} cv2={cv2.__version__}",
        recipe=again,
        classes=COCO_NAMES,
    )


def _index(network: Any, shape: tuple[int, ...]) -> int:
    """Where the network keeps the one tensor of floats of that shape.

    Lite0 answers with these tensors. The others feed them to their last operation, which makes at most 25
    boxes of them, too few to see whether an object is lost or only weak; nothing overwrites them.
    """
    (index,) = [
        tensor["index"]
        for tensor in network.get_tensor_details()
        if tensor["dtype"] is np.float32 and tuple(tensor["shape"]) == shape
    ]
    return int(index)


def _anchors(side: int) -> Floats:
    """`float32 (n, 4)`: centre y, x and height, width of every anchor in pixels, in the network's order."""
    levels = []
    for level in LEVELS:
        count = -(-side // 2**level)
        stride = side / count  # the cells of a level fill the picture, also where 2**level does not
        cells = (np.arange(count) + 0.5) * stride
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
    classes, best = best_classes(scores)
    centres = deltas[:, :2] * anchors[:, 2:] + anchors[:, :2]
    boxes = corners_around(centres, np.exp(deltas[:, 2:]) * anchors[:, 2:])[:, [1, 0, 3, 2]] * scale
    return to_detections(boxes, classes, best, names=COCO_NAMES, size=size, confidence=confidence)
