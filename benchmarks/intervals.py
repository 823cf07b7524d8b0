"""How often intervals cover the truth, how wide they are, and how often comparisons err: by simulation.

Cases of a scene share a rate, which is drawn from a beta distribution. The functions tested are those that
reports use. The table of docs/statistics.md, with NumPy and SciPy alone, in some minutes:

OMP_NUM_THREADS=1 PYTHONPATH=src python benchmarks/intervals.py --campaigns 10000 --jobs 16
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom

from instar.stats import clustered_mean, clustered_rate
from instar.stats.paired import flip_signs

SCENES = (5, 8, 12, 30, 100)
RATES = (0.005, 0.02, 0.1, 0.4)
CORRELATIONS = (0.0, 0.1, 0.3, 0.5)
CASES = ((5, 5), (15, 15), (35, 35), (5, 35))
"""How many cases a scene has: from, to."""
STRETCHES = (5, 12, 30)
AT_ONCE = 2500
"""Campaigns of one task of a process."""
FEWEST_COVERED, WIDEST, MOST_FALSE = 0.93, 1.5, 0.06


class Cell(NamedTuple):
    scenes: int
    rate: float
    correlation: float
    cases: tuple[int, int]

    @property
    def size(self) -> str:
        return f"{self.scenes} x " + "-".join(map(str, dict.fromkeys(self.cases)))

    @property
    def words(self) -> str:
        return f"{self.size} cases, rate {100 * self.rate:g} %, correlation {self.correlation:g}"


class Worse(NamedTuple):
    """The second system fails more often; either in the scenes where the first does too, or in any."""

    rate: float
    worse: float
    together: bool
    scenes: int


CELLS = [Cell(*values) for values in product(SCENES, RATES, CORRELATIONS, CASES)]
EQUAL = [Cell(*values) for values in product((6, 8, 12, 30, 100), RATES[1:], CORRELATIONS, CASES)]
WORSE = [
    Worse(*rates, together, scenes)
    for rates in ((0.02, 0.1), (0.1, 0.2), (0.1, 0.4))
    for together in (True, False)
    for scenes in (6, 12, 30, 100)
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--campaigns", type=int, default=200, help="for each cell (default 200)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    args = parser.parse_args()
    began = time.perf_counter()
    error = 100 * (FEWEST_COVERED * (1 - FEWEST_COVERED) / args.campaigns) ** 0.5
    print(f"{args.campaigns:,} campaigns for each cell: the standard error of a coverage is {error:.1f} %")
    with ProcessPoolExecutor(args.jobs) as workers:
        tell_coverage(simulate(workers, cover, CELLS, args.campaigns))
        tell_false_positives(simulate(workers, compare_equal, EQUAL, args.campaigns))
        tell_power(simulate(workers, compare_worse, WORSE, args.campaigns))
        tell_means(simulate(workers, cover_mean, STRETCHES, args.campaigns))
    print(f"\n{time.perf_counter() - began:.0f} s")


def simulate(
    workers: ProcessPoolExecutor, count: Callable[..., Any], cells: Sequence[Any], campaigns: int
) -> dict[Any, Any]:
    """For each cell the mean, over campaigns, of what `count` sums up."""
    sizes = [min(AT_ONCE, campaigns - start) for start in range(0, campaigns, AT_ONCE)]
    # The slow ones first, so that no process is left with one of them at the end.
    tasks = [(cell, size, part) for cell in reversed(cells) for part, size in enumerate(sizes)]
    sums: dict[Any, Any] = defaultdict(float)
    for (cell, _, _), counted in zip(tasks, workers.map(count, *zip(*tasks))):
        sums[cell] = sums[cell] + counted
    return {cell: sums[cell] / campaigns for cell in cells}


def generator(cell: Cell | Worse | int, part: int) -> np.random.Generator:
    return np.random.default_rng([part, *repr(cell).encode()])


def draw_cases(cell: Cell, campaigns: int, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(cell.cases[0], cell.cases[1] + 1, size=(campaigns, cell.scenes))


def draw_rates(rate: float, correlation: float, like: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The rates of scenes in which two cases are so correlated."""
    if correlation == 0:
        return np.full(like.shape, rate)
    strength = (1 - correlation) / correlation
    return rng.beta(rate * strength, (1 - rate) * strength, size=like.shape)


def cover(cell: Cell, campaigns: int, part: int) -> np.ndarray:
    """Intervals that contain the rate, their widths, and the widths if the correlation were known."""
    rng = generator(cell, part)
    judged = draw_cases(cell, campaigns, rng)
    violated = rng.binomial(judged, draw_rates(cell.rate, cell.correlation, judged, rng))
    # Campaigns with the same scenes, in whatever order, have the same interval.
    kinds, times = np.unique(np.sort(100 * judged + violated, axis=1), axis=0, return_counts=True)
    low, high = np.array([clustered_rate(kind % 100, kind // 100) for kind in kinds]).T
    known = width_if_known(violated, judged, cell.correlation)
    return np.array([times @ ((low <= cell.rate) & (cell.rate <= high)), times @ (high - low), known.sum()])


def width_if_known(violated: np.ndarray, judged: np.ndarray, correlation: float) -> np.ndarray:
    """Of Wilson's interval for as many independent cases as these are worth, by their true correlation."""
    total = judged.sum(axis=1)
    worth = total / (1 + ((judged**2).sum(axis=1) / total - 1) * correlation)
    share, z2 = violated.sum(axis=1) / total, 1.96**2
    centre, spread = share * worth + z2 / 2, np.sqrt(z2 * (share * (1 - share) * worth + z2 / 4))
    low, high = (centre - spread) / (worth + z2), (centre + spread) / (worth + z2)
    return np.minimum(1, high) - np.maximum(0, low)


def compare_equal(cell: Cell, campaigns: int, part: int) -> np.ndarray:
    """Both systems' scene rates are drawn from one distribution."""
    rng = generator(cell, part)
    judged = draw_cases(cell, campaigns, rng)
    first, second = (draw_rates(cell.rate, cell.correlation, judged, rng) for _ in range(2))
    return count_significant(judged, first, second, rng)


def compare_worse(cell: Worse, campaigns: int, part: int) -> np.ndarray:
    """15 cases a scene, correlation 0.3."""
    rng = generator(cell, part)
    judged = np.full((campaigns, cell.scenes), 15)
    first = draw_rates(cell.rate, 0.3, judged, rng)
    if cell.together:  # it fails where the first does, and in a share of the rest
        second = first + (1 - first) * (cell.worse - cell.rate) / (1 - cell.rate)
    else:
        second = draw_rates(cell.worse, 0.3, judged, rng)
    return count_significant(judged, first, second, rng)


def count_significant(
    judged: np.ndarray, first: np.ndarray, second: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Comparisons with p < 0.05: by sign flips over scenes, and by McNemar's exact test over cases."""
    # Pairs that differ, of cases that fail in either system by themselves.
    broken = rng.binomial(judged, second * (1 - first))
    fixed = rng.binomial(judged - broken, first * (1 - second) / np.maximum(1e-9, 1 - second * (1 - first)))
    flips = sum(p is not None and p < 0.05 for p in map(flip_signs, broken - fixed))
    broken, fixed = broken.sum(axis=1), fixed.sum(axis=1)
    mcnemar = 2 * binom.cdf(np.minimum(broken, fixed), broken + fixed, 0.5)
    return np.array([flips, (mcnemar < 0.05).sum()], np.float64)


def cover_mean(stretches: int, campaigns: int, part: int) -> float:
    """20 to 99 absolute errors a stretch; their size differs by a factor of 1.6 (one standard deviation)."""
    rng = generator(stretches, part)
    covering = 0
    for _ in range(campaigns):
        groups = np.repeat(np.arange(stretches), rng.integers(20, 100, stretches))
        size = rng.lognormal(-0.125, 0.5, stretches)  # of mean 1
        low, high = clustered_mean(np.abs(rng.normal(size=len(groups))) * size[groups], groups)
        covering += low <= (2 / np.pi) ** 0.5 <= high
    return float(covering)


def tell_coverage(found: dict[Cell, np.ndarray]) -> None:
    ratios = {cell: width / known for cell, (_, width, known) in found.items()}
    print("\n| scenes | rate | coverage: least, mean | width / width if known: mean, most |")
    print("|--:|--:|--:|--:|")
    for scenes, rate in product(SCENES, RATES):
        ours = [cell for cell in found if (cell.scenes, cell.rate) == (scenes, rate)]
        covered, ratio = [found[cell][0] for cell in ours], [ratios[cell] for cell in ours]
        print(
            f"| {scenes} | {100 * rate:g} % | {100 * min(covered):.1f}, {100 * np.mean(covered):.1f} % "
            f"| {np.mean(ratio):.2f}, {max(ratio):.2f} |"
        )
    least = min(found, key=lambda cell: found[cell][0])
    below = sum(covered < FEWEST_COVERED for covered, _, _ in found.values())
    print(f"\nleast coverage {100 * found[least][0]:.2f} % ({least.words})")
    print(f"coverage below {100 * FEWEST_COVERED:g} %: {below} of {len(found)} cells")
    wide = [cell for cell in found if ratios[cell] > WIDEST]
    mean = np.mean(list(ratios.values()))
    print(f"width / width if known: mean {mean:.3f}; above {WIDEST}: {len(wide)} of {len(found)} cells")
    for correlation, rate in product(CORRELATIONS, RATES):
        ours = [cell for cell in wide if (cell.correlation, cell.rate) == (correlation, rate)]
        if ours:
            told = ", ".join(f"{cell.size} {ratios[cell]:.1f}" for cell in ours)
            print(f"  correlation {correlation:g}, rate {100 * rate:g} % (scenes x cases): {told}")


def tell_false_positives(found: dict[Cell, np.ndarray]) -> None:
    print("\n| scenes | false positives of sign flips: mean, most | of McNemar's test: mean, most |")
    print("|--:|--:|--:|")
    for scenes in dict.fromkeys(cell.scenes for cell in found):
        shares = 100 * np.array([share for cell, share in found.items() if cell.scenes == scenes])
        flips, mcnemar = (f"{column.mean():.1f}, {column.max():.1f} %" for column in shares.T)
        print(f"| {scenes} | {flips} | {mcnemar} |")
    above = sum(flips > MOST_FALSE for flips, _ in found.values())
    print(f"\nsign flips above {100 * MOST_FALSE:g} %: {above} of {len(found)} cells")


def tell_power(found: dict[Worse, np.ndarray]) -> None:
    scenes = list(dict.fromkeys(cell.scenes for cell in found))
    print("\n| rates | fails | " + " | ".join(f"{n} scenes" for n in scenes) + " |")
    print("|--:|:--|" + "--:|" * len(scenes))
    for rate, worse, together in dict.fromkeys(cell[:3] for cell in found):
        power = [f"{100 * found[Worse(rate, worse, together, n)][0]:.0f} %" for n in scenes]
        where = "in the same scenes" if together else "in any scene"
        print(f"| {100 * rate:g} and {100 * worse:g} % | {where} | " + " | ".join(power) + " |")


def tell_means(found: dict[int, float]) -> None:
    told = ", ".join(f"{100 * covered:.1f} % with {n}" for n, covered in found.items())
    print(f"\ncoverage of mean errors over stretches: {told}")


if __name__ == "__main__":
    main()
