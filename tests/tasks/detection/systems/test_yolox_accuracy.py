"""The accuracy of yolox-nano against annotations, which a wrong decoder would spoil."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from instar.tasks.detection.coco_names import COCO_NAMES
from instar.tasks.detection.systems.onnx import yolox

PACK = Path(__file__).parents[5] / "shared" / "data" / "detection"


def annotated(path: Path):
    """A photograph with its true classes `int (n,)` and boxes `float (n, 4)`."""
    image = cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)
    height, width = image.shape[:2]
    text = (PACK / "yolo_boxes" / f"{path.stem}.txt").read_text()
    rows = np.array([line.split() for line in text.splitlines()], float).reshape(-1, 5)
    corner, extent = rows[:, 1:3] - rows[:, 3:5] / 2, rows[:, 3:5]
    return (
        image,
        rows[:, 0].astype(int),
        np.hstack([corner, corner + extent]) * [width, height, width, height],
    )


def overlaps(box, boxes):
    shared = np.maximum(np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2]), 0).prod(axis=1)
    return shared / ((box[2:] - box[:2]).prod() + (boxes[:, 2:] - boxes[:, :2]).prod(axis=1) - shared)


def average_precision(truth, answers, number):
    """VOC AP at IoU 0.5, every point, for one class over all photographs."""
    free = [boxes[classes == number].tolist() for _, classes, boxes in truth]
    total = sum(map(len, free))
    if total == 0:
        return None
    claims = sorted(
        (-float(score), i, tuple(box))
        for i, answer in enumerate(answers)
        for label, score, box in zip(answer.labels, answer.scores, answer.boxes.tolist())
        if label == COCO_NAMES[number]
    )
    hits = []
    for _, i, box in claims:
        overlap = overlaps(np.array(box), np.array(free[i])) if free[i] else np.zeros(1)
        hits.append(overlap.max() >= 0.5)
        if hits[-1]:
            free[i].pop(int(overlap.argmax()))
    right = np.cumsum(hits)
    precision = np.maximum.accumulate((right / np.arange(1, len(hits) + 1))[::-1])[::-1]
    return float((np.array(hits) * precision).sum() / total) if hits else 0.0


@pytest.mark.real
@pytest.mark.skipif(not PACK.is_dir(), reason="needs the annotated photographs of ../shared/data/detection")
def test_its_accuracy_on_annotated_photographs_is_that_of_the_network():
    detector = yolox("nano")
    truth = [annotated(path) for path in sorted((PACK / "images").glob("*.jpg"))]
    answers = [detector.predict([image])[0] for image, _, _ in truth]
    precisions = [average_precision(truth, answers, number) for number in range(80)]
    known = [p for p in precisions if p is not None]
    assert (len(truth), len(known)) == (64, 69)
    assert np.mean(known) == pytest.approx(0.535, abs=0.01)
