"""A float is the fraction that it stands for, and keeps its place among others."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.stats.exact_values import exact_value, order_of, varies

finite = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(-50, 50))
def test_a_share_is_itself_however_its_last_bits_were_rounded(one, other, bits):
    part, whole = sorted((one, other))
    share = part / whole + bits * np.spacing(part / whole)
    assert (exact_value(share), exact_value(-share)) == (Fraction(part, whole), Fraction(-part, whole))


@given(st.lists(finite, min_size=2, max_size=6))
def test_no_two_values_change_places(values):
    places = order_of(values)
    for (one, its), (other, others) in zip(zip(values, places), zip(values[1:], places[1:])):
        if its != others:
            assert (its < others) == (one < other)


@pytest.mark.parametrize("scale", [1e-300, 1e-7, 1.0, 1e300])
def test_values_a_billionth_apart_are_not_the_same_at_any_scale(scale):
    assert order_of([scale, scale * (1 + 1e-9), 0.0, -scale]).tolist() == [2, 3, 1, 0]


def test_fractions_and_whole_numbers_are_what_they_are():
    close = Fraction(10**20 + 1, 10**20)
    assert (exact_value(close), exact_value(3), exact_value(0.0)) == (close, 3, 0)


def test_rounding_is_no_variation():
    assert not varies(np.array([29 / 30, np.nextafter(29 / 30, 1)]))
    assert not varies(np.zeros(3))
    assert varies(np.array([1e-9, 2e-9]))
