"""Findings of a run that saw no annotations: which of them annotations bear out, and pictures to judge blind.

.venv/bin/python benchmarks/findings.py hold RUN --truth ../shared/data/detection
.venv/bin/python benchmarks/findings.py sheets RUN --out sheets --wanted 60 --others 20

`hold` prints how many different headline findings (scene, object) annotations confirm, and what they make of
all others. `sheets` draws findings before and after in a shuffled order, headline ones and others mixed; what
instar says of each is in `key.csv`, to be opened when all are judged. Never commit such sheets.
"""

from __future__ import annotations

import argparse
import csv
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from instar.campaigns.reader import Named, RunReader, open_run
from instar.core.frame import Frame
from instar.core.record import Record
from instar.core.scene import Image, Observation
from instar.core.verdict import Finding, Status
from instar.imaging.codecs import encode_png
from instar.imaging.sheets import panel, sheet
from instar.scenes import load_scenes
from instar.tasks.detection.verification import verify

SIDE, ZOOM, ON_A_SHEET = 420, 3.0, 4
Told = tuple[Record, Finding]


def findings_of(there: RunReader) -> Iterator[Told]:
    """Each different (scene, object), as the plainest of its findings tells it."""
    best: dict[tuple[str, str], Told] = {}
    for record in there.store.records():
        if record.role == "case" and record.verdict.status is Status.VIOLATED:
            for finding in record.verdict.findings:
                key = (record.scene, finding.subject)
                if key not in best or finding.plainness < best[key][1].plainness:
                    best[key] = (record, finding)
    yield from best.values()


def hold(there: RunReader, truth: str) -> None:
    """Print what annotations say of each kind of finding."""
    annotated = {Path(scene.id).stem: scene for scene in load_scenes(truth)}
    table: Counter[tuple[str, str]] = Counter()
    for record, finding in findings_of(there):
        again = there.replay(there.record(record.case), there.remembered)
        assert again.source is not None
        scene = annotated[Path(record.scene).stem]
        source = Observation.of(again.source.input, again.source.answer, scene)
        known = verify(source, again.follow_ups[0], finding)
        table["headline" if finding.is_failure else finding.known, known] += 1
    words = sorted({word for _, word in table})
    print(f"| instar says | different | {' | '.join(words)} |\n|---|--:|{'--:|' * len(words)}")
    for said in dict.fromkeys(said for said, _ in table):
        counts = [table[said, word] for word in words]
        print(f"| {said} | {sum(counts)} | {' | '.join(map(str, counts))} |")


def tile(there: RunReader, number: int, record: Record, finding: Finding) -> Image:
    """Before and after, whole and near; nothing of what is known is told."""
    before, after = there.panels(record.case)[:2]
    was, now = finding.evidence.get("was"), finding.evidence.get("is")
    words = [f"{one['label']} {one['score']:.2f}" if one else "nothing" for one in (was, now)]
    pictures = [*draw(before.picture, was or now, None), *draw(after.picture, now or was, after.frame)]
    return sheet(pictures, f"{number}  {record.relation}: {words[0]} -> {words[1]}")


def draw(picture: Image, told: Mapping[str, Any], frame: Frame | None) -> list[Image]:
    """The picture with the box, and what is in and around the box without it."""
    x1, y1, x2, y2 = told["box"]
    corners = np.array([[x1, y1], [x2, y1], [x2, y2], [x1, y2]], np.float64)
    corners = corners if frame is None else frame.to_follow_up(corners)
    (x1, y1), (x2, y2) = corners.min(axis=0), corners.max(axis=0)
    whole, scale = panel(picture, side=SIDE)
    box = [round(float(v) * scale) for v in (x1, y1, x2, y2)]
    cv2.rectangle(whole, (box[0], box[1]), (box[2], box[3]), (220, 30, 30), 2)
    height, width = picture.shape[:2]
    half = max(24.0, max(x2 - x1, y2 - y1) * 0.8)
    cx, cy = (x1 + x2) / 2, (y1 + y2) / 2
    left, top = max(0, int(cx - half)), max(0, int(cy - half))
    near = picture[top : min(height, int(cy + half)), left : min(width, int(cx + half))]
    return [whole, panel(np.ascontiguousarray(near), side=SIDE, most=ZOOM)[0]]


def sheets(there: RunReader, out: Path, wanted: int, others: int) -> None:
    told = list(findings_of(there))
    rng = random.Random(16)
    rng.shuffle(told)
    chosen = [one for one in told if one[1].is_failure][:wanted]
    chosen += [one for one in told if not one[1].is_failure][:others]
    rng.shuffle(chosen)
    out.mkdir(parents=True, exist_ok=True)
    with (out / "key.csv").open("w", newline="") as file:
        key = csv.writer(file)
        key.writerow(["number", "case", "scene", "kind", "headline", "known"])
        for number, (record, finding) in enumerate(chosen):
            key.writerow([number, record.case, record.scene, finding.kind, finding.is_failure, finding.known])
    for start in range(0, len(chosen), ON_A_SHEET):
        tiles = [tile(there, start + i, *one) for i, one in enumerate(chosen[start : start + ON_A_SHEET])]
        widest = max(one.shape[1] for one in tiles)
        margins = [((0, 8), (0, widest - one.shape[1]), (0, 0)) for one in tiles]
        rows = [np.pad(one, margin, constant_values=255) for one, margin in zip(tiles, margins)]
        (out / f"{start:03}.png").write_bytes(encode_png(np.ascontiguousarray(np.vstack(rows))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("hold", "sheets"))
    parser.add_argument("run")
    parser.add_argument("--truth", help="the same photographs, annotated")
    parser.add_argument("--out", type=Path, default=Path("runs/sheets"))
    parser.add_argument("--wanted", type=int, default=60, help="headline findings")
    parser.add_argument("--others", type=int, default=20, help="other findings among them")
    args = parser.parse_args()
    with open_run(args.run, named=Named(trusted=True)) as there:
        if args.what == "hold":
            hold(there, args.truth)
        else:
            sheets(there, args.out, args.wanted, args.others)


if __name__ == "__main__":
    main()
