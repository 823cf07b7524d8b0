"""Filling without a label map on street photographs that no network was trained on: which of them is nearest.

    python benchmarks/street_filling.py FOLDER... --palette camvid-12

Holes have the outlines of things of other frames, so that what they hide is known. Told are the mean error in
grey levels, the share of the true detail that is there (mean gradient), and seconds of a processor.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from functools import partial

import cv2
import numpy as np
from street_engines import held_out

from instar import zoo
from instar.imaging.inpaint import migan, opencv
from instar.imaging.labels import LabelMap
from instar.imaging.painter import paint
from instar.imaging.street_classes import UNKNOWN
from instar.tasks.driving.maps import labels_of

THINGS = ("car", "person", "rider", "traffic sign", "pole")
SIZES = {"small": (150, 1500), "large": (1500, 12000)}  # pixels
EACH = 8
TALLEST = 200  # pixels, so that it fits anywhere


def outlines(labels: LabelMap) -> list[np.ndarray]:
    count, pieces, stats, _ = cv2.connectedComponentsWithStats(labels.mask(THINGS).astype(np.uint8))
    return [
        pieces[y : y + h, x : x + w] == number
        for number, (x, y, w, h, _) in enumerate(stats[1:count].tolist(), start=1)
    ]


def detail(picture: np.ndarray, hole: np.ndarray) -> float:
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32)
    return float(cv2.magnitude(cv2.Sobel(grey, -1, 1, 0), cv2.Sobel(grey, -1, 0, 1))[hole].mean())


def untold(painter: str, picture: np.ndarray, hole: np.ndarray) -> np.ndarray:
    return paint(picture, hole, np.full(hole.shape, UNKNOWN, np.uint8), painter=painter)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--palette")
    args = parser.parse_args()
    fills = {
        "telea": opencv(),
        "mi-gan": migan(*zoo.fetch("mi-gan")),
        "drawn": partial(untold, "drawn"),
        "camvid": partial(untold, "camvid"),
    }
    scenes = held_out(args.folders, args.palette)
    rng = np.random.default_rng(0)
    shapes = [shape for scene in scenes[::3] for shape in outlines(labels_of(scene))]
    found: dict[tuple[str, str], list[tuple[float, float, float]]] = defaultdict(list)
    for size, (least, most) in SIZES.items():
        fitting = [s for s in shapes if least <= s.sum() <= most and max(s.shape) < TALLEST]
        for number in range(EACH):
            picture = np.asarray(scenes[(7 * number) % len(scenes)].image)
            shape = fitting[int(rng.integers(len(fitting)))]
            hole = np.zeros(picture.shape[:2], np.uint8)
            y = int(rng.integers(hole.shape[0] // 4, hole.shape[0] - shape.shape[0]))
            x = int(rng.integers(0, hole.shape[1] - shape.shape[1]))
            hole[y : y + shape.shape[0], x : x + shape.shape[1]] = shape
            gap = cv2.dilate(hole, np.ones((5, 5), np.uint8)) > 0
            for name, fill in fills.items():
                start = time.process_time()
                made = fill(picture, gap)
                seconds = time.process_time() - start
                off = np.abs(made[gap].astype(np.float32) - picture[gap]).mean()
                found[size, name].append((float(off), detail(made, gap) / detail(picture, gap), seconds))
    for (size, name), values in found.items():
        off, share, seconds = np.median(values, axis=0)
        print(f"{size:8}{name:8} off by {off:5.1f} grey levels, {share:4.0%} of the detail, {seconds:.2f} s")


if __name__ == "__main__":
    main()
