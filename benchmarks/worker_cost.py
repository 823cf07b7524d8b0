"""What a process of its own costs a system: in-process time over time through a worker, taken in one run.

Pictures of 640 x 480, one a call, both ways in turn; `fast` takes 2 ms for a picture.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from instar.campaigns.plan import Use
from instar.campaigns.resolve import build_system
from instar.core.system import System, ask
from instar.engines.worker import WorkerSystem

PICTURES = 100


class Fast:
    """Answers after two milliseconds of work."""

    name = "fast"

    def predict(self, inputs: Sequence[Any]) -> list[Any]:
        until = time.perf_counter() + 0.002 * len(inputs)
        while time.perf_counter() < until:
            pass
        return [{"boxes": [[1, 2, 30, 40]], "scores": [0.9], "labels": ["dog"]} for _ in inputs]


def make_fast() -> System:
    return Fast()


def compare(name: str, here: System, there: System) -> None:
    rng = np.random.default_rng(0)
    pictures = [rng.integers(0, 256, (480, 640, 3), dtype=np.uint8) for _ in range(PICTURES)]
    spent = {"here": 0.0, "there": 0.0}
    for picture in [pictures[0], *pictures]:
        for where, system in (("here", here), ("there", there)):
            began = time.perf_counter()
            (reply,) = ask(system, [picture])
            assert reply.error is None, reply.error
            spent[where] += time.perf_counter() - began
    ratio = spent["here"] / spent["there"]
    milliseconds = 1000 / PICTURES
    print(
        f"{name}: {ratio:.2f} ({spent['here'] * milliseconds:.1f} ms in the process, "
        f"{spent['there'] * milliseconds:.1f} ms through a worker)"
    )


def main() -> None:
    yolox = partial(build_system, Use("yolox-nano"))
    for name, build in (("fast", make_fast), ("yolox-nano", yolox)):
        worker = WorkerSystem(build)
        compare(name, build(), worker)
        worker.close()


if __name__ == "__main__":
    import worker_cost  # so that the worker finds it by this name

    worker_cost.main()
