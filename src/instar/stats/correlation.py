"""How one number goes with others: correlation, and regression that says how well it predicts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from instar.stats.exact_values import varies

Floats = npt.NDArray[np.float64]


def correlations(values: npt.ArrayLike) -> Floats:
    """`float64 (k, k)`: Pearson's coefficient of each pair of columns of a table `(n, k)`.

    A missing value (NaN) leaves out its row for that pair. NaN where fewer than three rows are left or
    a column does not vary: nothing can be said then.

    >>> correlations([[1, 2, 5], [2, 4, 5], [3, 6, 5]]).round(2).tolist()
    [[1.0, 1.0, nan], [1.0, 1.0, nan], [nan, nan, nan]]
    """
    table = np.asarray(values, np.float64)
    columns = table.shape[1]
    found = np.full((columns, columns), np.nan)
    for i in range(columns):
        for j in range(i, columns):
            both = np.isfinite(table[:, i]) & np.isfinite(table[:, j])
            x, y = table[both, i], table[both, j]
            if len(x) >= 3 and varies(x) and varies(y):
                found[i, j] = found[j, i] = np.corrcoef(x, y)[0, 1]
    return found


@dataclass(frozen=True, slots=True)
class LineFit:
    """A linear model: `weights` are per standard deviation of each feature.

    `r2` is what it explains of the data that it was fitted to; `r2_unseen` of rows left out one by one
    while fitting, which is below 0 for a model that does worse than the mean.
    """

    weights: tuple[float, ...]
    intercept: float
    r2: float
    r2_unseen: float


def regress(features: npt.ArrayLike, target: npt.ArrayLike, *, ridge: float = 0.0) -> LineFit:
    """Least squares of `target` `(n,)` on `features` `(n, p)`, with weights held small by `ridge`.

    >>> fit = regress([[0], [1], [2], [3]], [1, 3, 5, 7])
    >>> round(fit.intercept, 6), round(fit.r2, 6), round(fit.r2_unseen, 6)
    (4.0, 1.0, 1.0)
    """
    x, y = np.asarray(features, np.float64), np.asarray(target, np.float64)
    n, p = x.shape
    if n < p + 2:
        raise ValueError(f"regress: {n} rows are too few for {p} features")
    if ridge < 0:
        raise ValueError(f"regress: ridge is {ridge}; it must be at least 0")
    total = float(((y - y.mean()) ** 2).sum())
    if not varies(y):
        raise ValueError("regress: the target does not vary")
    weights, intercept, centre, scale = _solve(x, y, ridge)
    left = y - (intercept + (x - centre) / scale @ weights)
    # The mean that an unseen row is held against must not have seen it either.
    unseen, baseline = 0.0, 0.0
    for i in range(n):
        rest = np.arange(n) != i
        w, b, c, s = _solve(x[rest], y[rest], ridge)
        unseen += float((y[i] - (b + (x[i] - c) / s @ w)) ** 2)
        baseline += float((y[i] - y[rest].mean()) ** 2)
    return LineFit(
        tuple(float(weight) for weight in weights),
        float(intercept),
        1 - float((left**2).sum()) / total,
        1 - unseen / baseline,
    )


def _solve(x: Floats, y: Floats, ridge: float) -> tuple[Floats, float, Floats, Floats]:
    """Weights and intercept for standardised features, and the standards."""
    centre, spread = x.mean(axis=0), x.std(axis=0)
    scale = np.where([varies(feature) for feature in x.T], spread, 1.0)
    standard = (x - centre) / scale
    # Ridge as more rows of data: zero is wished for each weight. Stays solvable where features coincide.
    rows = np.vstack([standard, np.sqrt(ridge) * np.eye(x.shape[1])])
    wanted = np.concatenate([y - y.mean(), np.zeros(x.shape[1])])
    weights = np.linalg.lstsq(rows, wanted, rcond=None)[0]
    return np.asarray(weights, np.float64), float(y.mean()), centre, scale
