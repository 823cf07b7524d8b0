"""How accurate PP-OCR's detectors are at several input sizes (ICDAR 2015 rules), and what a size costs.

.venv/bin/python benchmarks/locator_sizes.py --scenes ../shared/data/text
"""

from __future__ import annotations

import argparse
import time

import cv2

from instar.scenes import load_scenes
from instar.tasks.text.accuracy import Hits, count_words
from instar.tasks.text.systems.ppocr import ppocr_v4, ppocr_v6
from instar.tasks.text.truth import truth_of

SIZES = (("min", 736), ("min", 1080), ("max", 960))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", required=True, help="pictures with the words that are on them")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    scenes = load_scenes(args.scenes)
    images = [scene.image for scene in scenes]
    truths = [truth_of(scene.knowledge["words"]) for scene in scenes]
    print(f"{len(scenes)} pictures")
    for name, locator in (("ppocr-v4-det", ppocr_v4), ("ppocr-v6-det", ppocr_v6)):
        for limit_type, limit_side in SIZES:
            system = locator(limit_side=limit_side, limit_type=limit_type)
            system.predict(images[:1])  # what is loaded once
            began = time.process_time()
            answers = [system.predict([image])[0] for image in images]
            cost = (time.process_time() - began) / len(images) * 1000
            found = [count_words(answer.quads, truth) for answer, truth in zip(answers, truths)]
            total = sum(found, start=Hits(0, 0, 0, 0))
            scores = f"P {total.precision:.3f}  R {total.recall:.3f}  F {total.f_score:.3f}"
            print(f"{name}  {limit_type} {limit_side:4}  {scores}  {cost:.0f} ms CPU", flush=True)


if __name__ == "__main__":
    main()
