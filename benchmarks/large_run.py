"""A run folder of a million cases, for measuring what looks at runs: `python large_run.py DIR [CASES]`.

It begins as a real campaign on the drawn street, so that pictures of its worst cases can be made; the other
cases are made up: eight relations, a thousand scenes, findings and changes as the real ones have them.
"""

from __future__ import annotations

import contextlib
import io
import json
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from instar.cli import main
from instar.store.rows import COLUMNS

RELATIONS = ("insertion", "blur", "rain", "brightness", "mirror", "crop", "noise", "jpeg")
LABELS = ("car", "person", "bus", "dog", "bicycle", "truck", "traffic light", "stop sign")
KINDS = ("lost", "drifted", "renamed")
REASONS = ("no free place", "unstable: it does not recur", "nothing was found")
SCENES = 1_000


def make_large_run(folder: Path, cases: int = 1_000_000) -> Path:
    """The run, made in that folder unless it is there."""
    if (folder / "run.sqlite").exists():
        return folder
    with contextlib.redirect_stdout(io.StringIO()):
        words = "run --system street-blobs --relation insertion --scenes street:12 --budget 400 --out"
        main([*words.split(), str(folder)])
    database = sqlite3.connect(folder / "run.sqlite")
    database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
    with database:
        (real,) = database.execute("SELECT count(*) FROM records").fetchone()
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        database.executemany(f"INSERT INTO records VALUES ({marks})", _rows(cases - real))
        totals = json.loads(database.execute("SELECT value FROM meta WHERE name = 'totals'").fetchone()[0])
        totals |= {"queries": 2 * cases, "asked": 2 * cases, "scenes": SCENES}
        database.execute("UPDATE meta SET value = ? WHERE name = 'totals'", (json.dumps(totals),))
        sources = [(f"photo-{i:04d}.jpg", f"photo-{i:04d}.jpg", f"{i:064x}") for i in range(SCENES)]
        database.executemany("INSERT INTO sources VALUES (?, ?, ?)", sources)
    database.execute("PRAGMA journal_mode = WAL")
    database.close()
    return folder


def _rows(n: int) -> Iterator[tuple[object, ...]]:
    """Made-up rows. Some scenes and relations are harder than others, so that there are causes to find."""
    rng = np.random.default_rng(0)
    status = rng.choice(
        ["held", "violated", "inapplicable", "failed"], n, p=[0.8, 0.12, 0.075, 0.005]
    ).tolist()
    scene, label, other = (rng.integers(0, most, n).tolist() for most in (SCENES, len(LABELS), len(LABELS)))
    margin, natural = rng.uniform(0.001, 0.85, n).tolist(), rng.beta(8, 1.5, n).tolist()
    place = rng.integers(0, 600, (n, 4)).tolist()
    for i in range(n):
        relation = RELATIONS[(i // 7) % len(RELATIONS)]
        name = f"photo-{scene[i]:04d}.jpg"
        x, y, width, height = place[i]
        kind, reason, findings, evidence = "", "", "[]", "{}"
        change = {
            "type": "instar.tasks.detection.changes:Insertion", "cutout": f"{i % 5000:064x}", "x": x, "y": y,
            "width": width, "height": height, "label": LABELS[other[i]], "blend": "feather",
            "gain": 1.0, "offset": 0.0, "anchor": label[i],
        }  # fmt: skip
        value: float = margin[i]
        if status[i] == "violated":
            kind, value = KINDS[(label[i] + len(relation)) % 3], -margin[i]
            was = {"label": LABELS[label[i]], "score": 0.9, "box": [x + 9, y + 9, x + 60, y + 80]}
            findings = json.dumps([[kind, f"object {label[i]}", value, {"was": was}]])
            evidence = json.dumps({"found": 8, "found again": 7, "among": list(LABELS[: 3 + label[i] % 5])})
        elif status[i] != "held":
            value, reason = 0.0, REASONS[i % 3]
        # Looks like a hash, but in order: then SQLite writes one page after the other.
        case = f"{i * (2**64 // n) + place[i][0] * 16_777_259:016x}"
        yield (
            case, name, name, relation, i, "case", status[i], kind, value, reason, 2,
            natural[i] if status[i] == "violated" else None, json.dumps(change), f"a {LABELS[other[i]]}",
            findings, evidence, 1,
        )  # fmt: skip


if __name__ == "__main__":
    print(make_large_run(Path(sys.argv[1]), *map(int, sys.argv[2:])))
