"""Floats as the fractions that they stand for, so that equal shares tie.

29/30 may be written as 0.9666666666666668 or 0.9666666666666667, as its sum was rounded. Both are 29/30 here.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import numpy.typing as npt

Standings = npt.NDArray[np.int64]
"""Whole numbers that stand in the order of the values, the same for equal ones."""

ROUNDING = 1e-12
"""Of a float: sums of shares may be off by that much. Shares in up to a million parts are further apart."""


def exact_value(value: Any) -> Fraction:
    """A float is the simplest fraction that it can be; anything else is what it is.

    >>> exact_value(0.9666666666666668), exact_value(-3e-7)
    (Fraction(29, 30), Fraction(-3, 10000000))
    """
    given = Fraction(value)
    if not (isinstance(value, float) and given):
        return given
    size, off = abs(given), abs(given) * Fraction(ROUNDING)
    found = _simplest(size - off, size + off)
    return found if given > 0 else -found


def order_of(values: Iterable[Any]) -> Standings:
    """Where each value stands among all, from 0 on.

    >>> order_of([0.5, 0.1 + 0.2, 0.3]).tolist()
    [1, 0, 0]
    """
    given = [exact_value(value) for value in values]
    places = {value: place for place, value in enumerate(sorted(set(given)))}
    return np.array([places[value] for value in given], np.int64)


def varies(values: npt.NDArray[np.float64]) -> bool:
    """Whether there are different values, beyond what rounding makes of one."""
    return bool(np.ptp(values) > ROUNDING * np.abs(values).max())


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of the smallest denominator from `low` to `high`, both above 0."""
    whole = floor(low)
    if whole == low or whole + 1 <= high:
        return Fraction(whole if whole == low else whole + 1)
    return whole + 1 / _simplest(1 / (high - whole), 1 / (low - whole))
