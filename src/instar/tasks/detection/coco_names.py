"""The 80 COCO classes: their names in the order in which detectors number them, and COCO's own numbers."""

from __future__ import annotations

COCO_NAMES: tuple[str, ...] = (
    *("person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat"),
    *("traffic light", "fire hydrant", "stop sign", "parking meter", "bench"),
    *("bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe"),
    *("backpack", "umbrella", "handbag", "tie", "suitcase"),
    *("frisbee", "skis", "snowboard", "sports ball", "kite", "baseball bat", "baseball glove"),
    *("skateboard", "surfboard", "tennis racket"),
    *("bottle", "wine glass", "cup", "fork", "knife", "spoon", "bowl"),
    *("banana", "apple", "sandwich", "orange", "broccoli", "carrot", "hot dog", "pizza", "donut", "cake"),
    *("chair", "couch", "potted plant", "bed", "dining table", "toilet"),
    *("tv", "laptop", "mouse", "remote", "keyboard", "cell phone"),
    *("microwave", "oven", "toaster", "sink", "refrigerator"),
    *("book", "clock", "vase", "scissors", "teddy bear", "hair drier", "toothbrush"),
)

COCO_IDS: tuple[int, ...] = tuple(
    number for number in range(1, 91) if number not in (12, 26, 29, 30, 45, 66, 68, 69, 71, 83)
)
"""The number of each class in COCO's own files, 1 to 90; ten of them were never used."""
