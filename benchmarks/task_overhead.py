"""How fast campaigns of each task are beside a bare loop over the same inputs, for a system that takes 2 ms.

    python benchmarks/task_overhead.py [--seconds 5] [--workers 1 2]

The system computes outside of the interpreter, as networks do, and gives one answer to all, so that nothing
is found and everything counts that a question costs: it is drawn, made, hashed, asked, judged and kept.
On a machine that others use too, the CPU that a question takes beside the system's own tells more, and how
long the system stands still between two calls of the first campaign (the median).
Scenes are held in memory. Loop and campaign alternate on the same inputs, so that they see the same
machine.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from synthesis import Constant

import instar
from instar.campaigns.plan import Use
from instar.campaigns.resolve import resolve_system
from instar.scenes import load_scenes

MILLISECONDS = 2.0
TASKS = (
    ("classification.brightened", "street:8"),
    ("detection.brightened", "street:8"),
    ("detection.insertion", "street:8"),
    ("text.brightness-up", "page:8"),
    ("driving.deeptest", "drive:8"),
    ("interpretation.squeeze", "street:8"),
    ("interpretation.insert", "street:8"),
)
EXACT = {"text": "page-exact", "driving": "street-driver", "classification": None, "detection": None}


class Busy:
    """An answer to all, after two milliseconds of hashing, during which other threads go on."""

    name = fingerprint = "busy"
    batch, concurrent = 1, False

    def __init__(self, task: str, scenes: Sequence[instar.Scene]) -> None:
        self._constant = Constant(scenes[0])
        self._answer: Any = {"labels": ["car", "bus"], "scores": [0.8, 0.2], "confidence": 0.5}
        if EXACT.get(task):
            (self._answer,) = resolve_system(Use(EXACT[task]), tasks=[task]).predict([scenes[0].image])
        self._task, self._work = task, bytes(pieces_for(MILLISECONDS))
        self.seen: list[Any] | None = None
        self.asked, self.began, self.ended = 0, 0.0, 0.0
        self.pauses: list[float] = []

    def predict(self, inputs: Sequence[Any]) -> list[Any]:
        now = time.perf_counter()
        self.began = self.began or now
        self.pauses.append(now - (self.ended or now))
        self.asked += len(inputs)
        if self.seen is not None:
            self.seen += inputs
        for _ in inputs:
            hashlib.sha256(self._work)
        self.ended = time.perf_counter()
        constant = self._task in ("interpretation", "detection")
        return self._constant.predict(inputs) if constant else [self._answer] * len(inputs)


def pieces_for(milliseconds: float) -> int:
    """So many bytes take that long to hash here."""
    work, spent = bytes(1 << 20), []
    for _ in range(9):
        began = time.perf_counter()
        hashlib.sha256(work)
        spent.append(time.perf_counter() - began)
    return int((1 << 20) * milliseconds / 1000 / min(spent))


def held(word: str) -> list[instar.Scene]:
    found = load_scenes(word)
    if word.startswith("street"):
        from instar.worlds import street

        found = street.scenes(int(word.split(":")[1]), size=(480, 640))
    return [
        instar.Scene(s.id, (lambda image: lambda: image)(s.read()), s.objects, s.knowledge) for s in found
    ]


def compare(relation: str, word: str, seconds: float, workers: Sequence[int]) -> None:
    task, scenes = relation.split(".")[0], held(word)
    system = Busy(task, scenes)

    def campaign(count: int, queries: int | None = None) -> float:
        with tempfile.TemporaryDirectory() as folder:
            limits = instar.Limits(queries=queries)
            records = instar.run(
                scenes, relation, system, out=Path(folder) / "run", workers=count, limits=limits
            )
            system.asked, system.began = 0, 0.0
            for _ in records:
                pass
            ended = time.perf_counter()
        return (ended - system.began) / system.asked  # what prepares the relation is no part of a question

    system.seen = []
    began = time.perf_counter()
    budget = 400
    campaign(1, budget)
    took = time.perf_counter() - began
    inputs, system.seen = system.seen, None
    pause, before = statistics.median(system.pauses), time.process_time()
    campaign(1, budget)
    between = time.process_time()
    for one in inputs:
        system.predict([one])
    cpu = (between - before - (time.process_time() - between)) / len(inputs)
    ratios: dict[int, list[float]] = {count: [] for count in workers}
    turns = max(2, int(seconds / (took * (1 + len(workers)))))
    for _ in range(turns):
        start = time.perf_counter()
        for one in inputs:
            system.predict([one])
        bare = (time.perf_counter() - start) / len(inputs)
        for count in workers:
            ratios[count].append(bare / campaign(count, budget))
    size = "x".join(str(side) for side in scenes[0].image.shape[1::-1])
    told = ", ".join(f"{statistics.median(ratios[count]):.2f} with workers {count}" for count in workers)
    own = f"{1000 * cpu:.1f} ms of CPU a question, {1000 * pause:.1f} ms between calls"
    print(f"{relation:28}{size:9} {told}; {own} ({len(inputs)} questions, {turns} turns)", flush=True)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="for each task (5)")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    given = parser.parse_args(words)
    for relation, word in TASKS:
        compare(relation, word, given.seconds, given.workers)


if __name__ == "__main__":
    main()
