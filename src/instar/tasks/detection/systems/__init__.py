"""Detectors that are ready to be tested."""

from __future__ import annotations

from instar.tasks.detection.systems.efficientdet import EfficientDet, efficientdet_lite0
from instar.tasks.detection.systems.onnx import OnnxDetector, onnx_detector
from instar.tasks.detection.systems.opencv import (
    OpenCVDetector,
    ssd_mobilenet_v2,
    ssd_mobilenet_v3,
    yolov4_tiny,
)
from instar.tasks.detection.systems.yolox import Yolox, yolox

__all__ = [
    "EfficientDet",
    "OnnxDetector",
    "OpenCVDetector",
    "Yolox",
    "efficientdet_lite0",
    "onnx_detector",
    "ssd_mobilenet_v2",
    "ssd_mobilenet_v3",
    "yolov4_tiny",
    "yolox",
]
