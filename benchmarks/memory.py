"""Peak memory of a campaign over 100 scenes and over 10,000, each in a process of its own: the ratio.

    python benchmarks/memory.py [--most 10000]

Pictures are 480 x 640, made when read, and the run is kept in a folder as the command line does. With a
budget most scenes wait for their next share, which is when a careless engine would hold on to pictures.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import instar


def brighten(picture: np.ndarray, levels: float) -> np.ndarray:
    return np.minimum(picture, 255 - round(levels)) + np.uint8(round(levels))


def read(picture: np.ndarray, answer: object) -> float:
    return float(answer)


def compare(before: instar.Observation, after: instar.Observation) -> instar.Verdict:
    return instar.Verdict.at_most(abs(before.answer - after.answer), 20.0, "drift")


def marks(seen: instar.Observation) -> instar.Panel:
    return instar.Panel(f"{seen.answer:.0f}", seen.input)


MEAN = instar.Task("mean", read, compare, marks)
BRIGHTER = instar.Relation("brighter", MEAN, brighten, severity=instar.Range(1, 40, "grey levels"))


class Mean:
    name = "mean"

    def predict(self, images: list[np.ndarray]) -> list[float]:
        return [float(image.mean()) for image in images]


def scene(i: int) -> instar.Scene:
    return instar.Scene(f"{i:05d}", lambda: np.full((480, 640, 3), i % 200, np.uint8))


def campaign(n: int, budget: int | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        records = instar.run(
            [scene(i) for i in range(n)],
            BRIGHTER,
            Mean(),
            search=instar.draws(2),
            limits=instar.Limits(queries=budget),
            out=Path(folder) / "run",
            workers=2,
        )
        cases = sum(1 for _ in records)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"cases": cases, "MiB": round(peak, 1)}))


def main(most: int = 10_000) -> None:
    for what, per_scene in (("without a budget", None), ("with a budget", 2)):
        peaks = []
        for n in (100, most):
            budget = [] if per_scene is None else [str(n * per_scene)]
            command = [sys.executable, __file__, str(n), *budget]
            seen = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            peaks.append(seen["MiB"])
            print(f"{what}, {n:6d} scenes: {seen['cases']:6d} cases, peak {seen['MiB']} MiB")
        print(f"{what}: ratio {peaks[1] / peaks[0]:.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--most"]:
        main(int(sys.argv[2]))
    elif len(sys.argv) > 1:
        campaign(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None)
    else:
        main()
