from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as reference

from instar.stats import bootstrap_rate, wilson


@st.composite
def groups(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    judged = draw(st.lists(st.integers(0, 30), min_size=1, max_size=30).filter(any))
    return [draw(st.integers(0, n)) for n in judged], judged


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (1, 10), (37, 412), (500, 1000), (9, 9)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_wilson_agrees_with_scipy(successes: int, n: int, level: float) -> None:
    expected = reference.binomtest(successes, n).proportion_ci(level, method="wilson")
    assert wilson(successes, n, level) == pytest.approx((expected.low, expected.high), abs=1e-12)


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


@pytest.mark.parametrize(("successes", "n", "level"), [(1, 0, 0.9), (3, 2, 0.9), (-1, 2, 0.9), (1, 2, 1.0)])
def test_wilson_refuses_what_is_no_share(successes: int, n: int, level: float) -> None:
    with pytest.raises(ValueError, match=r"wilson|level"):
        wilson(successes, n, level)


def test_the_bootstrap_agrees_with_scipy() -> None:
    rng = np.random.default_rng(3)
    judged = rng.integers(1, 20, 40)
    violated = rng.binomial(judged, rng.beta(0.5, 3, 40))
    expected = reference.bootstrap(
        (violated, judged),
        lambda v, j, axis=-1: v.sum(axis=axis) / j.sum(axis=axis),
        paired=True,
        method="percentile",
        n_resamples=20_000,
        rng=np.random.default_rng(1),
    ).confidence_interval
    ours = bootstrap_rate(violated, judged, resamples=20_000)
    assert ours == pytest.approx((expected.low, expected.high), abs=0.004)


def test_the_bootstrap_of_equal_groups_agrees_with_the_binomial_law() -> None:
    # 12 of 40 groups wholly violated: the resampled count of violated groups is binomial(40, 0.3).
    law = reference.binom(40, 0.3)
    low, high = bootstrap_rate([5] * 12 + [0] * 28, [5] * 40, resamples=50_000)
    assert (low, high) == (law.ppf(0.025) / 40, law.ppf(0.975) / 40)


def test_the_bootstrap_covers_the_true_rate_where_an_interval_over_cases_does_not() -> None:
    rng = np.random.default_rng(11)
    over_scenes = over_cases = 0
    for _ in range(300):
        rates = rng.beta(1, 4, 60)  # mean 0.2; scenes differ much
        violated = rng.binomial(10, rates)
        low, high = bootstrap_rate(violated, np.full(60, 10), resamples=500)
        over_scenes += low <= 0.2 <= high
        low, high = wilson(violated.sum(), 600)
        over_cases += low <= 0.2 <= high
    assert over_scenes >= 270  # of 300; 285 would be exact
    assert over_cases <= 240


@settings(deadline=None)
@given(groups(), st.randoms(use_true_random=False))
def test_the_order_of_scenes_changes_nothing(counts: tuple[list[int], list[int]], random: object) -> None:
    violated, judged = counts
    order = list(range(len(judged)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = bootstrap_rate([violated[i] for i in order], [judged[i] for i in order], resamples=100)
    assert shuffled == bootstrap_rate(violated, judged, resamples=100)


@settings(deadline=None)
@given(groups())
def test_the_interval_contains_the_rate(counts: tuple[list[int], list[int]]) -> None:
    violated, judged = counts
    low, high = bootstrap_rate(violated, judged, resamples=100)
    assert 0 <= low <= sum(violated) / sum(judged) <= high <= 1


def test_scenes_in_which_nothing_was_judged_are_left_out() -> None:
    assert bootstrap_rate([1, 0, 0, 3], [4, 0, 0, 6]) == bootstrap_rate([1, 3], [4, 6])


def test_no_violation_at_all_is_not_certainty() -> None:
    assert bootstrap_rate([0] * 20, [10] * 20) == wilson(0, 20)


def test_a_single_scene_is_one_trial() -> None:
    assert bootstrap_rate([3], [12]) == wilson(0.25, 1)


@pytest.mark.parametrize(("violated", "judged"), [([], []), ([0, 0], [0, 0]), ([2], [1]), ([-1], [3])])
def test_the_bootstrap_refuses_counts_that_make_no_rate(violated: list[int], judged: list[int]) -> None:
    with pytest.raises(ValueError, match="bootstrap_rate"):
        bootstrap_rate(violated, judged)
