"""Every free place is found, and none that is not."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from instar.tasks.text.placement import blocked_sums, clear_places


@given(
    arrays(
        np.bool_,
        st.tuples(st.integers(1, 9), st.integers(1, 9)),
        elements=st.sampled_from([False] * 5 + [True]),
    ),
    st.integers(1, 10),
    st.integers(1, 10),
)
def test_places_are_those_that_trying_each_one_finds(blocked, height, width):
    places = clear_places(blocked_sums(blocked), (height, width))
    rows, columns = max(0, blocked.shape[0] - height + 1), max(0, blocked.shape[1] - width + 1)
    assert places.shape == (rows, columns)
    for y in range(rows):
        for x in range(columns):
            assert places[y, x] == (not blocked[y : y + height, x : x + width].any())
