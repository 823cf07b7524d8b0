from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as reference

from instar.stats import bound_when_none, clustered_mean, clustered_rate, wilson


@st.composite
def groups(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    judged = draw(st.lists(st.integers(0, 30), min_size=1, max_size=30).filter(any))
    return [draw(st.integers(0, n)) for n in judged], judged


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (1, 10), (37, 412), (500, 1000), (9, 9)])
def test_wilson_agrees_with_scipy(successes: int, n: int) -> None:
    expected = reference.binomtest(successes, n).proportion_ci(0.95, method="wilson")
    assert wilson(successes, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


@settings(deadline=None)
@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_contains_the_share_and_stays_within_zero_and_one(counts: tuple[int, int]) -> None:
    successes, n = counts
    low, high = wilson(successes, n)
    assert 0 <= low <= successes / n <= high <= 1
    assert low < high


def test_wilson_touches_the_share_where_all_or_none_succeeded() -> None:
    assert wilson(0, 7)[0] == 0.0
    assert wilson(7, 7)[1] == 1.0


@pytest.mark.parametrize(("successes", "n"), [(1, 0), (3, 2), (-1, 2)])
def test_wilson_refuses_what_is_no_share(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="wilson"):
        wilson(successes, n)


def brute_force(violated: list[int], judged: list[int], tail: float) -> tuple[float, float]:
    """The same posterior by SciPy's beta-binomial law on a dense grid of one size."""
    angles, roots = (np.arange(3000) + 0.5) / 3000 * np.pi / 2, (np.arange(150) + 0.5) / 150
    rates, correlations = np.sin(angles)[:, None] ** 2, roots**2
    strength = (1 - correlations) / correlations
    scenes = zip(violated, judged)
    law = [reference.betabinom.logpmf(v, j, rates * strength, (1 - rates) * strength) for v, j in scenes]
    mass = np.cumsum(np.exp(sum(law)).sum(axis=1))
    low, high = np.sin(np.interp([tail, 1 - tail], mass / mass[-1], angles)) ** 2
    return float(low), float(high)


@pytest.mark.parametrize(
    ("violated", "judged"),
    [
        ([2, 0, 1, 0, 7, 0], [5, 5, 9, 12, 8, 3]),
        ([3], [12]),
        ([1, 2] * 20, [9, 10] * 20),
        ([0, 4] * 4, [4] * 8),
    ],
)
def test_the_interval_is_that_of_the_beta_binomial_posterior(violated: list[int], judged: list[int]) -> None:
    expected = brute_force(violated, judged, 0.025 * max(0.5, 1 - 2 / len(judged)))
    found = clustered_rate(violated, judged)
    assert found == pytest.approx(expected, abs=0.01 * (expected[1] - expected[0]))


def coverage(scenes: int, rate: float, correlation: float, cases: int, campaigns: int) -> float:
    rng = np.random.default_rng(11)
    strength = (1 - correlation) / correlation
    rates = rng.beta(rate * strength, (1 - rate) * strength, (campaigns, scenes))
    bounds = [clustered_rate(row, np.full(scenes, cases)) for row in rng.binomial(cases, rates)]
    return float(np.mean([low <= rate <= high for low, high in bounds]))


@pytest.mark.parametrize(
    ("scenes", "rate", "correlation", "cases"), [(5, 0.1, 0.5, 15), (5, 0.4, 0.5, 15), (12, 0.1, 0.3, 15)]
)  # fmt: skip
def test_few_scenes_that_differ_much_are_enough_for_an_interval_that_holds(
    scenes: int, rate: float, correlation: float, cases: int
) -> None:
    # The percentile bootstrap over scenes covers in 82 to 87 % here.
    assert coverage(scenes, rate, correlation, cases, campaigns=600) >= 0.93


def test_many_scenes_that_do_not_differ_are_as_good_as_independent_cases() -> None:
    rng = np.random.default_rng(3)
    judged = rng.integers(5, 36, 3000)
    violated = rng.binomial(judged, 0.1)
    expected = wilson(int(violated.sum()), int(judged.sum()))
    found = clustered_rate(violated, judged)
    assert np.ptp(found) == pytest.approx(np.ptp(expected), rel=0.05)


def test_many_scenes_that_differ_give_the_interval_of_their_mean() -> None:
    rng = np.random.default_rng(3)
    shares = rng.binomial(20, rng.beta(1, 4, 3000)) / 20
    half = 1.96 * shares.std(ddof=1) / 3000**0.5
    found = clustered_rate((shares * 20).round().astype(int), [20] * 3000)
    assert found == pytest.approx((shares.mean() - half, shares.mean() + half), abs=0.1 * half)


def test_a_hundred_thousand_scenes_and_a_million_cases_in_one_are_no_trouble() -> None:
    rng = np.random.default_rng(5)
    judged = rng.integers(1, 100, 100_000)
    low, high = clustered_rate(rng.binomial(judged, 0.1), judged)
    assert 0.0990 < low < 0.1 < high < 0.1010
    judged = rng.integers(500_000, 1_000_000, 50)
    violated = rng.binomial(judged, 0.1)
    expected = wilson(int(violated.sum()), int(judged.sum()))
    assert np.ptp(clustered_rate(violated, judged)) == pytest.approx(np.ptp(expected), rel=0.15)
    # Cases of one scene, however many, say little about others.
    low, high = clustered_rate([100_000], [1_000_000])
    assert low < 0.05
    assert high > 0.5


@settings(deadline=None)
@given(groups(), st.randoms(use_true_random=False))
def test_the_order_of_scenes_changes_nothing(counts: tuple[list[int], list[int]], random: object) -> None:
    violated, judged = counts
    order = list(range(len(judged)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = clustered_rate([violated[i] for i in order], [judged[i] for i in order])
    assert shuffled == clustered_rate(violated, judged)


@settings(deadline=None)
@given(groups())
def test_the_interval_contains_the_rate(counts: tuple[list[int], list[int]]) -> None:
    violated, judged = counts
    rate = sum(violated) / sum(judged)
    low, high = clustered_rate(violated, judged)
    assert 0 <= low <= rate <= high <= 1
    assert rate > 0 or low == 0
    assert rate < 1 or high == 1


@settings(deadline=None)
@given(groups())
def test_violated_and_held_are_treated_alike(counts: tuple[list[int], list[int]]) -> None:
    violated, judged = counts
    low, high = clustered_rate([j - v for v, j in zip(violated, judged)], judged)
    assert clustered_rate(violated, judged) == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_scenes_in_which_nothing_was_judged_are_left_out() -> None:
    assert clustered_rate([1, 0, 0, 3], [4, 0, 0, 6]) == clustered_rate([1, 3], [4, 6])


def test_no_violation_in_few_scenes_says_less_than_in_as_many_independent_cases() -> None:
    # With a rate of 10 % and a correlation of 0.5, five scenes show nothing in an eighth of all campaigns.
    low, high = clustered_rate([0] * 5, [35] * 5)
    assert low == 0.0
    assert 0.1 < high < 0.3
    assert clustered_rate([0] * 299, [1] * 299) == (0.0, bound_when_none(299))


def test_no_alarm_in_299_bounds_the_rate_at_one_percent() -> None:
    assert bound_when_none(298) > 0.01 > bound_when_none(299)
    assert bound_when_none(1) == pytest.approx(0.95)
    with pytest.raises(ValueError, match="n is 0"):
        bound_when_none(0)


@pytest.mark.parametrize(("violated", "judged"), [([], []), ([0, 0], [0, 0]), ([2], [1]), ([-1], [3])])
def test_counts_that_make_no_rate_are_refused(violated: list[int], judged: list[int]) -> None:
    with pytest.raises(ValueError, match="clustered_rate"):
        clustered_rate(violated, judged)


def test_the_mean_over_groups_of_one_size_is_students_interval_of_their_means() -> None:
    values = np.array([1.0, 2.0, 4.0, 4.0, 6.0, 7.0])
    law = reference.ttest_1samp([1.5, 4.0, 6.5], 0).confidence_interval(0.95)
    assert law.low < 0
    assert clustered_mean(values, list("aabbcc")) == pytest.approx((0.0, law.high))
    assert clustered_mean(values - 2, list("aabbcc")) == pytest.approx((law.low - 2, law.high - 2))


def test_of_one_group_the_values_count_as_independent() -> None:
    law = reference.ttest_1samp([7.0, 8.0, 12.0], 0).confidence_interval(0.95)
    assert clustered_mean([7.0, 8.0, 12.0], list("aaa")) == pytest.approx((law.low, law.high))
    assert clustered_mean([2.5], ["a"]) == (2.5, 2.5)
    with pytest.raises(ValueError, match="2 values for 1 groups"):
        clustered_mean([1.0, 2.0], ["a"])
