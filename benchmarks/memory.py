"""Peak memory of a campaign over 100 scenes and over 10,000, each in a process of its own: the ratio.

Pictures are 480 x 640, drawn when read; the budget leaves most stories waiting, which is when a
careless engine would hold on to their pictures.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from dataclasses import dataclass

import numpy as np

import instar


@dataclass(frozen=True)
class Brighter(instar.Change):
    levels: int


def draw(source: instar.Observation, rng: np.random.Generator) -> Brighter:
    return Brighter(int(rng.integers(1, 40)))


def apply(image: np.ndarray, change: Brighter) -> tuple[np.ndarray, ...]:
    return (np.minimum(image, 255 - change.levels) + np.uint8(change.levels),)


def check(
    source: instar.Observation, follow_ups: list[instar.Observation], change: Brighter
) -> instar.Verdict:
    return instar.Verdict.at_most(abs(source.answer - follow_ups[0].answer), 20.0, "drift")


class Mean:
    name = "mean"

    def predict(self, images: list[np.ndarray]) -> list[float]:
        return [float(image.mean()) for image in images]


def scene(i: int) -> instar.Scene:
    return instar.Scene(f"{i:05d}", lambda: np.full((480, 640, 3), i % 200, np.uint8))


def campaign(n: int) -> None:
    relation = instar.Relation("brighter", draw, apply, check)
    records = instar.run(
        [scene(i) for i in range(n)],
        relation,
        Mean(),
        search=instar.draws(3),
        limits=instar.Limits(queries=3 * n),
        workers=2,
        batch=8,
    )
    cases = sum(1 for _ in records)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"scenes": n, "cases": cases, "MiB": round(peak, 1)}))


def main() -> None:
    seen = []
    for n in (100, 10_000):
        ran = subprocess.run([sys.executable, __file__, str(n)], check=True, capture_output=True, text=True)
        seen.append(json.loads(ran.stdout))
        print(f"{n:6d} scenes: {seen[-1]['cases']} cases, peak {seen[-1]['MiB']} MiB")
    print(f"ratio {seen[1]['MiB'] / seen[0]['MiB']:.2f}, {seen[1]['MiB'] - seen[0]['MiB']:.0f} MiB more")


if __name__ == "__main__":
    campaign(int(sys.argv[1])) if len(sys.argv) > 1 else main()
