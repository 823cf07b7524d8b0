"""What one case costs without the detector: draw + apply + check + store, beside a HOG pair of scikit-image.

Both are CPU milliseconds of this process on 640 x 480 pictures, taken in one run. The detector is
replaced by one that knows the drawn scenes' objects and answers at once, so what is left is ours.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import cv2
import numpy as np
from skimage.feature import hog

import instar
from instar.tasks.detection import Detections, guided, insertion
from instar.worlds import street

SCENES, PER_OBJECT = 20, 6


class AnswersAtOnce:
    """The same boxes for every picture: no work at all, and nothing ever contradicts."""

    name = "answers-at-once"

    def __init__(self, scene: instar.Scene) -> None:
        boxes = np.float32([thing.box for thing in scene.objects or ()])
        self._answer = Detections(
            boxes, tuple(o.label for o in scene.objects or ()), np.full(len(boxes), 0.9, np.float32)
        )

    def predict(self, images: list[np.ndarray]) -> list[Detections]:
        return [self._answer] * len(images)


def cpu_ms_per_case(scenes: list[instar.Scene]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        # The first run builds the pool, which is no part of a case.
        out, cost = Path(folder) / "run", 0.0
        system = AnswersAtOnce(scenes[0])
        warm_up = instar.run(scenes, insertion(), system, search=guided(per_object=1), out=out)
        cases = sum(1 for _ in warm_up)
        relation = insertion(pool=out / "pool")
        began = time.process_time()
        cases = sum(
            1
            for _ in instar.run(scenes, relation, system, search=guided(per_object=PER_OBJECT), out=out / "b")
        )
        cost = time.process_time() - began
    return 1000 * cost / cases


def cpu_ms_of_hog_pair(a: np.ndarray, b: np.ndarray, times: int = 10) -> float:
    began = time.process_time()
    for _ in range(times):
        for image in (a, b):
            hog(image)
    return 1000 * (time.process_time() - began) / times


def main() -> None:
    # Held in memory: reading a scene is its loader's cost, paid once per scene and not per case.
    scenes = [instar.Scene.of(s.id, s.image, s.objects) for s in street.scenes(SCENES, size=(480, 640))]
    theirs = cpu_ms_of_hog_pair(*(cv2.cvtColor(s.image, cv2.COLOR_RGB2GRAY) for s in scenes[:2]))
    ours = cpu_ms_per_case(scenes)
    print(f"one case {ours:.2f} ms CPU, one HOG pair {theirs:.1f} ms CPU")
    print(f"ratio {ours / theirs:.3f} (at most 0.06)")


if __name__ == "__main__":
    main()
