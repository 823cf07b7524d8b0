"""Copies or removals to judge by looking: sheets of follow-ups, one of each photograph that offers a place.

.venv/bin/python benchmarks/copies_to_judge.py --scenes ../shared/data/voc/objects --relation copy --out new

The photographs come in a shuffled order that is always the same; `--skip` leaves out the first so many, which
may have been looked at while something was improved. With `--found` nothing is known of them but what
yolox-nano finds. Left is the follow-up as it is, right the same with its place. Never commit such sheets.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from instar.core.change import Inapplicable
from instar.core.scene import Image, Observation
from instar.core.workspace import Folder
from instar.imaging.codecs import encode_png
from instar.imaging.sheets import panel, sheet
from instar.scenes import load_scenes
from instar.tasks.detection import copy, removal
from instar.tasks.detection.answers import read
from instar.tasks.detection.systems.onnx import yolox

ON_A_SHEET, COLUMNS, TILE = 8, 2, (420, 980)


def tile(follow_up: Image, box: tuple[int, ...], sentence: str) -> Image:
    shown, scale = panel(follow_up, side=380)
    marked = shown.copy()
    x1, y1, x2, y2 = (round(side * scale) for side in box)
    cv2.rectangle(marked, (x1, y1), (x2, y2), (40, 60, 220), 1)
    both = sheet([shown, marked], sentence)[: TILE[0], : TILE[1]]
    framed = np.full((*TILE, 3), 255, np.uint8)
    framed[: both.shape[0], : both.shape[1]] = both
    return framed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scenes", required=True)
    parser.add_argument("--relation", choices=("copy", "removal"), required=True)
    parser.add_argument("--out", type=Path, required=True, help="for sheets, and outlines that are kept")
    parser.add_argument("--wanted", type=int, default=50)
    parser.add_argument("--skip", type=int, default=0, help="photographs")
    parser.add_argument("--most", type=int, help="photographs after them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--found", action="store_true", help="leave the annotations aside")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    scenes = list(load_scenes(args.scenes))
    random.Random(16).shuffle(scenes)
    last = None if args.most is None else args.skip + args.most
    make = {"copy": copy, "removal": removal}[args.relation]()
    relation, detector = make.prepare(scenes, Folder(args.out)), yolox()
    tiles: list[Image] = []
    reasons: Counter[str] = Counter()
    for scene in scenes[args.skip : last]:
        if len(tiles) == args.wanted:
            break
        image = scene.image
        answer = read(image, detector.predict([image])[0])
        known = replace(scene, objects=None) if args.found else scene
        change = relation.draw(Observation.of(image, answer, known), np.random.default_rng(args.seed))
        reasons[change.reason if isinstance(change, Inapplicable) else "made"] += 1
        if not isinstance(change, Inapplicable):
            sentence = f"{len(tiles)} {Path(scene.id).stem}: {change}"
            tiles.append(tile(relation.apply(image, change), change.box, sentence))
    for start in range(0, len(tiles), ON_A_SHEET):
        some = tiles[start : start + ON_A_SHEET]
        some += [np.full_like(some[0], 255)] * (-len(some) % COLUMNS)
        rows = [np.hstack(some[i : i + COLUMNS]) for i in range(0, len(some), COLUMNS)]
        path = args.out / f"{args.relation}-{start // ON_A_SHEET}.png"
        path.write_bytes(encode_png(np.ascontiguousarray(np.vstack(rows))))
    for reason, times in reasons.most_common():
        print(f"{times:5} {reason}")


if __name__ == "__main__":
    main()
