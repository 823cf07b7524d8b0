"""How far raters agree: Krippendorff's alpha, for any number of raters and with ratings missing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instar.stats.exact_values import order_of

Floats = npt.NDArray[np.float64]


def krippendorff_alpha(ratings: npt.ArrayLike) -> float:
    """1 where all agree, 0 where they agree as chance would, below that where they contradict each other.

    `ratings` is `(raters, units)`, ordinal, NaN where a rater gave none. The result is NaN where nothing can
    be compared: no unit has two ratings, or all are the same.

    >>> krippendorff_alpha([[1, 2, 3], [1, 2, 3]])
    1.0
    """
    table = np.asarray(ratings, np.float64)
    if table.ndim != 2:
        raise ValueError(f"ratings have {table.ndim} axes; they must be (raters, units)")
    given = np.isfinite(table)
    places = np.full(table.shape, -1)  # among the values, on which alone the distance rests
    distinct, which = np.unique(table[given], return_inverse=True)
    places[given] = order_of(distinct)[which]
    values = np.unique(places[given])
    counts = np.array([[(unit == value).sum() for value in values] for unit in places.T], np.float64)
    counts = counts.reshape(-1, len(values))
    counts = counts[counts.sum(axis=1) >= 2]  # what one rater alone has seen cannot be compared
    if not len(counts):
        return float("nan")
    pairs = _coincidences(counts)
    margins = pairs.sum(axis=0)
    ranks = np.cumsum(margins) - margins / 2  # the middle of each value's ratings
    distance = (ranks[:, None] - ranks) ** 2
    expected = float((np.outer(margins, margins) * distance).sum())
    if expected == 0:
        return float("nan")
    return 1 - float((margins.sum() - 1) * (pairs * distance).sum() / expected)


def _coincidences(counts: Floats) -> Floats:
    """How often two raters of one unit gave this value and that, each unit weighing as many as rated it."""
    weights = 1 / (counts.sum(axis=1) - 1)
    pairs = np.einsum("uc,uk,u->ck", counts, counts, weights)
    return np.asarray(pairs - np.diag((counts * weights[:, None]).sum(axis=0)))
