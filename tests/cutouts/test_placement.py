from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.cutouts.placement import Window, anywhere, close_to, free_places, one_of, ring_around
from instar.imaging.geometry import Boxes, intersections

SHAPE = (24, 30)
SIDES = st.integers(1, 12)


@st.composite
def boxes(draw: st.DrawFn, least: int = 0) -> Boxes:
    """Boxes inside the picture at any fraction of a pixel."""
    fraction = st.floats(0, 1, width=32)
    drawn = draw(st.lists(st.tuples(*[fraction] * 4), min_size=least, max_size=4))
    rows, columns = SHAPE
    return np.array(
        [
            (x * (columns - 2), y * (rows - 2), x * (columns - 2) + 0.5 + w, y * (rows - 2) + 0.5 + 1.5 * h)
            for x, y, w, h in drawn
        ],
        np.float32,
    ).reshape(-1, 4)


def corners(places: np.ndarray, window: Window) -> set[tuple[int, int]]:
    return {(window.left + int(x), window.top + int(y)) for y, x in np.argwhere(places)}


def overlaps(x: int, y: int, size: tuple[int, int], taken: Boxes) -> bool:
    box = np.array([[x, y, x + size[1], y + size[0]]], np.float64)
    return bool((intersections(box, taken.astype(np.float64)) > 0).any())


@settings(deadline=None)
@given(SIDES, SIDES, boxes())
def test_a_pasted_object_never_overlaps_a_found_box_and_no_free_place_is_missed(
    height: int, width: int, taken: Boxes
) -> None:
    size = (height, width)
    window = anywhere(SHAPE, size)
    expected = {
        (x, y)
        for x in range(SHAPE[1] - width + 1)
        for y in range(SHAPE[0] - height + 1)
        if not overlaps(x, y, size, taken)
    }
    assert corners(free_places(window, size, taken), window) == expected


@settings(deadline=None)
@given(SIDES, SIDES, boxes(least=1))
def test_the_ring_is_what_its_definition_says(height: int, width: int, taken: Boxes) -> None:
    size, anchor = (height, width), taken[0].astype(np.float64)
    window = ring_around(SHAPE, size, taken[0])
    centre, half = (anchor[:2] + anchor[2:]) / 2, (anchor[2:] - anchor[:2]) / 2
    objects = np.array([width, height])
    inner, outer = half + objects / 2, half + objects
    expected = set()
    for x in range(SHAPE[1] - width + 1):
        for y in range(SHAPE[0] - height + 1):
            away = np.abs(np.array([x, y]) + objects / 2 - centre)
            if (away <= outer).all() and (away >= inner).any():
                expected.add((x, y))
    assert corners(free_places(window, size, taken[:1]), window) == expected


def test_an_object_larger_than_the_picture_has_no_place() -> None:
    window = anywhere(SHAPE, (25, 5))
    assert free_places(window, (25, 5), np.zeros((0, 4), np.float32)).shape == (0, 26)


def test_an_object_may_touch_a_box_but_not_share_a_fraction_of_a_pixel() -> None:
    window = Window(0, 1, 0, 8)
    assert free_places(window, (2, 2), np.float32([[4, 0, 6, 2]])).astype(int).tolist() == [
        [1, 1, 1, 0, 0, 0, 1, 1]
    ]
    assert free_places(window, (2, 2), np.float32([[3.9, 0, 6.1, 2]])).astype(int).tolist() == [
        [1, 1, 0, 0, 0, 0, 0, 1]
    ]


def test_every_free_place_is_drawn_equally_often() -> None:
    places = np.array([[1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 1, 0]], bool)
    window = Window(top=10, bottom=13, left=20, right=24)
    rng = np.random.default_rng(0)
    drawn = Counter(one_of(places, window, rng) for _ in range(4000))
    assert set(drawn) == {(20, 10), (23, 10), (21, 12), (22, 12)}
    # Four standard deviations of a share of a quarter.
    assert all(abs(count - 1000) < 4 * (4000 * 0.25 * 0.75) ** 0.5 for count in drawn.values())


def test_the_quadrants_of_a_ring_get_equal_shares() -> None:
    anchor = np.float32([[90, 90, 110, 110]])
    size = (20, 20)
    window = ring_around((200, 200), size, anchor[0])
    places = free_places(window, size, anchor)
    rng = np.random.default_rng(1)
    drawn = [one_of(places, window, rng) for _ in range(4000)]
    quadrants = Counter((x + 10 > 100, y + 10 > 100) for x, y in drawn if x != 90 and y != 90)
    total = sum(quadrants.values())
    assert len(quadrants) == 4
    assert all(abs(n - total / 4) < 4 * (total * 3 / 16) ** 0.5 for n in quadrants.values())


def test_rows_of_a_window_include_both_ends() -> None:
    assert Window(0, 10, 3, 5).rows(2, 4) == Window(2, 5, 3, 5)
    assert Window(0, 10, 3, 5).rows(2.1, 3.9) == Window(3, 4, 3, 5)
    assert Window(0, 10, 3, 5).rows(12, 20) == Window(12, 12, 3, 5)


def test_close_places_are_within_the_gap_on_either_side() -> None:
    window = close_to((100, 200), (10, 20), np.float32([80, 40, 120, 60]), 5)
    assert (window.left, window.right) == (55, 126)
    assert (window.top, window.bottom) == (25, 66)
