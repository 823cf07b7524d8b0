"""How accurate the zoo's detectors are on annotated photographs: AP at IoU 0.5 and the score of the best F1.

.venv/bin/python benchmarks/detector_accuracy.py --scenes ../shared/data/detection

That score is where the built-in confidences of the EfficientDets and of yolov4-tiny come from.
"""

from __future__ import annotations

import argparse
import time

import cv2

from instar.campaigns.plan import Use
from instar.campaigns.resolve import resolve_system
from instar.core.scene import Observation
from instar.scenes import load_scenes
from instar.tasks.detection.accuracy import measure_accuracy

DETECTORS = (
    "yolox-nano,ssd-mobilenet-v2,ssd-mobilenet-v3,efficientdet-lite0,efficientdet-lite1,efficientdet-lite2,"
    "yolov4-tiny"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", required=True)
    parser.add_argument("--systems", default=DETECTORS)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    scenes = load_scenes(args.scenes)
    images = [scene.image for scene in scenes]
    for name in args.systems.split(","):
        system = resolve_system(Use(name))
        began = time.process_time()
        answers = [system.predict([image])[0] for image in images]
        cost = (time.process_time() - began) / len(images) * 1000
        seen = [Observation.of(image, answer, scene) for image, answer, scene in zip(images, answers, scenes)]
        told = measure_accuracy(seen)
        print(
            f"{name:20} AP50 {told['AP50']:.3f}  best F1 {told['best F1']:.3f} at {told['at confidence']:.2f}"
            f"  {cost:.0f} ms CPU ({told['pictures']} photographs, {told['objects']} objects)"
        )


if __name__ == "__main__":
    main()
