from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.imaging.geometry import (
    Boxes,
    areas,
    centres_inside,
    intersections,
    iou,
    shift_boxes,
)


@st.composite
def whole_boxes(draw: st.DrawFn) -> Boxes:
    """A few boxes with whole coordinates, so that pixels can be counted."""
    corners = draw(st.lists(st.tuples(*[st.integers(0, 12)] * 2, *[st.integers(1, 8)] * 2), max_size=5))
    return np.array([(x, y, x + w, y + h) for x, y, w, h in corners], np.float32).reshape(-1, 4)


def painted(box: np.ndarray) -> np.ndarray:
    canvas = np.zeros((24, 24), bool)
    x1, y1, x2, y2 = box.astype(int)
    canvas[y1:y2, x1:x2] = True
    return canvas


@settings(deadline=None)
@given(whole_boxes(), whole_boxes())
def test_overlaps_are_what_counting_pixels_gives(a: Boxes, b: Boxes) -> None:
    common, union = intersections(a, b), iou(a, b)
    assert common.shape == union.shape == (len(a), len(b))
    for i in range(len(a)):
        for j in range(len(b)):
            one, other = painted(a[i]), painted(b[j])
            both = int((one & other).sum())
            assert common[i, j] == both
            assert union[i, j] == np.float32(both / (one | other).sum())


@settings(deadline=None)
@given(whole_boxes())
def test_a_box_overlaps_itself_wholly(boxes: Boxes) -> None:
    assert np.diag(iou(boxes, boxes)).tolist() == [1.0] * len(boxes)


def test_columns_are_x1_y1_x2_y2() -> None:
    # Read in another order, boxes that are apart would seem to be the same.
    tall, wide = np.float32([[0, 10, 5, 90]]), np.float32([[10, 0, 90, 5]])
    assert iou(tall, wide).tolist() == [[0.0]]
    assert areas(np.float32([[1, 2, 4, 8]])).tolist() == [18.0]


def test_boxes_that_only_touch_share_nothing() -> None:
    assert iou(np.float32([[0, 0, 5, 5]]), np.float32([[5, 0, 9, 5]])).tolist() == [[0.0]]


def test_boxes_without_area_overlap_nothing() -> None:
    flat = np.float32([[3, 3, 3, 9]])
    assert iou(flat, flat).tolist() == [[0.0]]


def test_a_centre_on_the_right_edge_is_outside() -> None:
    outer = np.float32([0, 0, 10, 10])
    boxes = np.float32([[0, 0, 4, 4], [8, 8, 12, 12], [-2, -2, 2, 2], [8, 0, 11.8, 4]])
    assert centres_inside(boxes, outer).tolist() == [True, False, True, True]


def test_shifting_leaves_the_argument_alone() -> None:
    boxes = np.float32([[1, 2, 3, 4]])
    assert shift_boxes(boxes, 10, -1).tolist() == [[11, 1, 13, 3]]
    assert boxes.tolist() == [[1, 2, 3, 4]]
