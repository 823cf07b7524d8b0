"""Detectors that OpenCV's network module runs: SSD from TensorFlow, YOLOv4-tiny from Darknet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from instar.adapters.picture_system import PictureSystem, hash_files, one_by_one
from instar.core.options import require_fraction
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.coco_names import COCO_IDS, COCO_NAMES
from instar.tasks.detection.systems.decode import Floats, sides, to_detections
from instar.tasks.detection.systems.heads import best_classes, corners_around
from instar.zoo import fetch

DECODER = 1
"""Counts up whenever the code below gives other answers for the same network output."""

# TensorFlow's class number -> place in COCO_NAMES; the numbers have gaps, and 0 is the background.
SSD_CLASSES = np.full(91, -1, np.intp)
SSD_CLASSES[list(COCO_IDS)] = np.arange(len(COCO_IDS))


@recorded
def ssd_mobilenet_v2(*, confidence: float = 0.4) -> PictureSystem[Detections]:
    """SSD MobileNet v2, 80 COCO classes, 300x300: the family of the MetaOD paper."""
    return _open("ssd-mobilenet-v2", ssd_mobilenet_v2, confidence)


@recorded
def ssd_mobilenet_v3(*, confidence: float = 0.5) -> PictureSystem[Detections]:
    """SSD MobileNet v3 large, 80 COCO classes, 320x320."""
    return _open("ssd-mobilenet-v3", ssd_mobilenet_v3, confidence)


@recorded
def yolov4_tiny(*, confidence: float = 0.3) -> PictureSystem[Detections]:
    """YOLOv4-tiny, 80 COCO classes, 416x416."""
    return _open("yolov4-tiny", yolov4_tiny, confidence)


def _open(
    name: str, factory: Callable[..., PictureSystem[Detections]], confidence: float
) -> PictureSystem[Detections]:
    require_fraction(name, "confidence", confidence)
    files = fetch(name)
    read, to_input, decode = NETWORKS[name]
    network = read(*(np.fromfile(path, np.uint8) for path in files))
    layers = network.getUnconnectedOutLayersNames()

    def find(image: Image) -> Detections:
        network.setInput(to_input(np.ascontiguousarray(image)))
        return decode(network.forward(layers), (image.shape[0], image.shape[1]), float(confidence))

    digest, version = hash_files(*files), cv2.__version__
    return PictureSystem(
        name,
        one_by_one(find),
        fingerprint=f"{name} weights={digest} confidence={confidence:g} decoder={DECODER} cv2={version}",
        recipe=partial(factory, confidence=confidence),
        batch=4,
        concurrent=False,  # a network of OpenCV holds the answer to one question at a time
        classes=COCO_NAMES,
    )


def _read_darknet(settings: npt.NDArray[np.uint8], weights: npt.NDArray[np.uint8]) -> Any:
    """The network, told to answer with weak boxes too: OpenCV would drop those below 0.2."""
    text = settings.tobytes().replace(b"[yolo]", b"[yolo]\nthresh=0.01")
    return cv2.dnn.readNetFromDarknet(np.frombuffer(text, np.uint8), weights)


def _decode_ssd(outputs: Sequence[Floats], size: tuple[int, int], confidence: float) -> Detections:
    """Rows of picture, class, score, x1, y1, x2, y2; corners as shares of the picture, duplicates gone."""
    rows = outputs[0].reshape(-1, 7)
    numbers = rows[:, 1].astype(np.intp)
    classes = SSD_CLASSES[np.clip(numbers, 0, len(SSD_CLASSES) - 1)]
    rows, classes = rows[classes >= 0], classes[classes >= 0]
    return to_detections(
        rows[:, 3:7] * sides(size), classes, rows[:, 2],
        names=COCO_NAMES, size=size, confidence=confidence, same_object=None,
    )  # fmt: skip


def _decode_yolo(outputs: Sequence[Floats], size: tuple[int, int], confidence: float) -> Detections:
    """Rows of centre, sides, objectness and 80 scores, which OpenCV has multiplied with it."""
    rows = np.concatenate(outputs)
    rows = rows[rows[:, 4] > 0]
    classes, scores = best_classes(rows[:, 5:])
    boxes = corners_around(rows[:, :2], rows[:, 2:4]) * sides(size)
    hopeful = scores >= 0.01
    return to_detections(
        boxes[hopeful], classes[hopeful], scores[hopeful],
        names=COCO_NAMES, size=size, confidence=confidence,
    )  # fmt: skip


def _blob(side: int, *, scale: float = 1.0, mean: float = 0.0) -> Callable[[Image], Any]:
    """The whole picture, RGB, stretched to a square of that side."""
    return partial(cv2.dnn.blobFromImage, scalefactor=scale, size=(side, side), mean=(mean, mean, mean))


NETWORKS: dict[str, tuple[Callable[..., Any], Callable[[Image], Any], Callable[..., Detections]]] = {
    "ssd-mobilenet-v2": (cv2.dnn.readNetFromTensorflow, _blob(300), _decode_ssd),
    "ssd-mobilenet-v3": (cv2.dnn.readNetFromTensorflow, _blob(320, scale=1 / 127.5, mean=127.5), _decode_ssd),
    "yolov4-tiny": (_read_darknet, _blob(416, scale=1 / 255), _decode_yolo),
}
