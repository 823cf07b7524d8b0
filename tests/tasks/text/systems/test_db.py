"""Maps of text probabilities, written by hand, become rectangles."""

from __future__ import annotations

import cv2
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from instar.tasks.text.answers import Quads, read
from instar.tasks.text.polygons import clip_quads, quad_iou
from instar.tasks.text.systems.ppocr import rectangles_of
from instar.tasks.text.systems.rectangles import rectangle_corners, start_at_top_left


def a_map(*pieces, size=(120, 200)):
    probabilities = np.zeros(size, np.float32)
    for x1, y1, x2, y2, probability in pieces:
        probabilities[y1:y2, x1:x2] = probability
    return probabilities


def test_a_piece_grows_by_its_area_over_its_perimeter():
    # 60 x 12 pixels: 1.6 * 720 / 144 = 8 on each side.
    quads, _ = rectangles_of(a_map((70, 40, 130, 52, 0.9)), least_score=0.5)
    np.testing.assert_allclose(quads, [[[62, 32], [138, 32], [138, 60], [62, 60]]], atol=1e-3)


def test_a_score_is_the_mean_probability_inside_and_weak_pieces_are_left_out():
    probabilities = a_map((20, 20, 80, 40, 0.9), (20, 70, 80, 90, 0.45))
    (quad,), (score,) = rectangles_of(probabilities, least_score=0.5)
    assert quad[:, 1].max() < 60
    # The rim of one pixel to the right and below, which belongs to the outline, is empty.
    np.testing.assert_allclose(score, 0.9 * (60 * 20) / (61 * 21), rtol=1e-5)
    _, scores = rectangles_of(probabilities, least_score=0.1)
    assert len(scores) == 2


def test_what_is_not_above_the_threshold_is_no_text():
    quads, scores = rectangles_of(a_map((20, 20, 80, 40, 0.3)), least_score=0)
    assert (quads.shape, scores.shape) == ((0, 4, 2), (0,))


def test_specks_are_no_text():
    probabilities = a_map((20, 20, 22, 100, 0.9), (60, 60, 61, 61, 0.9))
    assert rectangles_of(probabilities, least_score=0.1)[0].shape == (0, 4, 2)


def test_two_pieces_two_pixels_apart_stay_two():
    probabilities = a_map((20, 20, 50, 40, 0.9), (52, 20, 90, 40, 0.9))
    assert len(rectangles_of(probabilities, least_score=0.5)[0]) == 2


def test_turned_text_gets_a_turned_rectangle():
    def turned(width, height):
        centre, turn = np.float32([[400, 240]]), np.float32([25])
        return start_at_top_left(rectangle_corners(centre, np.float32([[width, height]]), turn))

    probabilities = np.zeros((480, 800), np.float32)
    cv2.fillConvexPoly(probabilities, np.rint(turned(320, 64)[0]).astype(np.int32), 0.9)
    quads, _ = rectangles_of(probabilities, least_score=0.5)
    growth = 2 * 1.6 * 320 * 64 / (2 * (320 + 64))
    expected = turned(320 + growth, 64 + growth)
    assert quad_iou(quads, expected)[0, 0] > 0.94
    np.testing.assert_allclose(quads, expected, atol=5)


def test_text_that_fills_the_map_is_one_piece():
    quads, scores = rectangles_of(np.ones((64, 64), np.float32), least_score=0.5)
    assert len(quads) == 1
    assert scores.tolist() == [1.0]


@given(
    st.lists(
        st.tuples(*[st.integers(-10, 90)] * 2, *[st.integers(1, 30)] * 2, st.integers(0, 180)), max_size=4
    )
)
def test_boxes_of_any_map_can_be_accepted_once_they_are_within_the_picture(ellipses):
    probabilities = np.zeros((80, 80), np.float32)
    for x, y, a, b, turn in ellipses:
        cv2.ellipse(probabilities, (x, y), (a, b), turn, 0, 360, 0.9, -1)
    quads, scores = rectangles_of(probabilities, least_score=0.3)
    picture = np.zeros((80, 80, 3), np.uint8)
    assert len(read(picture, Quads(clip_quads(quads, (80, 80)), None, scores))) == len(scores)
