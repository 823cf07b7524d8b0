"""The measures of the stability paper, one to one and as published."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.core.errors import BadInput
from instar.tasks.text.measures import (
    delta,
    image_similarity,
    match,
    require_matching,
    set_similarity,
    shooting_rate,
)
from instar.tasks.text.polygons import quad_iou


def delta_of(first, second, **options):
    return delta(quad_iou(first, second), **options)


def box(x, y, width=10, height=4):
    return [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]


def boxes(*places):
    return np.array([box(*place) for place in places], np.float32).reshape(-1, 4, 2)


A, B, C = (0, 0), (30, 0), (60, 0)
some_boxes = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 8)), max_size=5).map(lambda b: boxes(*b))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (boxes(), boxes(), 1.0),
        (boxes(A), boxes(), 0.0),
        (boxes(), boxes(A), 0.0),
        (boxes(A, B), boxes(B, A), 1.0),
        (boxes(A, B), boxes(A), 1 / 2),
        (boxes(A, B), boxes(A, C), 1 / 3),
        (boxes(A, A, A), boxes(A), 1 / 3),
        (boxes(A), boxes((3, 0)), 1.0),  # 7 of 13 overlap
        (boxes(A), boxes((4, 0)), 0.0),  # 6 of 14 overlap
    ],
)
def test_delta_counts_pairs_one_to_one(first, second, expected):
    assert delta_of(first, second) == pytest.approx(expected)


def test_exactly_one_minus_eps_is_not_a_match():
    half = boxes((0, 0, 10, 2))
    assert quad_iou(boxes(A), half)[0, 0] == 0.5
    assert delta_of(boxes(A), half) == 0.0
    assert delta_of(boxes(A), half, eps=0.51) == 1.0


def test_the_papers_matching_counts_copies_of_a_box():
    assert delta_of(boxes(A, A, A), boxes(A), matching="paper") == 3.0
    assert delta_of(boxes(A), boxes(A, A, A), matching="paper") == 1 / 3
    assert delta_of(boxes(A, B), boxes(A, C), matching="paper") == 1 / 3
    assert delta_of(boxes(), boxes(), matching="paper") == 1.0


@given(some_boxes, some_boxes)
def test_delta_is_a_mutual_share_and_one_only_for_equal_numbers(first, second):
    value = delta_of(first, second)
    assert 0 <= value <= 1
    assert value == delta_of(second, first)
    assert delta_of(first, first) == 1.0
    assert value < 1 or len(first) == len(second)


@given(some_boxes, some_boxes)
def test_matches_are_as_many_as_possible(first, second):
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    overlap = quad_iou(first, second)
    pairs = match(overlap)
    assert len(set(pairs.values())) == len(pairs)
    assert all(overlap[k, j] > 0.5 for k, j in pairs.items())
    if overlap.size:
        most = int((maximum_bipartite_matching(csr_matrix(overlap > 0.5)) >= 0).sum())
        assert len(pairs) == most


def test_averages_are_those_of_equations_14_and_15():
    assert image_similarity([1.0, 0.5, 0.0]) == 0.5
    # The mean of the pictures' means, not of all follow-ups.
    assert set_similarity({"a": [1.0, 1.0, 1.0], "b": [0.0]}) == 0.5


def test_the_shooting_rate_is_over_all_follow_ups():
    assert shooting_rate({"a": [True, True, True], "b": [False]}) == 0.75


@pytest.mark.parametrize("measure", [image_similarity, set_similarity, shooting_rate])
def test_there_is_no_average_of_nothing(measure):
    with pytest.raises(ValueError, match="nothing to average"):
        measure({})


@pytest.mark.parametrize(("matching", "eps"), [("greedy", 0.5), ("paper", 0.0), ("paper", 1.5)])
def test_senseless_settings_are_refused(matching, eps):
    with pytest.raises(BadInput, match=r"masking: (matching|eps) is"):
        require_matching("masking", matching, eps)
