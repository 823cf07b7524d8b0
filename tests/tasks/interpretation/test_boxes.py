"""From heat maps to boxes, and how boxes are compared."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.tasks.interpretation.boxes import agreement, io_min, locate_heat, quality


def a_map(*hot, size=(100, 200)):
    heat = np.zeros(size, np.float32)
    for x1, y1, x2, y2, value in hot:
        heat[y1:y2, x1:x2] = value
    return heat


def test_the_box_is_around_what_is_above_half_of_the_maximum():
    heat = a_map((20, 10, 60, 40, 0.8), (100, 50, 120, 60, 0.39), (5, 5, 6, 6, 0.41))
    found = locate_heat(heat, (100, 200))
    assert found.whole == (5, 5, 60, 40)
    assert locate_heat(heat, (100, 200), kept=0.6).whole == (20, 10, 60, 40)
    assert found.covered == pytest.approx(55 * 35 / 20000)
    assert found.hot == pytest.approx((40 * 30 + 1) / 20000)


def test_the_threshold_goes_with_the_maximum_of_the_map():
    found = locate_heat(a_map((20, 10, 60, 40, 0.1), (100, 50, 120, 60, 0.04)), (100, 200))
    assert found.whole == (20, 10, 60, 40)


def test_an_empty_map_points_nowhere():
    found = locate_heat(a_map(), (100, 200))
    assert found.whole is None
    assert found.parts == (None,)
    assert found.covered == 0


def test_a_coarse_map_covers_the_whole_picture():
    heat = np.zeros((4, 4), np.float32)
    heat[3, 3] = 1
    x1, y1, x2, y2 = locate_heat(heat, (400, 800)).whole
    assert (x2, y2) == (800, 400)
    assert x1 == pytest.approx(600, abs=12)
    assert y1 == pytest.approx(300, abs=6)


def test_several_truth_boxes_split_the_map():
    heat = a_map((10, 10, 30, 30, 1.0), (150, 60, 170, 80, 0.9))
    truth = [(5, 5, 35, 35), (140, 50, 180, 90)]
    found = locate_heat(heat, (100, 200), split=truth)
    assert found.parts == ((10, 10, 30, 30), (150, 60, 170, 80))
    assert found.whole == (10, 10, 170, 80)
    assert sum(found.mass) == pytest.approx(1)
    assert quality(found, truth).io_min == pytest.approx(1)
    # As one box around both it would lie across most of the picture.
    assert io_min(found.whole, truth[0]) == pytest.approx(25 * 25 / 900)


def test_quality_of_an_explanation_on_beside_and_around_the_object():
    truth = [(20, 10, 60, 40)]

    def of(*box):
        return quality(locate_heat(a_map((*box, 1.0)), (100, 200), split=truth), truth)

    inside, beside, around = of(30, 20, 40, 30), of(100, 60, 120, 80), of(0, 0, 200, 100)
    assert (inside.io_min, inside.hit) == (1, True)
    assert inside.iou == pytest.approx(100 / 1200)
    assert (beside.io_min, beside.iou, beside.hit) == (0, 0, False)
    assert around.io_min == 1  # which is why coverage, IoU and pointing stand beside it
    assert around.iou == pytest.approx(1200 / 20000)
    assert not around.hit


def test_parts_are_weighed_with_their_heat():
    truth = [(0, 0, 40, 100), (160, 0, 200, 100)]
    heat = a_map((10, 10, 20, 20, 1.0), (120, 0, 125, 10, 1.0))  # the second is beside its box
    found = quality(locate_heat(heat, (100, 200), split=truth), truth)
    assert found.io_min == pytest.approx(100 / 150)


def test_a_part_that_is_hot_in_one_of_two_maps_only_is_no_contradiction():
    truth = [(5, 5, 35, 35), (140, 50, 180, 90)]
    both = locate_heat(a_map((10, 10, 30, 30, 1.0), (150, 60, 170, 80, 0.6)), (100, 200), split=truth)
    one = locate_heat(a_map((10, 10, 30, 30, 1.0), (150, 60, 170, 80, 0.4)), (100, 200), split=truth)
    other = locate_heat(a_map((150, 60, 170, 80, 1.0)), (100, 200), split=truth)
    assert agreement(both, one).io_min == 1
    assert agreement(one, other).io_min == 0


BOX = st.tuples(*[st.floats(0, 90)] * 2, *[st.floats(0.5, 60)] * 2).map(
    lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3])
)


@given(BOX, BOX)
def test_io_min_is_symmetric_at_least_iou_and_one_for_a_box_inside(a, b):
    assert io_min(a, b) == pytest.approx(io_min(b, a), abs=1e-6)
    assert 0 <= io_min(a, b) <= 1
    x1, y1, x2, y2 = a
    inner = (x1 + (x2 - x1) / 4, y1, x2, y2 - (y2 - y1) / 4)
    assert io_min(a, inner) == pytest.approx(1, abs=1e-4)
