"""Intervals for a rate: Wilson's for independent trials, the bootstrap for trials in groups."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

__all__ = ["bootstrap_mean", "bootstrap_rate", "wilson"]

ROWS_AT_ONCE = 64
"""Resamples held in memory together: ten thousand different groups then cost 5 MB, not 160."""


def wilson(successes: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for `successes` of `n` independent trials.

    Unlike the textbook interval it never leaves [0, 1] and says something at 0 and at n.

    >>> [round(bound, 4) for bound in wilson(0, 10)]
    [0.0, 0.2775]
    """
    _require_level(level)
    if not (n > 0 and 0 <= successes <= n):
        raise ValueError(f"wilson: {successes} of {n} is no share of a positive number of trials")
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    centre = successes + z2 / 2
    spread = (z2 * (successes * (n - successes) / n + z2 / 4)) ** 0.5
    # At 0 and n the bound is the share itself; rounding must not leave a hair between them.
    low = 0.0 if successes == 0 else max(0.0, (centre - spread) / (n + z2))
    high = 1.0 if successes == n else min(1.0, (centre + spread) / (n + z2))
    return low, high


def bootstrap_rate(
    violated: Sequence[int] | npt.NDArray[np.integer],
    judged: Sequence[int] | npt.NDArray[np.integer],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[float, float]:
    """Percentile interval for sum(violated) / sum(judged), resampling whole groups.

    Both are counts per group (`int (n,)`); the cases of one scene resemble each other, so a scene and
    not a case is what is drawn again. Groups in which nothing was judged say nothing and are left out.
    Deterministic, and the same in whatever order the groups come.

    Where all groups show the same rate (none was violated, or there is only one group) resampling sees
    no spread and would claim certainty. Then the groups count as so many independent trials of that
    rate, which is Wilson's interval and errs on the wide side.

    >>> low, high = bootstrap_rate([0, 0, 5, 1], [10, 10, 10, 10])
    >>> round(low, 3), round(high, 3)
    (0.0, 0.375)
    """
    _require_level(level)
    pairs = np.stack([np.asarray(violated, np.int64), np.asarray(judged, np.int64)], axis=1)
    if np.any(pairs[:, 0] < 0) or np.any(pairs[:, 0] > pairs[:, 1]):
        raise ValueError("bootstrap_rate: a group has fewer judged than violated, or less than none")
    pairs = pairs[pairs[:, 1] > 0]
    if len(pairs) == 0:
        raise ValueError("bootstrap_rate: nothing was judged in any group")
    total_violated, total_judged = (int(total) for total in pairs.sum(axis=0))
    rate = total_violated / total_judged
    if np.all(pairs[:, 0] * total_judged == pairs[:, 1] * total_violated):
        return wilson(rate * len(pairs), len(pairs), level)

    # Groups with the same counts are interchangeable: how often each kind of group is drawn is
    # multinomial, and there are far fewer kinds than groups.
    kinds, members = np.unique(pairs, axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    rates = np.empty(resamples)
    for start in range(0, resamples, ROWS_AT_ONCE):
        rows = min(ROWS_AT_ONCE, resamples - start)
        drawn = rng.multinomial(len(pairs), members / len(pairs), size=rows)
        sums = drawn @ kinds
        rates[start : start + rows] = sums[:, 0] / sums[:, 1]
    low, high = np.quantile(rates, [(1 - level) / 2, (1 + level) / 2])
    return min(float(low), rate), max(float(high), rate)


def bootstrap_mean(
    values: npt.ArrayLike,
    groups: Sequence[str],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[float, float]:
    """Percentile interval for the mean of `values`, resampling whole groups.

    Frames of one stretch of road resemble each other, so a stretch and not a frame is what is drawn again.
    One group alone has no spread to see: then the values count as independent.

    >>> bootstrap_mean([1.0, 1.0, 3.0, 3.0], ["a", "a", "b", "b"])
    (1.0, 3.0)
    """
    _require_level(level)
    numbers = np.asarray(values, np.float64)
    if len(numbers) == 0 or len(numbers) != len(groups):
        raise ValueError(f"bootstrap_mean: {len(numbers)} values for {len(groups)} groups")
    names = sorted(set(groups))
    if len(names) == 1:
        members = np.arange(len(numbers))
    else:
        index = {name: i for i, name in enumerate(names)}
        members = np.array([index[group] for group in groups])
    sums, counts = np.bincount(members, numbers), np.bincount(members)
    rng = np.random.default_rng(seed)
    means = np.empty(resamples)
    for i in range(resamples):
        drawn = rng.integers(len(sums), size=len(sums))
        means[i] = sums[drawn].sum() / counts[drawn].sum()
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _require_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; it must lie between 0 and 1")
