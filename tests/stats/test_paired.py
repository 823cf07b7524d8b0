from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as reference

from instar.stats.paired import adjust_holm, flip_signs


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(-40, 40), min_size=6, max_size=10))
def test_every_choice_of_signs_is_counted(differences: list[int]) -> None:
    sums = [abs(np.dot(differences, signs)) for signs in product((1, -1), repeat=len(differences))]
    expected = np.mean(np.array(sums) >= abs(sum(differences)))
    assert flip_signs(differences) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "differences", [[3, 1, 0, 2, -1, 4, 2], [5, -2, 1, 1, 0, 3, -1, 2, 2], [1] * 7 + [-1] * 2]
)  # fmt: skip
def test_it_is_the_permutation_test_of_scipy(differences: list[int]) -> None:
    expected = reference.permutation_test(
        (differences,), np.sum, permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
    )
    assert flip_signs(differences) == pytest.approx(expected.pvalue, abs=1e-12)


@pytest.mark.parametrize(("broken", "fixed"), [(9, 1), (40, 12), (5, 5), (30, 7)])
def test_with_a_case_in_each_scene_it_is_the_exact_test_of_mcnemar(broken: int, fixed: int) -> None:
    expected = reference.binomtest(broken, broken + fixed).pvalue
    assert flip_signs([1] * broken + [-1] * fixed + [0] * 5) == pytest.approx(expected, abs=1e-12)


def test_under_six_scenes_nothing_is_said() -> None:
    assert flip_signs([]) is None
    assert flip_signs([9] * 5) is None
    assert flip_signs([9] * 6) == pytest.approx(2 / 2**6)


def test_no_difference_is_no_evidence() -> None:
    assert flip_signs([0] * 8) == 1.0
    assert flip_signs([1, -1, 0, 0, 0, 0]) == 1.0


def test_neither_order_nor_which_system_is_first_changes_it() -> None:
    differences = [3, 1, 0, 2, -1, 4, 2]
    assert flip_signs(differences) == flip_signs(differences[::-1]) == flip_signs([-d for d in differences])


def test_a_hundred_thousand_scenes_are_counted_too() -> None:
    differences = np.random.default_rng(0).integers(-5, 6, 100_000)
    z = abs(differences.sum()) / np.sqrt((differences**2).sum())
    assert flip_signs(differences) == pytest.approx(2 * reference.norm.sf(z), abs=2e-3)
    assert flip_signs(np.abs(differences)) == 1e-12


def test_equal_systems_are_rarely_called_different_where_cases_of_a_scene_go_together() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.binomial(15, rng.beta(0.4, 1.6, (2, 1000, 12)))  # one distribution for both
    called = sum(flip_signs(row) < 0.05 for row in second - first)
    assert called <= 65
    # The cases counted as independent call them different in every third comparison.
    total = np.array([second.sum(axis=1), first.sum(axis=1)])
    by_cases = 2 * reference.binom.cdf(total.min(axis=0), total.sum(axis=0), 0.5)
    assert (by_cases < 0.05).sum() >= 300


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holms_adjustment_keeps_the_order_and_never_makes_smaller(p_values: list[float]) -> None:
    adjusted = adjust_holm(p_values)
    assert all(p <= q <= min(1.0, p * len(p_values)) + 1e-12 for p, q in zip(p_values, adjusted))
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    assert [adjusted[i] for i in order] == sorted(adjusted)


def test_holms_adjustment_of_a_textbook_example() -> None:
    assert adjust_holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert adjust_holm([]) == []
