"""The answer type of detectors, and what is accepted as one."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.tasks.detection.answers import Detections, read

PICTURE = np.zeros((60, 80, 3), np.uint8)


def detections(boxes, scores=None, labels=None, confidence=0.5):
    n = len(boxes)
    return Detections(
        np.asarray(boxes, np.float32).reshape(n, 4),
        tuple(labels or ["thing"] * n),
        np.asarray(scores if scores is not None else [0.9] * n, np.float32),
        confidence,
    )


def test_an_answer_without_objects_keeps_its_shapes():
    empty = detections([])
    assert len(empty) == 0
    assert empty.boxes.shape == (0, 4)
    assert empty.confident().boxes.shape == (0, 4)
    assert empty.select(np.array([], np.intp)).scores.shape == (0,)


def test_select_takes_a_mask_or_indices_in_their_order():
    three = detections(
        [[0, 0, 1, 1], [0, 0, 2, 2], [0, 0, 3, 3]], [0.1, 0.2, 0.3], ["a", "b", "c"], confidence=0.25
    )
    assert three.select(np.array([True, False, True])).labels == ("a", "c")
    chosen = three.select(np.array([2, 0]))
    assert chosen.labels == ("c", "a")
    assert chosen.boxes.tolist() == [[0, 0, 3, 3], [0, 0, 1, 1]]
    assert chosen.scores.tolist() == [np.float32(0.3), np.float32(0.1)]
    assert chosen.confidence == 0.25


def test_a_score_of_exactly_the_confidence_counts():
    found = detections([[0, 0, 1, 1]] * 3, [0.3, np.nextafter(np.float32(0.3), 0), 0.31], confidence=0.3)
    assert found.confident().scores.tolist() == [np.float32(0.3), np.float32(0.31)]


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        (
            {"boxes": np.zeros((1, 5), np.float32)},
            ValueError,
            r"boxes has shape \(1, 5\); it must be \(n, 4\)",
        ),
        ({"boxes": np.ones((1, 4))}, TypeError, "boxes is an array of float64; it must be"),
        ({"boxes": [[0, 0, 1, 1]]}, TypeError, "boxes is a list, .* it must be a numpy array of float32"),
        ({"boxes": np.float32([[5, 0, 2, 1]])}, ValueError, r"box 0 \[5.0, 0.0, 2.0, 1.0\] is inverted"),
        ({"boxes": np.float32([[0, 3, 2, 3]])}, ValueError, "is inverted or empty"),
        (
            {"boxes": np.float32([[0, np.nan, 2, 3]])},
            ValueError,
            r"box 0 \[0.0, nan, 2.0, 3.0\] is not finite",
        ),
        ({"boxes": np.float32([[0, 0, np.inf, 3]])}, ValueError, "is not finite"),
        ({"scores": np.float32([1.5])}, ValueError, "score 0 is 1.5; it must be between 0 and 1"),
        ({"scores": np.float32([np.nan])}, ValueError, "score 0 is nan"),
        ({"scores": np.float32([0.1, 0.2])}, ValueError, r"with 1 boxes it must be \(1,\)"),
        ({"labels": ("a", "b")}, ValueError, "there are 2 labels for 1 boxes"),
        ({"labels": ["a"]}, TypeError, "it must be a tuple of str"),
        ({"labels": (7,)}, TypeError, "it must be a tuple of str"),
        ({"confidence": 30}, ValueError, "confidence is 30; it must be a number between 0 and 1"),
        ({"confidence": "high"}, ValueError, "confidence is 'high'"),
    ],
)
def test_a_wrong_value_is_named(changed, error, message):
    with pytest.raises(error, match=message):
        dataclasses.replace(detections([[0, 0, 1, 1]]), **changed)


def test_detections_within_the_picture_are_accepted_as_they_are():
    found = detections([[0, 0, 80, 60]])
    assert read(PICTURE, found) is found


def test_a_box_that_overshoots_is_clipped_and_the_answer_left_alone():
    found = detections([[-5, -3, 90, 70], [1, 2, 3, 4]])
    assert read(PICTURE, found).boxes.tolist() == [[0, 0, 80, 60], [1, 2, 3, 4]]
    assert found.boxes[0].tolist() == [-5, -3, 90, 70]


@pytest.mark.parametrize(
    "box", [[80, 0, 90, 10], [0, 60, 5, 70], [-9, 0, 0, 5], [0, -9, 5, 0], [200, 200, 300, 300]]
)
def test_a_box_wholly_outside_is_refused(box):
    with pytest.raises(ValueError, match=r"box 1 .* lies outside the picture of 80x60"):
        read(PICTURE, detections([[0, 0, 1, 1], box]))


class Tensor:
    """What libraries' own arrays have in common."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)


@pytest.mark.parametrize(
    "answer",
    [
        {"boxes": [[1, 2, 3, 4]], "labels": ["7"], "scores": [0.5]},
        {
            "boxes": np.array([[1, 2, 3, 4]]),
            "labels": np.array([7]),
            "scores": np.array([0.5]),
            "masks": None,
        },
        {"boxes": Tensor([[1, 2, 3, 4]]), "labels": Tensor([7]), "scores": Tensor([0.5]), "confidence": 0.5},
        ([[1, 2, 3, 4]], [7], [0.5]),
        (Tensor([[1.0, 2.0, 3.0, 4.0]]), ("7",), np.float16([0.5])),
    ],
)
def test_plain_answers_are_accepted(answer):
    found = read(PICTURE, answer)
    assert found.boxes.dtype == np.float32
    assert found.boxes.tolist() == [[1, 2, 3, 4]]
    assert found.labels == ("7",)
    assert found.scores.tolist() == [0.5]
    assert found.confidence == 0.5


def test_a_plain_answer_may_be_empty_and_may_state_its_confidence():
    found = read(PICTURE, {"boxes": [], "labels": [], "scores": [], "confidence": 0.25})
    assert found.boxes.shape == (0, 4)
    assert found.confidence == 0.25


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (None, TypeError, "the answer is a NoneType, None; it must be Detections"),
        ("cat", TypeError, "the answer is a str, 'cat'"),
        ([[1, 2, 3, 4]], TypeError, "the answer is a list"),
        ({"boxes": [], "classes": []}, ValueError, r"has no 'labels'; it has \['boxes', 'classes'\]"),
        (([["a", 2, 3, 4]], [1], [0.5]), TypeError, "boxes cannot be read as numbers"),
        (([[1, 2, 3, 4], [1, 2]], [1, 1], [0.5, 0.5]), TypeError, "boxes cannot be read as numbers"),
        (([1, 2, 3, 4], [1], [0.5]), ValueError, r"boxes has shape \(4,\)"),
        (([[1, 2, 1e300, 4]], [1], [0.5]), ValueError, "is not finite"),
        (([[3, 2, 1, 4]], [1], [0.5]), ValueError, "is inverted"),
        (([[1, 2, 3, 4]], [1.0], [0.5]), TypeError, "a label is a float, 1.0"),
        (([[1, 2, 3, 4]], [True], [0.5]), TypeError, "a label is a bool, True"),
        (([[1, 2, 3, 4]], "a", [0.5]), TypeError, "labels is a str, 'a'"),
        (([[1, 2, 3, 4]], [1], [50]), ValueError, "score 0 is 50.0"),
        (([[1, 2, 3, 4]], [1], 0.5), ValueError, r"scores has shape \(\)"),
        ({"boxes": [], "labels": [], "scores": [], "confidence": "x"}, TypeError, "confidence is a str, 'x'"),
    ],
)
def test_a_plain_answer_that_cannot_be_used_says_why_in_one_line(answer, error, message):
    with pytest.raises(error, match=message) as raised:
        read(PICTURE, answer)
    assert "\n" not in str(raised.value)


coordinate = st.floats(-200, 200, width=32)


@given(st.lists(st.tuples(coordinate, coordinate, coordinate, coordinate), max_size=6))
def test_what_is_accepted_lies_within_the_picture_and_within_what_was_said(corners):
    boxes = [[min(a, c), min(b, d), max(a, c), max(b, d)] for a, b, c, d in corners]
    touching = all(x1 < 80 and y1 < 60 and x2 > 0 and y2 > 0 for x1, y1, x2, y2 in boxes)
    empty = any(x1 == x2 or y1 == y2 for x1, y1, x2, y2 in boxes)
    answer = (boxes, ["a"] * len(boxes), [1.0] * len(boxes))
    values = np.array(boxes)
    shares = len(boxes) and values.min() >= 0 and values.max() <= 1 and (values != np.rint(values)).any()
    if empty or not touching or shares:
        with pytest.raises(ValueError, match=r"outside|empty|give pixels, not shares"):
            read(PICTURE, answer)
        return
    said = np.asarray(boxes, np.float32).reshape(-1, 4)
    expected = np.stack(
        [said[:, 0].clip(0), said[:, 1].clip(0), said[:, 2].clip(max=80), said[:, 3].clip(max=60)], 1
    )
    np.testing.assert_array_equal(read(PICTURE, answer).boxes, expected)


def test_an_answer_over_the_limit_is_refused_in_one_line():
    many = {"boxes": np.tile([1.0, 1.0, 4.0, 4.0], (300_000, 1)), "labels": ["dog"] * 300_000}
    with pytest.raises(ValueError, match=r"^the answer has 300,000 boxes, over the limit of 10,000$"):
        read(PICTURE, many | {"scores": np.full(300_000, 0.5)})
    few = {name: values[:10_000] for name, values in many.items()}
    assert len(read(PICTURE, few | {"scores": np.full(10_000, 0.5)})) == 10_000
