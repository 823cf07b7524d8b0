"""Intervals for a rate and a mean, also where cases of one scene resemble each other."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = Sequence[int] | npt.NDArray[np.integer]

LEVEL = 0.95  # of all intervals

RATES, CORRELATIONS = 64, 16
"""Cells of the grid on which the posterior is summed up: bounds are then right to 1 % of the width."""
NEGLIGIBLE = 1e-8
"""Cells with less than this share of the fullest cell's mass are left out of a narrower grid."""


def wilson(successes: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % score interval for `successes` of `n` independent trials.

    Unlike the textbook interval it never leaves [0, 1] and says something at 0 and at n.

    >>> [round(bound, 4) for bound in wilson(0, 10)]
    [0.0, 0.2775]
    """
    if not (n > 0 and 0 <= successes <= n):
        raise ValueError(f"wilson: {successes} of {n} is no share of a positive number of trials")
    z2 = NormalDist().inv_cdf((1 + LEVEL) / 2) ** 2
    centre = successes + z2 / 2
    spread = (z2 * (successes * (n - successes) / n + z2 / 4)) ** 0.5
    # At 0 and n the bound is the share itself; rounding must not leave a hair between them.
    low = 0.0 if successes == 0 else max(0.0, (centre - spread) / (n + z2))
    high = 1.0 if successes == n else min(1.0, (centre + spread) / (n + z2))
    return low, high


def clustered_rate(violated: Ints, judged: Ints) -> tuple[float, float]:
    """95 % for the rate sum(violated) / sum(judged), where cases of one scene resemble each other.

    Both are counts by scene (`int (n,)`). Scenes in which nothing was judged say nothing and are left out.
    The interval holds for few scenes too: how alike the cases of a scene are is not estimated and then
    believed, but every correlation weighs as much as the counts allow. The model is the beta-binomial one: a
    scene's rate is drawn from a beta distribution, of whose mean this is a central interval of the posterior.
    docs/statistics.md says how often it covers the truth, and how wide it is.

    >>> [round(bound, 3) for bound in clustered_rate([0, 0, 5, 1], [10, 10, 10, 10])]
    [0.025, 0.545]
    """
    pairs = np.stack([np.asarray(violated, np.int64), np.asarray(judged, np.int64)], axis=1)
    if np.any(pairs[:, 0] < 0) or np.any(pairs[:, 0] > pairs[:, 1]):
        raise ValueError("clustered_rate: a scene has fewer judged than violated, or less than none")
    hits, trials = pairs[pairs[:, 1] > 0].T
    if not len(trials):
        raise ValueError("clustered_rate: nothing was judged in any scene")
    counts = _Counts(_ladder(hits), _ladder(trials - hits), _ladder(trials))
    total = int(trials.sum())
    rate = int(hits.sum()) / total
    edges, mass = _posterior(counts)
    # Few scenes say so little about the correlation that the prior shows: they spend less of the error. How
    # much less is what benchmarks/intervals.py needs to find 93 % coverage everywhere when 95 % is stated.
    tail = (1 - LEVEL) / 2 * max(0.5, 1 - 2 / len(trials))
    low, high = (float(np.sin(np.interp(share, mass, edges)) ** 2) for share in (tail, 1 - tail))
    # Where nothing or everything was violated, alike cases say no more than independent ones would.
    if rate == 0:
        return 0.0, max(high, bound_when_none(total))
    if rate == 1:
        return min(low, 1 - bound_when_none(total)), 1.0
    return min(low, rate), max(high, rate)


def bound_when_none(n: int) -> float:
    """The highest rate to be believed, at 95 %, when none of `n` independent trials shows anything.

    >>> round(bound_when_none(299), 4)
    0.01
    """
    if n < 1:
        raise ValueError(f"bound_when_none: n is {n}; it must be at least 1")
    return -float(np.expm1(np.log1p(-LEVEL) / n))


def clustered_mean(values: npt.ArrayLike, groups: Sequence[str]) -> tuple[float, float]:
    """Student's 95 % interval for the mean of `values`, over groups.

    Frames of one stretch of road resemble each other, so stretches and not frames count as independent; one
    weighs as much as it has values. Of one group alone the values count as independent. Where no value is
    below 0, as no error is, the interval is not either.

    >>> [round(bound, 2) for bound in clustered_mean([4.0, 5.0, 6.0, 7.0, 5.0, 5.0], list("aabbcc"))]
    [2.75, 7.92]
    """
    from scipy.special import stdtrit  # which takes long to import

    numbers = np.asarray(values, np.float64)
    if len(numbers) == 0 or len(numbers) != len(groups):
        raise ValueError(f"clustered_mean: {len(numbers)} values for {len(groups)} groups")
    names, members = np.unique(np.asarray(groups), return_inverse=True)
    if len(names) == 1:
        members = np.arange(len(numbers))
    sums, counts = np.bincount(members, numbers), np.bincount(members)
    mean, n = float(numbers.mean()), len(sums)
    if n == 1:
        return mean, mean
    error = float(np.sqrt(n / (n - 1) * ((sums - mean * counts) ** 2).sum())) / len(numbers)
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * error
    low = mean - half
    return (max(0.0, low) if numbers.min() >= 0 else low), mean + half


class _Ladder(NamedTuple):
    """The sum over scenes of log(a) + log(a + r) + ... + log(a + (count - 1) r), ready for any a and r.

    Scenes share the rungs 0, 1, 2, ...: rung i counts once for each scene with more than i.
    """

    rungs: Floats
    scenes: Floats
    spread: Floats

    def log_sum(self, start: Floats, step: Floats) -> Floats:
        """`start` `(..., 1)` and `step` `(..., 1)` give `(...)`."""
        at = start + self.rungs * step
        total = np.log(at) @ self.scenes
        if self.spread.any():
            total -= (step / at) ** 2 @ self.spread / 2
        return np.asarray(total)


def _ladder(counts: npt.NDArray[np.int64]) -> _Ladder:
    """Rungs beyond 64 are taken together within 3 %, at their mean and with the second-order term.

    So even a million cases in a scene are a few hundred rungs.
    """
    above = len(counts) - np.cumsum(np.bincount(counts), dtype=np.float64)[:-1]
    edges = np.arange(min(len(above), 64))
    if len(above) > 64:
        more = 64 * np.exp(np.arange(0, np.log(len(above) / 64), 0.03))
        edges = np.concatenate([edges, np.unique(more.astype(np.int64))])
    rungs = np.arange(len(above))
    block = np.repeat(np.arange(len(edges)), np.diff(edges, append=len(above)))
    scenes = np.add.reduceat(above, edges)
    centre = np.add.reduceat(above * rungs, edges) / scenes
    spread = np.add.reduceat(above * (rungs - centre[block]) ** 2, edges)
    return _Ladder(centre, scenes, spread)


class _Counts(NamedTuple):
    hits: _Ladder
    misses: _Ladder
    trials: _Ladder

    def log_posterior(self, rates: Floats, correlations: Floats) -> Floats:
        """`float64 (n, k)` for angles `(n,)` and `(k,)`, of which sin² is the rate and the correlation."""
        rate, step = rates[:, None, None], np.sin(correlations[:, None]) ** 2
        likelihood = (
            self.hits.log_sum(np.sin(rate) ** 2 * (1 - step), step)
            + self.misses.log_sum(np.cos(rate) ** 2 * (1 - step), step)
            - self.trials.log_sum(1 - step, step)
        )
        # Flat in the rate's angle (Jeffreys' prior) and in the square root of the correlation.
        return likelihood + np.log(np.cos(correlations))


def _posterior(counts: _Counts) -> tuple[Floats, Floats]:
    """Edges of cells of the rate (angles), and the posterior's mass below each.

    The grid is narrowed until it is no wider than the mass: first for the rate, which has one peak whatever
    the correlation, and where that changes nothing for the correlation.
    """
    rates = correlations = (0.0, np.pi / 2)
    while True:
        x, y = np.linspace(*rates, RATES + 1), np.linspace(*correlations, CORRELATIONS + 1)
        values = counts.log_posterior((x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2)
        weights = np.exp(values - values.max())
        by_rate = weights.sum(axis=1)
        if (narrower := _full_cells(x, by_rate)) is not None:
            rates = narrower
        elif (narrower := _full_cells(y, weights.sum(axis=0))) is not None:
            correlations = narrower
        else:
            mass = np.concatenate([[0.0], np.cumsum(by_rate)])
            return x, mass / mass[-1]


def _full_cells(edges: Floats, mass: Floats) -> tuple[float, float] | None:
    """From where to where the mass is, a cell more on either side; None if that is most of the range."""
    full = np.flatnonzero(mass > NEGLIGIBLE * mass.max())
    first, last = max(full[0] - 1, 0), min(full[-1] + 2, len(mass))
    return None if last - first > 0.6 * len(mass) else (float(edges[first]), float(edges[last]))
