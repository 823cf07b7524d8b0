"""What detection's own parts cost: the oracles on 10 boxes, and the choice of a cut-out from 10,000.

CPU milliseconds of this process, beside one HOG pair of scikit-image on 640 x 480 taken in the same run.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from skimage.feature import hog

from instar.cutouts import Pool
from instar.cutouts.pool import CutOut
from instar.tasks.detection import Detections, map_equal, same_objects

BOXES, CUTOUTS = 10, 10_000


def cpu_ms(work: Callable[[], object], times: int) -> float:
    work()
    began = time.process_time()
    for _ in range(times):
        work()
    return 1000 * (time.process_time() - began) / times


def answers() -> tuple[Detections, Detections]:
    rng = np.random.default_rng(0)
    corners = rng.uniform(0, 500, (BOXES, 2))
    boxes = np.concatenate([corners, corners + rng.uniform(20, 120, (BOXES, 2))], axis=1).astype(np.float32)
    labels = tuple(str(label) for label in rng.choice(["person", "car", "dog"], BOXES))
    scores = rng.uniform(0.55, 0.99, BOXES).astype(np.float32)
    moved = boxes + rng.uniform(-2, 2, boxes.shape).astype(np.float32)
    return Detections(boxes, labels, scores), Detections(moved, labels, scores)


def pool(folder: Path) -> Pool:
    rng = np.random.default_rng(1)
    return Pool(
        folder,
        [
            CutOut(f"{i:032x}", "person", f"{i % 977}.jpg", 40, int(h), 900, int(rng.integers(0, 2**63)))
            for i, h in enumerate(rng.integers(40, 120, CUTOUTS))
        ],
    )


def main() -> None:
    before, after = answers()
    grey = np.random.default_rng(2).integers(0, 256, (480, 640)).astype(np.uint8)
    beside = cpu_ms(lambda: (hog(grey), hog(grey)), 3)
    with tempfile.TemporaryDirectory() as folder:
        cutouts = pool(Path(folder))
        rows = [
            (
                "same_objects, 10 boxes",
                cpu_ms(lambda: same_objects(before, after, pasted=(0, 0, 9, 9)), 500),
                0.3,
            ),
            ("map_equal, 10 boxes", cpu_ms(lambda: map_equal(before, after, pasted=(0, 0, 9, 9)), 500), 0.3),
            (
                "one of 10,000 cut-outs",
                cpu_ms(lambda: cutouts.nearest_few("person", 12345, most=1, not_from="3.jpg"), 50),
                5.0,
            ),
        ]
    for name, cost, most in rows:
        print(f"{name:24} {cost:.3f} ms CPU (wanted: under {most:g}); {cost / beside:.5f} of a HOG pair")


if __name__ == "__main__":
    main()
