"""Two systems asked the same questions: does one fail more often than the other?"""

from __future__ import annotations

from fractions import Fraction
from math import comb

__all__ = ["mcnemar"]

EXACT = 1000
"""Pairs that differ, up to which the binomial is summed; beyond, the normal approximation is as good."""


def mcnemar(broken: int, fixed: int) -> float:
    """The two-sided p-value of McNemar's test, exact: `broken` and `fixed` are the pairs that differ.

    >>> mcnemar(0, 0), round(mcnemar(1, 9), 4)
    (1.0, 0.0215)
    """
    if broken < 0 or fixed < 0:
        raise ValueError(f"mcnemar: {broken} and {fixed} are no numbers of pairs")
    n, fewer = broken + fixed, min(broken, fixed)
    if n == 0:
        return 1.0
    if n <= EXACT:
        ways = sum(comb(n, k) for k in range(fewer + 1))
        return min(1.0, float(Fraction(2 * ways, 2**n)))
    from statistics import NormalDist

    z = (abs(broken - fixed) - 1) / n**0.5
    return min(1.0, 2 * NormalDist().cdf(-max(0.0, z)))
