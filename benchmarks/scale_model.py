"""How long a campaign takes on many actors, and what breaks first: a simulator fed with measured costs.

    python benchmarks/scale_model.py              # measure costs here, and predict large campaigns
    python benchmarks/scale_model.py validate     # predict campaigns that are then run here

Questions are tokens that go round: pixel work on the driver's cores, what holds the interpreter (the rest of
the pixel work, the account, commits, the calls), the network, an actor. Each station serves in order. A
steady rate is assumed: 10^8 questions take as long as those simulated, times their ratio.
"""

from __future__ import annotations

import argparse
import heapq
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import instar

PICTURE = 640 * 480 * 3  # bytes that go to an actor with a question
QUESTIONS = 100_000_000
SIMULATED = 30_000
HELD = 0.5  # share of pixel work that holds the interpreter: assumed, between none and all of it
RAY_CALL = (
    0.0025  # CPU seconds of the driver for a picture put, a call and its answer: 2.1 to 2.8 ms, Ray 2.60
)


@dataclass(frozen=True)
class Costs:
    """Seconds, or bytes, for a question."""

    pixels: float  # CPU of the threads that draw, change and compare
    engine: float  # CPU of the thread that keeps the account and commits
    stored: float  # bytes in the run file


@dataclass(frozen=True)
class Machine:
    """What a campaign runs on: the driver's cores and line, the actors and what a question costs them."""

    cores: int
    actors: int
    seconds: float  # of an actor for a question
    ahead: int = 2
    line: float = 1.25e9  # bytes a second: ten gigabits
    call: float = RAY_CALL
    picture: int = PICTURE


def simulate(
    costs: Costs, machine: Machine, questions: int, *, window: int = 0
) -> tuple[float, dict[str, float]]:
    """Seconds until so many questions are answered, and how busy each station was."""
    stations = {
        "driver's pixel work": (machine.cores, costs.pixels * (1 - HELD)),
        "driver's interpreter": (1, costs.pixels * HELD + costs.engine + machine.call),
        "network": (1, machine.picture / machine.line if machine.call else 0.0),
        "actors": (machine.actors, machine.seconds),
    }
    free = {name: [0.0] * servers for name, (servers, _) in stations.items()}
    busy = dict.fromkeys(stations, 0.0)
    order = list(stations)
    tokens = window or 2 * machine.ahead * machine.actors + 2 * machine.cores
    coming = [(0.0, token, 0) for token in range(min(tokens, questions))]
    heapq.heapify(coming)
    left, end = questions - len(coming), 0.0
    while coming:
        now, token, at = heapq.heappop(coming)
        name = order[at]
        seconds = stations[name][1]
        begins = max(now, heapq.heappop(free[name]))
        heapq.heappush(free[name], begins + seconds)
        busy[name] += seconds
        done = begins + seconds
        if at + 1 < len(order):
            heapq.heappush(coming, (done, token, at + 1))
        else:
            end = max(end, done)
            if left:
                left -= 1
                heapq.heappush(coming, (done, token, 0))
    return end, {name: busy[name] / (end * stations[name][0]) for name in order}


class Mean:
    """Answers after so many seconds of sleep, `slots` questions at a time."""

    def __init__(self, seconds: float, slots: int) -> None:
        self.name, self.concurrent, self._seconds = f"mean {seconds} {slots}", slots, seconds
        self.took: list[float] = []  # what a question really took, on a machine that others use too

    def predict(self, images: Sequence[np.ndarray]) -> list[float]:
        began = time.perf_counter()
        if self._seconds:
            time.sleep(self._seconds * len(images))
        answers = [float(image[::8, ::8].mean()) for image in images]
        self.took.append(time.perf_counter() - began)
        return answers


def brighten(picture: np.ndarray, levels: float) -> np.ndarray:
    return np.minimum(picture, 255 - round(levels)) + np.uint8(round(levels))


def compare(before: instar.Observation, after: instar.Observation) -> instar.Verdict:
    return instar.Verdict.at_most(abs(before.answer - after.answer), 100.0, "drift")


def marks(seen: instar.Observation) -> instar.Panel:
    return instar.Panel(f"{seen.answer:.0f}", seen.input)


MEAN = instar.Task("mean", lambda picture, answer: float(answer), compare, marks)
BRIGHTER = instar.Relation("brighter", MEAN, brighten, severity=instar.Range(1, 40, "grey levels"))


def scenes(n: int) -> list[instar.Scene]:
    def read(i: int) -> np.ndarray:
        return np.random.default_rng(i).integers(0, 200, (480, 640, 3), dtype=np.uint8)

    return [instar.Scene(f"{i:05d}", lambda i=i: read(i)) for i in range(n)]


def run(n: int, system: Mean) -> tuple[int, float, float, float, int]:
    """Questions, seconds, CPU seconds of this thread and of the others, bytes of the run file."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        asked, began = 0, (time.perf_counter(), time.thread_time(), time.process_time())

        def watch(tally: object) -> None:
            nonlocal asked
            asked = tally.queries  # type: ignore[attr-defined]

        for _ in instar.run(scenes(n), BRIGHTER, system, search=instar.draws(4), out=out, watch=watch):
            pass
        took, own, whole = (
            now - then
            for now, then in zip((time.perf_counter(), time.thread_time(), time.process_time()), began)
        )
        return asked, took, own, whole - own, (out / "run.sqlite").stat().st_size


def measure_costs(*, on_the_clock: bool = False) -> Costs:
    """What a question costs, in CPU time, or as long as that takes beside what else the machine does."""
    asked, took, own, others, size = run(40, Mean(0.0, 1))
    slower = took / (own + others) if on_the_clock else 1.0
    return Costs(pixels=slower * others / asked, engine=slower * own / asked, stored=size / asked)


def validate() -> None:
    """Campaigns of a system that sleeps, as a service does: predicted from a short one, and run."""
    print("seconds a question, at a time: predicted, measured")
    for seconds, slots, n in ((0.25, 1, 12), (0.25, 4, 40), (0.5, 8, 64), (1.0, 16, 96)):
        short = Mean(seconds, slots)
        run(max(2, n // 8), short)
        costs = measure_costs(on_the_clock=True)
        asked, took, *_ = run(n, Mean(seconds, slots))
        real = float(np.mean(short.took))
        told, _ = simulate(costs, Machine(cores=1, actors=slots, seconds=real, call=0.0), asked)
        print(f"{seconds:5.2f} s, {slots:2d}: {told:6.1f} s, {took:6.1f} s, {told / took:.2f}", flush=True)


def predict(costs: Costs) -> None:
    print(
        f"{QUESTIONS:.0e} questions of {PICTURE / 1e6:.2f} MB, a driver of 16 cores with a line of 10 Gbit/s"
    )
    print("actors  s/question  questions/s      days  busiest")
    for seconds in (0.005, 0.05, 0.5):
        for actors in (1, 10, 100):
            machine = Machine(cores=16, actors=actors, seconds=seconds)
            took, busy = simulate(costs, machine, SIMULATED)
            first = sorted(busy, key=busy.get, reverse=True)  # type: ignore[arg-type]
            told = ", ".join(f"{name} {100 * busy[name]:.0f} %" for name in first[:2])
            rate = SIMULATED / took
            print(f"{actors:6d}  {seconds:10.3f}  {rate:11,.0f}  {QUESTIONS / rate / 86400:8.1f}  {told}")
    print(f"run file: {costs.stored * QUESTIONS / 1e9:,.0f} GB")
    free = replace(costs, pixels=0.0)
    _, busy = simulate(free, Machine(cores=16, actors=100, seconds=0.005), SIMULATED)
    first = max(busy, key=busy.get)  # type: ignore[arg-type]
    print(f"were follow-ups made by the actors, the busiest of 100 would be: {first}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=("predict", "validate"), default="predict")
    given = parser.parse_args()
    run(4, Mean(0.0, 1))  # loads what is loaded once
    if given.what == "validate":
        return validate()
    costs = measure_costs()
    work = f"{1000 * costs.pixels:.2f} ms of pixel work, {1000 * costs.engine:.2f} ms of the engine"
    print(f"a question here: {work}, {costs.stored / 1000:.2f} kB kept")
    predict(costs)


if __name__ == "__main__":
    main()
