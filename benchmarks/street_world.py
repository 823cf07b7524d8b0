"""The drawn drive: how fast it is drawn, and how often a careful driver is accused in it.

python benchmarks/street_world.py speed      pictures per CPU second and beside a HOG of them, by size
python benchmarks/street_world.py rendered   accusations where rules are drawn (must be none)
python benchmarks/street_world.py pasted     accusations where rules are pasted: the oracle's false alarms
python benchmarks/street_world.py made DIR   how many pictures of DIR, with label maps, each rule can change
python benchmarks/street_world.py possible CSV DIR   how many of those where a person says that it can be done
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import cv2
import numpy as np
from skimage.feature import hog

from instar import Observation, Status
from instar.core.change import Inapplicable
from instar.core.workspace import Folder
from instar.scenes import load_scenes
from instar.studies.driving.rules import STUDY
from instar.tasks.driving import rule
from instar.tasks.driving.answers import Control
from instar.tasks.driving.systems.street import street_driver
from instar.worlds.drive import render, sample_drive, scenes

SIZES = ((160, 320), (320, 640), (604, 960))
RULES = [one for one in STUDY if one.engines is None]


def speed() -> None:
    cv2.setNumThreads(1)
    for size in SIZES:
        drives = [sample_drive(seed) for seed in range(120 if size[0] < 300 else 30)]
        for drive in drives[:30]:
            render(drive, size)  # textures are made once
        began = time.process_time()
        for drive in drives:
            render(drive, size).labels()
        each = (time.process_time() - began) / len(drives)
        picture = render(drives[0], size).picture
        began = time.process_time()
        for _ in range(10):
            hog(picture, channel_axis=2)
        yardstick = (time.process_time() - began) / 10
        print(
            f"{size[1]:4} x {size[0]:<4} {1 / each:6.0f} pictures with label maps per CPU second,"
            f" each {each / yardstick:.2f} of a scikit-image HOG of it"
        )
    small = SIZES[0]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(_drawn, [(seed, small) for seed in range(120)], chunksize=10))  # textures, once in each
        began = time.perf_counter()
        drawn = sum(pool.map(_drawn, [(seed, small) for seed in range(600)], chunksize=10))
        rate = drawn / (time.perf_counter() - began)
    print(f"{small[1]:4} x {small[0]:<4} {rate:6.0f} a second by the clock, {os.cpu_count()} processes")


def _drawn(what: tuple[int, tuple[int, int]]) -> int:
    cv2.setNumThreads(1)
    seed, size = what
    render(sample_drive(seed), size).labels()
    return 1


def accused(how: str, number: int) -> None:
    """Judge every rule of the study on drawn drives, and count."""
    driver = street_driver()
    every = scenes(number, seed=21)
    total: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for one in RULES:
            relation = rule(one.text, engines=how)
            if relation.prepare is not None:
                relation = relation.prepare(every, Folder(Path(folder)))
            counts: Counter[str] = Counter()
            for index, scene in enumerate(every):
                image = scene.image
                source = Observation(scene, driver.predict([image])[0], lambda image=image: image)
                change = relation.draw(source, np.random.default_rng(index))
                made = change if isinstance(change, Inapplicable) else relation.apply(image, change)
                if isinstance(made, Inapplicable):
                    reasons[made.reason] += 1
                    continue
                answers = driver.predict(made)
                seen = [Observation.of(picture, answer, scene) for picture, answer in zip(made, answers)]
                verdict = relation.expect(source, seen, change)
                if verdict.status is Status.INAPPLICABLE:
                    reasons[verdict.reason] += 1
                    continue
                counts["judged"] += 1
                counts["accused"] += verdict.status is Status.VIOLATED
            total += counts
            print(f"{one.name:28} {counts['accused']:4} of {counts['judged']:4} judged")
    share = 100 * total["accused"] / max(1, total["judged"])
    print(f"{'all':28} {total['accused']:4} of {total['judged']:4} judged: {share:.1f} %")
    print("not judged:", ", ".join(f"{reason} {n}" for reason, n in reasons.most_common()))


def pictures_made(folder: str) -> None:
    """Draw and make each rule of the paper once on every picture, and count why it could not be."""
    every = load_scenes(folder)
    with tempfile.TemporaryDirectory() as gallery:
        for one in (one for one in RULES if one.part in ("rules", "compound", "rain")):
            relation = rule(one.text)
            if relation.prepare is not None:
                relation = relation.prepare(every, Folder(Path(gallery)))
            counts: Counter[str] = Counter()
            for index, scene in enumerate(every):
                image = scene.image
                source = Observation(scene, Control(40.0, 0.0), lambda image=image: image)
                made = relation.draw(source, np.random.default_rng(index))
                if not isinstance(made, Inapplicable):
                    made = relation.apply(image, made)
                counts[made.reason if isinstance(made, Inapplicable) else "made"] += 1
            why_not = ", ".join(f"{reason} {n}" for reason, n in counts.most_common() if reason != "made")
            print(f"{one.name:8} {counts['made']:4} of {len(every)}  {why_not}", flush=True)


def possible_made(judged: str, folder: str) -> None:
    """Of the frames where a person said that a condition can be made true, how many are made."""
    every = load_scenes(folder)
    by_frame = {Path(scene.id).stem: scene for scene in every}
    rows: dict[str, list[dict[str, str]]] = {}
    with open(judged, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["condition"], []).append(row)
    with tempfile.TemporaryDirectory() as gallery:
        for condition, frames in rows.items():
            relation = rule(f"If: {condition}, Then: the steering angle should keep the same.")
            if relation.prepare is not None:
                relation = relation.prepare(every, Folder(Path(gallery)))
            counts: Counter[tuple[str, bool]] = Counter()
            for index, row in enumerate(frames):
                scene = by_frame[row["frame"]]
                source = Observation.of(scene.image, Control(40.0, 0.0), scene)
                change = relation.draw(source, np.random.default_rng(index))
                counts[row["possible"], not isinstance(change, Inapplicable)] += 1
            can = counts["yes", True] + counts["yes", False]
            share = 100 * counts["yes", True] / max(1, can)
            print(
                f"{condition:40} {counts['yes', True]:3} of {can:3} possible ({share:.0f} %),"
                f" and {counts['no', True]} of {len(frames) - can} others",
                flush=True,
            )


def main(what: str, *rest: str) -> None:
    if what == "made" and len(rest) == 1:
        pictures_made(rest[0])
    elif what == "possible" and len(rest) == 2:
        possible_made(*rest)
    elif what == "speed":
        speed()
    elif what in ("rendered", "pasted"):
        accused(what, 60)
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:] or ["speed"])
