"""How far raters agree: Krippendorff's alpha, for any number of raters and with ratings missing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["krippendorff_alpha"]

Floats = npt.NDArray[np.float64]

METRICS = ("nominal", "ordinal", "interval")


def krippendorff_alpha(ratings: npt.ArrayLike, *, metric: str = "ordinal") -> float:
    """1 where all agree, 0 where they agree as chance would, below that where they contradict each other.

    `ratings` is `(raters, units)`, NaN where a rater gave none. "ordinal" minds the order of the values and
    not their distance. NaN where nothing can be compared: no unit has two ratings, or all are the same.

    The example of Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), part D:

    >>> n = float("nan")
    >>> table = [
    ...     [1, 2, 3, 3, 2, 1, 4, 1, 2, n, n, n],
    ...     [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, n, 3],
    ...     [n, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, n],
    ...     [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, n],
    ... ]
    >>> [round(krippendorff_alpha(table, metric=m), 3) for m in ("nominal", "ordinal", "interval")]
    [0.743, 0.815, 0.849]
    """
    if metric not in METRICS:
        raise ValueError(f"metric is {metric!r}; it must be one of {', '.join(METRICS)}")
    table = np.asarray(ratings, np.float64)
    if table.ndim != 2:
        raise ValueError(f"ratings have {table.ndim} axes; they must be (raters, units)")
    values = np.unique(table[np.isfinite(table)])
    counts = np.array([[(unit == value).sum() for value in values] for unit in table.T], np.float64)
    counts = counts.reshape(-1, len(values))
    counts = counts[counts.sum(axis=1) >= 2]  # what one rater alone has seen cannot be compared
    if not len(counts):
        return float("nan")
    pairs = _coincidences(counts)
    margins = pairs.sum(axis=0)
    distance = _distances(values, margins, metric)
    expected = float((np.outer(margins, margins) * distance).sum())
    if expected == 0:
        return float("nan")
    return 1 - float((margins.sum() - 1) * (pairs * distance).sum() / expected)


def _coincidences(counts: Floats) -> Floats:
    """How often two raters of one unit gave this value and that, each unit weighing as many as rated it."""
    weights = 1 / (counts.sum(axis=1) - 1)
    pairs = np.einsum("uc,uk,u->ck", counts, counts, weights)
    return np.asarray(pairs - np.diag((counts * weights[:, None]).sum(axis=0)))


def _distances(values: Floats, margins: Floats, metric: str) -> Floats:
    if metric == "nominal":
        return np.asarray(values[:, None] != values, np.float64)
    if metric == "interval":
        return np.asarray((values[:, None] - values) ** 2)
    # From the middle of one value's ratings to the middle of the other's, in ranks.
    ranks = np.cumsum(margins) - margins / 2
    return np.asarray((ranks[:, None] - ranks) ** 2)
