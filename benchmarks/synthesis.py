"""How long the follow-ups of whole papers take: drawn, made, judged by a constant system and recorded.

    python benchmarks/synthesis.py [--seconds 10] [--workers 2]

The interpretation paper has 877,324 follow-ups: 774,050 insertions, 73,562 deletions and 29,712 squeezed
backgrounds. Some of each are made on drawn streets of 640 x 480, and the time of all is worked out from the
rates; so too for 100,000 whole-picture relations of the detection suite. Under half an hour is wanted on two
cores. `--processes 2` makes the halves of the scenes in two runs side by side, which needs no threads.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import instar
from instar.campaigns.plan import Use
from instar.campaigns.resolve import resolve_relation
from instar.tasks.detection import Detections
from instar.tasks.interpretation.answers import Classes, Explanation
from instar.tasks.interpretation.searches import distinct
from instar.worlds import street

PAPER = {"insert": 774_050, "delete": 73_562, "squeeze": 29_712}
DRAWS = {
    "insert": 26,
    "delete": 8,
    "squeeze": 3,
}  # of each question; the paper has 78 insertions of a picture
WHOLE = (
    "mirrored",
    "cropped",
    "brightened",
    "warmed",
    "flattened",
    "defocused",
    "shaken",
    "noisy",
    "compressed",
)
WHOLE_PICTURE = 100_000
SCENES = 40


class Constant:
    """The same answer to everything: no work at all, and nothing ever contradicts."""

    name = fingerprint = "constant"
    batch, concurrent = 1, False

    def __init__(self, scene: instar.Scene) -> None:
        objects = scene.objects or ()
        heat = np.zeros((14, 14), np.float32)
        heat[3:6, 3:6] = 1.0
        self._explained = Explanation(0.9, heat)
        boxes = np.float32([thing.box for thing in objects]).reshape(-1, 4)
        self._found = Detections(boxes, tuple(o.label for o in objects), np.full(len(boxes), 0.9, np.float32))

    def predict(self, inputs: Sequence[Any]) -> list[Any]:
        return [self._answer(one) for one in inputs]

    def _answer(self, one: Any) -> Any:
        if isinstance(one, np.ndarray):
            return self._found
        return {"car": 0.9, "person": 0.2} if isinstance(one, Classes) else self._explained


def held(share: int = 0, of: int = 1, count: int = SCENES) -> list[instar.Scene]:
    """Held in memory: reading a scene is its loader's cost, paid once for a scene and not for a case."""
    found = street.scenes(count, size=(480, 640))[share::of]
    return [instar.Scene(s.id, (lambda image: lambda: image)(s.image), s.objects, s.knowledge) for s in found]


def rate(task: str, relation: str, seconds: float, workers: int, share: int = 0, of: int = 1) -> float:
    """Follow-ups a second, from the first record on."""
    scenes = held(share, of)
    search = distinct(n=DRAWS[relation]) if task == "interpretation" else instar.draws(20)
    made, began, ended = 0, 0.0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        records = instar.run(
            scenes,
            resolve_relation(Use(f"{task}.{relation}")),
            Constant(scenes[0]),
            search=search,
            out=Path(folder) / "run",
            workers=workers,
            limits=instar.Limits(seconds=seconds),
        )
        for record in records:
            ended = time.perf_counter()
            began = began or ended
            made += bool(record.role == "case" and record.queries)
    return made / max(ended - began, 1e-9)


def rates(task: str, relation: str, seconds: float, workers: int, processes: int) -> float:
    if processes == 1:
        return rate(task, relation, seconds, workers)
    with ProcessPoolExecutor(processes) as pool:
        asked = [
            pool.submit(rate, task, relation, seconds, workers, share, processes)
            for share in range(processes)
        ]
        return sum(one.result() for one in asked)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each relation (10)")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args(words)
    how = (given.seconds, given.workers, given.processes)
    told = f"{given.processes} processes of {given.workers} workers"
    whole = 0.0
    for relation, count in PAPER.items():
        pace = rates("interpretation", relation, *how)
        seconds = count / pace if pace else math.inf  # where none was made in time
        whole += seconds
        print(f"{relation:10}{pace:8.1f} follow-ups/s, {count:,} take {seconds / 60:.1f} min", flush=True)
    print(f"877,324 follow-ups, {told}: {whole / 60:.1f} minutes (wanted: 30)", flush=True)
    paces = {name: rates("detection", name, given.seconds / 3, *how[1:]) for name in WHOLE}
    print("  ".join(f"{name} {pace:.0f}/s" for name, pace in paces.items()))
    minutes = sum(WHOLE_PICTURE / len(WHOLE) / pace if pace else math.inf for pace in paces.values()) / 60
    print(f"100,000 whole-picture relations, {told}: {minutes:.1f} minutes (wanted: 30)", flush=True)


if __name__ == "__main__":
    main()
