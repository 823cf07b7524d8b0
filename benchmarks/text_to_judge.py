"""Findings of text runs to judge by looking, blind: sheets without a word of what instar says of them.

.venv/bin/python benchmarks/text_to_judge.py runs/text/east runs/text/craft --real 40 --out new

So many headline findings and so many that do not count are drawn from the runs, each of another case, and
shuffled. Left is the source, right the follow-up: red is the box of the source, orange that of the follow-up.
`key.csv` says which is which; do not open it before the last is judged. Never commit such sheets.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from instar.campaigns.reader import open_run
from instar.core.follow_up import follow_ups_of
from instar.core.frame import transform
from instar.core.scene import Image
from instar.core.verdict import Finding, Status
from instar.imaging.codecs import encode_png
from instar.imaging.sheets import sheet

COLORS = {"was": (220, 30, 30), "is": (240, 140, 0)}
SIDE, AIR = 330, 1.0  # of a crop in pixels; around a box, in lengths of its longer side
ON_A_SHEET, COLUMNS = 8, 2


def boxes_of(finding: Finding, change: object) -> dict[str, npt.NDArray[np.float32]]:
    """Quads by what they are of, in the source's frame; a missed watermark is where it was written."""
    known = {name: np.float32(finding.evidence[name]) for name in COLORS if name in finding.evidence}
    return known or {"is": np.float32(change.quad()[0])}


def crop(picture: Image, quads: dict[str, npt.NDArray[np.float32]], shown: str) -> Image:
    points = np.concatenate(list(quads.values()))
    low, high = points.min(axis=0), points.max(axis=0)
    half = max(40.0, (0.5 + AIR) * float((high - low).max()))
    matrix = np.float32([[1, 0, 0], [0, 1, 0]]) * SIDE / (2 * half)
    matrix[:, 2] = -((low + high) / 2 - half) * SIDE / (2 * half)
    made = cv2.warpAffine(picture, matrix, (SIDE, SIDE), flags=cv2.INTER_CUBIC)
    if shown in quads:
        corners = np.rint(quads[shown] @ matrix[:, :2].T + matrix[:, 2]).astype(np.int32)
        cv2.polylines(made, [corners], True, COLORS[shown], 1, cv2.LINE_AA)
    return np.asarray(made, np.uint8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--real", type=int, default=40, help="findings that count (40)")
    parser.add_argument("--others", type=int, default=20, help="findings that do not (20)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(args.seed)
    found: dict[bool, list[tuple[str, str, Finding]]] = {True: [], False: []}
    for run in args.runs:
        with open_run(run) as there:
            for record in there.store.records(changes=False):
                if record.role == "case" and record.verdict.status is Status.VIOLATED:
                    for finding in record.verdict.findings:
                        found[finding.known == "real"].append((run, record.case, finding))
    drawn = []
    for counts, wanted in ((True, args.real), (False, args.others)):
        cases: set[str] = set()
        for i in rng.permutation(len(found[counts])).tolist():
            if len(cases) < wanted and (case := found[counts][i][1]) not in cases:
                cases.add(case)
                drawn.append(found[counts][i])
    drawn = [drawn[i] for i in rng.permutation(len(drawn))]
    tiles, key = [], []
    for number, (run, case, finding) in enumerate(drawn):
        with open_run(run) as there:
            record = there.record(case)
            source = there.scene(record.scene).image
            (made,) = follow_ups_of(there.relation(record.relation), source, record.change)
        quads = boxes_of(finding, record.change)
        ahead = {
            name: quad if made.frame is None else transform(made.frame.matrix, quad).astype(np.float32)
            for name, quad in quads.items()
        }
        tiles.append(sheet([crop(source, quads, "was"), crop(made.input, ahead, "is")], str(number)))
        what = (record.scene, record.relation, str(record.change), finding.kind, finding.subject)
        key.append((number, Path(run).name, *what, finding.known))
    for start in range(0, len(tiles), ON_A_SHEET):
        some = tiles[start : start + ON_A_SHEET]
        some += [np.full_like(some[0], 255)] * (-len(some) % COLUMNS)
        rows = [np.hstack(some[i : i + COLUMNS]) for i in range(0, len(some), COLUMNS)]
        path = args.out / f"sheet-{start // ON_A_SHEET}.png"
        path.write_bytes(encode_png(np.ascontiguousarray(np.vstack(rows))))
    with (args.out / "key.csv").open("w", newline="") as file:
        csv.writer(file).writerows(key)
    print({("headline" if counts else "others"): len(some) for counts, some in found.items()}, len(drawn))


if __name__ == "__main__":
    main()
