"""Two systems asked the same questions: does one fail more often than the other?"""

from __future__ import annotations

__all__ = ["mcnemar"]


def mcnemar(broken: int, fixed: int) -> float:
    """The two-sided p-value of McNemar's test, exact: `broken` and `fixed` are the pairs that differ.

    >>> mcnemar(0, 0), round(mcnemar(1, 9), 4)
    (1.0, 0.0215)
    """
    from scipy.stats import binomtest  # which takes long to import

    if broken < 0 or fixed < 0:
        raise ValueError(f"mcnemar: {broken} and {fixed} are no numbers of pairs")
    return float(binomtest(broken, broken + fixed).pvalue) if broken + fixed else 1.0
