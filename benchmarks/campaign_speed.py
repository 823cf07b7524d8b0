"""How fast a yolox-nano campaign is beside a bare loop over the same inputs: ratios, taken in one run.

The campaign draws, pastes, compares and stores; the loop only calls the detector. Both alternate, so that
they see the same machine. Pictures are drawn streets of 640 x 480, so that nothing but the model is fetched.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
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
        self.batch, self.concurrent = 1, True
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


def seconds(work: Iterator[object]) -> float:
    began = time.perf_counter()
    for _ in work:
        pass
    return time.perf_counter() - began


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
        system = yolox()
        remembering = Remembering(system)
        list(campaign(remembering, relation, scenes, 1))
        inputs = remembering.seen
        print(f"{len(inputs)} questions")
        for workers in (1, 2):
            ratios = []
            for _ in range(ROUNDS):
                loop = seconds(iter(system.predict([image]) for image in inputs))
                ours = seconds(campaign(system, relation, scenes, workers))
                ratios.append(loop / ours)
            print(f"workers {workers}: {np.median(ratios):.2f} of the speed of a bare loop (at least 0.85)")


if __name__ == "__main__":
    main()
