"""Rank tests and effect sizes agree with the libraries that are known for them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.stats.ranks import friedman, magnitude, nemenyi, signed_rank, vargha_delaney

# Ties within rows, eight rows, four systems.
TABLE = [
    [1.0, 0.9, 0.8, 0.2], [0.7, 0.9, 0.0, 0.8], [1.2, 0.5, 0.3, 0.3], [0.7, 0.4, 0.5, 0.6],
    [1.4, 0.8, 0.6, 1.0], [0.6, 0.2, 0.6, 0.0], [0.4, 0.5, 0.5, 0.9], [1.0, 0.5, 0.5, 0.2],
]  # fmt: skip
numbers = st.lists(st.integers(-5, 5), min_size=1, max_size=12)


def test_friedman_is_that_of_scipy():
    # scipy 1.17 friedmanchisquare
    found = friedman(TABLE)
    assert (found.statistic, found.p) == pytest.approx((5.092105263157886, 0.16517565541917656))


def test_friedman_of_nothing_but_ties_finds_nothing():
    assert friedman(np.ones((5, 3))) == friedman(np.zeros((2, 4)))
    assert friedman(np.ones((5, 3))).p == 1.0


def test_nemenyi_is_that_of_scikit_posthocs():
    # scikit-posthocs 0.17.1 posthoc_nemenyi_friedman
    expected = [
        [1.0, 0.5893340195493312, 0.17572573419661797, 0.30144940874266324],
        [0.5893340195493312, 1.0, 0.8659775649526871, 0.9626438513058684],
        [0.17572573419661797, 0.8659775649526871, 1.0, 0.9914703498334936],
        [0.30144940874266324, 0.9626438513058684, 0.9914703498334936, 1.0],
    ]
    assert nemenyi(TABLE) == pytest.approx(np.array(expected), abs=1e-9)


def test_signed_ranks_are_those_of_scipy_and_ties_are_dropped():
    # scipy 1.17 wilcoxon
    found = signed_rank([row[0] for row in TABLE] + [7.0], [row[1] for row in TABLE] + [7.0])
    assert (found.statistic, found.p) == pytest.approx((4.5, 0.0625))
    assert signed_rank([1, 2], [1, 2]).p == 1.0
    with pytest.raises(ValueError, match="give as many of either"):
        signed_rank([1, 2], [1])


@given(numbers, numbers)
def test_vargha_delaney_counts_pairs(a, b):
    wins = np.mean([(x > y) + 0.5 * (x == y) for x in a for y in b])
    assert vargha_delaney(a, b) == pytest.approx(wins)
    assert vargha_delaney(a, b) + vargha_delaney(b, a) == pytest.approx(1)


def test_sizes_of_effects_have_names_on_both_sides():
    assert [magnitude(a) for a in (0.45, 0.57, 0.35, 0.65, 0.28, 0.72)] == [
        "negligible", "small", "medium", "medium", "large", "large",
    ]  # fmt: skip


@pytest.mark.parametrize("table", [[[1, 2]], [[1, 2], [3, 4]], [[1, 2, np.nan], [1, 2, 3]]])
@pytest.mark.parametrize("test", [friedman, nemenyi])
def test_too_small_or_broken_tables_are_refused(test, table):
    with pytest.raises(ValueError, match=f"{test.__name__}: "):
        test(table)


def test_an_effect_needs_values():
    with pytest.raises(ValueError, match="at least one value"):
        vargha_delaney([], [1])


def test_equal_shares_tie_however_their_last_bit_was_rounded():
    # Ten follow-ups each: the mean of nine ones and two thirds, summed in two orders, is 29/30 twice.
    early, late = np.mean([2 / 3] + [1.0] * 9), float(np.mean([1.0] * 9 + [2 / 3]))
    late = np.nextafter(late, 1) if late == early else late
    assert early != late
    third = Fraction(1, 3)
    rows = [[early, late, 0.5], [late, early, 0.5], [0.8, 0.7, 0.9], [0.6, 0.9, 0.7], [1.0, 0.9, 0.2]]
    exact = [[Fraction(29, 30)] * 2 + [0.5]] * 2 + rows[2:]
    assert friedman(rows) == friedman(exact)
    assert friedman(rows).statistic == pytest.approx(1.333333333)
    assert np.array_equal(nemenyi(rows), nemenyi(exact))
    assert vargha_delaney([early, 0.3], [late, 0.3]) == 0.5
    assert vargha_delaney([third], [1 / 3]) == 0.5
    assert signed_rank([early, 0.5], [late, 0.5]).p == 1.0


@pytest.mark.parametrize("unit", [1e-9, 1e-7, 1.0, 1e9])
def test_ranks_are_the_same_in_whatever_unit_values_are_given(unit):
    rows = [[unit * value for value in row] for row in TABLE]
    assert friedman(rows) == friedman(TABLE)
    assert np.array_equal(nemenyi(rows), nemenyi(TABLE))
    assert vargha_delaney(rows[0], rows[1]) == vargha_delaney(TABLE[0], TABLE[1])
    assert signed_rank(rows[0], rows[1]) == signed_rank(TABLE[0], TABLE[1])


def test_differences_tie_that_floats_tell_apart():
    # 0.3 - 0.2 and 0.2 - 0.1 are the same tenth, of opposite sign: neither outweighs the other.
    assert 0.3 - 0.2 != 0.2 - 0.1
    assert signed_rank([0.3, 0.1], [0.2, 0.2]).statistic == 1.5
