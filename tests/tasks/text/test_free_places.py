"""Every free place is found, and none that is not."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from instar.core.scene import Observation, Scene
from instar.imaging.words import Word
from instar.tasks.text.answers import Quads
from instar.tasks.text.placement import blocked_sums, clear_places, find_paper


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


def test_a_word_that_was_overlooked_is_no_free_place():
    picture = np.full((60, 80, 3), 200, np.uint8)
    word = Word(np.float32([[10, 10], [60, 10], [60, 30], [10, 30]]), "SHOP")
    nothing = Quads(np.zeros((0, 4, 2), np.float32))
    bare = Observation.of(picture, nothing, Scene("a", lambda: picture))
    known = Observation.of(picture, nothing, Scene("a", lambda: picture, knowledge={"words": [word]}))
    assert find_paper(bare, 100).taken[-1, -1] == 0
    assert not clear_places(find_paper(known, 100).taken, (20, 50))[10, 10]
    assert clear_places(find_paper(known, 100).taken, (20, 50))[35, 10]
