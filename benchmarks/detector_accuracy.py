"""How accurate the zoo's detectors are on annotated photographs: AP at IoU 0.5 and the score of the best F1.

.venv/bin/python benchmarks/detector_accuracy.py --scenes ../shared/data/detection

That score is where the built-in confidences of the EfficientDets and of yolov4-tiny come from.
"""

from __future__ import annotations

import argparse
import time

import cv2
import numpy as np

from instar.campaigns.plan import Use
from instar.campaigns.resolve import resolve_system
from instar.core.scene import Scene
from instar.imaging.geometry import iou
from instar.scenes import load_scenes
from instar.tasks.detection.answers import Detections

DETECTORS = (
    "yolox-nano,ssd-mobilenet-v2,ssd-mobilenet-v3,efficientdet-lite0,efficientdet-lite1,efficientdet-lite2,"
    "yolov4-tiny"
)


def hits(found: Detections, scene: Scene) -> list[tuple[str, float, bool]]:
    """Label, score and whether it was right, of every box; boxes on a crowd of that label are left out."""
    truth = [thing for thing in scene.objects or () if not thing.crowd]
    crowds = [thing for thing in scene.objects or () if thing.crowd]
    boxes = np.array([thing.box for thing in truth], np.float32).reshape(-1, 4)
    taken: set[int] = set()
    result = []
    overlap = iou(found.boxes, boxes)
    on_crowd = iou(found.boxes, np.array([thing.box for thing in crowds], np.float32).reshape(-1, 4)) > 0.1
    for i in np.argsort(-found.scores, kind="stable").tolist():
        label = found.labels[i]
        fits = [
            j
            for j in range(len(truth))
            if j not in taken and truth[j].label == label and overlap[i, j] >= 0.5
        ]
        if fits:
            taken.add(max(fits, key=lambda j: overlap[i, j]))
        elif any(on and thing.label == label for on, thing in zip(on_crowd[i], crowds)):
            continue
        result.append((label, float(found.scores[i]), bool(fits)))
    return result


def average_precision(scored: list[tuple[float, bool]], positives: int) -> float:
    right = np.array([hit for _, hit in sorted(scored, key=lambda pair: -pair[0])], bool)
    precision = np.cumsum(right) / np.arange(1, len(right) + 1)
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    return float(envelope[right].sum() / positives)


def best_f1(scored: list[tuple[float, bool]], positives: int) -> tuple[float, float]:
    scored = sorted(scored, key=lambda pair: -pair[0])
    right = np.cumsum([hit for _, hit in scored])
    f1 = 2 * right / (np.arange(1, len(scored) + 1) + positives)
    best = int(f1.argmax())
    return float(f1[best]), scored[best][0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", required=True)
    parser.add_argument("--systems", default=DETECTORS)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    scenes = load_scenes(args.scenes)
    images = [scene.image for scene in scenes]
    positives: dict[str, int] = {}
    for scene in scenes:
        for thing in scene.objects or ():
            positives[thing.label] = positives.get(thing.label, 0) + (not thing.crowd)
    print(f"{len(scenes)} photographs, {sum(positives.values())} objects")
    for name in args.systems.split(","):
        system = resolve_system(Use(name))
        began = time.process_time()
        answers = [system.predict([image])[0] for image in images]
        cost = (time.process_time() - began) / len(images) * 1000
        rows = [row for answer, scene in zip(answers, scenes) for row in hits(answer, scene)]
        aps = [
            average_precision([(score, hit) for label, score, hit in rows if label == wanted], n)
            for wanted, n in positives.items()
            if n
        ]
        f1, at = best_f1([(score, hit) for _, score, hit in rows], sum(positives.values()))
        print(f"{name:20} AP50 {np.mean(aps):.3f}  best F1 {f1:.3f} at {at:.2f}  {cost:.0f} ms CPU")


if __name__ == "__main__":
    main()
