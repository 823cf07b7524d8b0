"""Association rules are those of mlxtend."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from instar.stats.association_rules import apriori, frequent

FACTS = {
    "a": [1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, 1],
    "b": [1, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1],
    "c": [0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 0],
    "d": [0, 0, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0],
}


def test_frequent_sets_are_those_of_mlxtend():
    # mlxtend 0.25 apriori, min_support 0.2
    assert frequent(FACTS, support=0.2) == pytest.approx(
        {
            ("a",): 0.65, ("b",): 0.85, ("c",): 0.4, ("d",): 0.35, ("a", "b"): 0.55, ("a", "c"): 0.25,
            ("a", "d"): 0.2, ("b", "c"): 0.35, ("b", "d"): 0.2, ("a", "b", "c"): 0.2,
        }
    )  # fmt: skip


def test_rules_are_those_of_mlxtend():
    # mlxtend 0.25 association_rules with confidence 0.6, those with one consequence
    rules = apriori(FACTS, support=0.2, confidence=0.6)
    found = {(rule.given, rule.then): (rule.support, rule.confidence, rule.lift) for rule in rules}
    expected = {
        (("a",), "b"): (0.55, 0.8461538461538461, 0.995475113122172),
        (("a", "c"), "b"): (0.2, 0.8, 0.9411764705882354),
        (("b",), "a"): (0.55, 0.6470588235294118, 0.995475113122172),
        (("c",), "a"): (0.25, 0.625, 0.9615384615384615),
        (("c",), "b"): (0.35, 0.875, 1.0294117647058822),
    }
    assert found.keys() == expected.keys()
    assert all(found[key] == pytest.approx(expected[key]) for key in expected)
    assert [rule.then for rule in rules][:1] == ["b"]  # the most confident first


@given(arrays(np.bool_, st.tuples(st.integers(1, 12), st.integers(1, 5))))
def test_frequent_sets_are_those_that_trying_each_one_finds(rows):
    facts = {name: rows[:, i] for i, name in enumerate("abcde"[: rows.shape[1]])}
    expected = {
        names: np.all([facts[name] for name in names], axis=0).mean()
        for length in range(1, 5)
        for names in combinations(facts, length)
    }
    found = frequent(facts, support=0.3)
    assert found == {names: share for names, share in expected.items() if share >= 0.3}


def test_a_senseless_support_is_refused():
    with pytest.raises(ValueError, match="support is 0"):
        frequent(FACTS, support=0)


def test_what_tells_nothing_of_the_other_has_a_lift_of_just_one():
    # 6 of 9 rows are 20 of 30; floats make it 1.0000000000000002.
    facts = {"dark": np.arange(30) < 9, "blurred": (np.arange(30) >= 3) & (np.arange(30) < 23)}
    assert [rule.lift for rule in apriori(facts, support=0.1, confidence=0.1)] == [1.0, 1.0]
