"""Are several systems equally good? Tests on ranks, and how large a difference is.

Ties are ties: values are ranked as exact fractions (`instar.stats.exact_values`), so that 29/30 counts as
29/30 whichever way its last bit was rounded.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy import stats

from instar.stats.exact_values import Standings, exact_value, order_of

Floats = npt.NDArray[np.float64]

Numbers = npt.ArrayLike | Sequence[Fraction]
Table = npt.ArrayLike | Sequence[Sequence[Fraction]]


@dataclass(frozen=True, slots=True)
class RankTest:
    """The statistic of a test with its p-value: how likely so large a one is where nothing differs."""

    statistic: float
    p: float


def friedman(values: Table) -> RankTest:
    """Friedman's test that k systems (columns) do alike on n pictures (rows), with the correction for ties.

    >>> found = friedman([[1, 2, 3], [1, 2, 3], [1, 2, 3]])
    >>> round(found.statistic, 6), round(found.p, 6)
    (6.0, 0.049787)
    """
    table = _table("friedman", values)
    if not np.ptp(table, axis=1).any():  # every row is one tie, and the correction would divide by zero
        return RankTest(0.0, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small samples are the caller's to judge
        found = stats.friedmanchisquare(*table.T)
    return RankTest(float(found.statistic), float(found.pvalue))


def nemenyi(values: Table) -> Floats:
    """`float64 (k, k)`: p-values of Nemenyi's test for each pair of systems, after Friedman's.

    Columns are systems and rows pictures, as for `friedman`.
    """
    table = _table("nemenyi", values)
    n, k = table.shape
    means = stats.rankdata(table, axis=1).mean(axis=0)
    apart = np.abs(means[:, None] - means[None, :]) / np.sqrt(k * (k + 1) / (6 * n))
    p = np.asarray(stats.studentized_range.sf(apart * np.sqrt(2), k, np.inf), np.float64)
    np.fill_diagonal(p, 1.0)
    return np.clip(p, 0.0, 1.0)


def signed_rank(a: Numbers, b: Numbers) -> RankTest:
    """Wilcoxon's test that paired values are alike, two-sided; pairs without a difference are dropped.

    >>> found = signed_rank([1, 2, 3, 4, 5], [2, 4, 6, 8, 10])
    >>> found.statistic, found.p
    (0.0, 0.0625)
    """
    first, second = np.asarray(a, object), np.asarray(b, object)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"signed_rank: shapes {first.shape} and {second.shape}; give as many of either")
    apart = [exact_value(one) - exact_value(other) for one, other in zip(first, second)]
    apart = [difference for difference in apart if difference]
    if not apart:
        return RankTest(0.0, 1.0)
    signs = np.array([1 if difference > 0 else -1 for difference in apart])
    found = stats.wilcoxon(signs * (1 + order_of(map(abs, apart))))
    return RankTest(float(found.statistic), float(found.pvalue))


def vargha_delaney(a: Numbers, b: Numbers) -> float:
    """How likely a value of `a` exceeds one of `b`, ties counting half: 0.5 where neither is better.

    >>> vargha_delaney([2, 3], [1, 2])
    0.875
    """
    first, second = np.asarray(a, object), np.asarray(b, object)
    if not (first.size and second.size):
        raise ValueError("vargha_delaney: both groups need at least one value")
    ranks = stats.rankdata(order_of(np.concatenate([first, second])))
    own = float(ranks[: first.size].sum())
    return (own / first.size - (first.size + 1) / 2) / second.size


def magnitude(a: float) -> str:
    """What Vargha and Delaney call an effect of that size.

    >>> [magnitude(a) for a in (0.5, 0.57, 0.35, 0.95)]
    ['negligible', 'small', 'medium', 'large']
    """
    away = abs(a - 0.5)
    return "negligible" if away < 0.06 else "small" if away < 0.14 else "medium" if away < 0.21 else "large"


def _table(who: str, values: Table) -> Standings:
    table = np.asarray(values, object)
    if table.ndim != 2 or table.shape[1] < 3 or table.shape[0] < 2:
        raise ValueError(f"{who}: a table of shape {table.shape}; it needs 2 rows and 3 systems at least")
    if not np.isfinite(table.astype(np.float64)).all():
        raise ValueError(f"{who}: the table has values that are not finite")
    return order_of(table.ravel()).reshape(table.shape)
