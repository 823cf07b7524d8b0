"""How fast a campaign is beside a bare loop over the same inputs: ratios, taken in one run.

The campaign draws, pastes, compares and stores; the loop only calls the detector. Both alternate, so that
they see the same machine. Pictures are drawn streets of 640 x 480, so that nothing but the model is fetched.
Three systems: one that takes 2 ms, yolox-nano, and a service that takes 1 s with 16 calls in flight. The
other figure is of CPU time (user and system, of the whole process): it shows what the campaign adds also
where the machine is busy with other things, but not what of it overlaps with the system.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import instar
from instar.tasks.detection import guided, insertion
from instar.tasks.detection.systems.onnx import yolox
from instar.worlds import street

SCENES, PER_OBJECT, ROUNDS = 12, 3, 3


class Remembering:
    """A system that also keeps what it was asked, for the loop to ask again."""

    def __init__(self, system: instar.System) -> None:
        self.name, self.fingerprint = system.name, "remembering"
        self.batch, self.concurrent = 1, getattr(system, "concurrent", True)
        self.seen: list[np.ndarray] = []
        self._system = system

    def predict(self, images: list[np.ndarray]) -> list[object]:
        self.seen += images
        return list(self._system.predict(images))


def campaign(
    system: instar.System, relation: instar.Relation, scenes: list[instar.Scene], workers: int
) -> Iterator[object]:
    with tempfile.TemporaryDirectory() as folder:
        search = guided(per_object=PER_OBJECT)
        yield from instar.run(
            scenes, relation, system, search=search, out=Path(folder) / "run", workers=workers
        )


class Taking:
    """One answer to all, after so many seconds of work, or of waiting as for a service."""

    def __init__(self, answer: object, seconds: float, *, calls: int = 0) -> None:
        self.name, self.fingerprint = f"taking-{seconds:g}-s", f"taking {seconds}"
        self.batch, self.concurrent = 1, calls
        self._seconds, self._answer = seconds, answer

    def predict(self, images: list[np.ndarray]) -> list[object]:
        until = time.perf_counter() + self._seconds * len(images)
        if self.concurrent:
            time.sleep(self._seconds * len(images))
        while time.perf_counter() < until:
            pass
        return [self._answer] * len(images)


def spent(work: Callable[[], object]) -> np.ndarray:
    """Seconds on the clock, and of CPU."""
    began = np.array([time.perf_counter(), time.process_time()])
    work()
    return np.array([time.perf_counter(), time.process_time()]) - began


def compare(
    system: instar.System, relation: instar.Relation, scenes: list[instar.Scene], workers: int, rounds: int
) -> None:
    remembering = Remembering(system)
    list(campaign(remembering, relation, scenes, 1))
    inputs, calls = remembering.seen, int(getattr(system, "concurrent", 1)) or 1

    def loop() -> None:
        with ThreadPoolExecutor(calls) as threads:
            list(threads.map(lambda image: system.predict([image]), inputs))

    ratios = [
        spent(loop) / spent(lambda: list(campaign(system, relation, scenes, workers))) for _ in range(rounds)
    ]
    clock, cpu = np.median(ratios, axis=0)
    told = f"{clock:.2f} of the speed of a bare loop, {cpu:.2f} in CPU time"
    print(f"{system.name}, workers {workers}: {told} ({len(inputs)} questions; at least 0.95)", flush=True)


def main() -> None:
    scenes = street.scenes(SCENES, size=(480, 640))
    with tempfile.TemporaryDirectory() as folder:
        pool = instar.run(
            scenes,
            insertion(),
            yolox(),
            search=guided(per_object=1),
            out=Path(folder) / "run",
            limits=instar.Limits(queries=1),
        )
        list(pool)
        relation = insertion(pool=Path(folder) / "run" / "pool")
        (answer,) = yolox().predict([scenes[0].image])
        for system in (Taking(answer, 0.002), yolox()):
            for workers in (1, 2):
                compare(system, relation, scenes, workers, ROUNDS)
        compare(Taking(answer, 1.0, calls=16), relation, scenes, 1, 1)


if __name__ == "__main__":
    main()
