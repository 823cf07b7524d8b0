"""Accuracy by the rules of ICDAR 2015, and truth that goes along with a change."""

from __future__ import annotations

import math

import numpy as np
import pytest

from instar.imaging.words import Word
from instar.tasks.text.accuracy import Hits, Truth, count_hits, move_words, truth_of, words_after
from instar.tasks.text.changes import Brightness, Masks, Perspective, Watermark


def box(x, y, width=40, height=10):
    return [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]


def quads(*corners):
    return np.array(corners, np.float32).reshape(-1, 4, 2)


A, B, C = box(0, 0), box(100, 0), box(0, 100)
TRUTH = Truth(quads(A, B, C), np.array([False, False, True]))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (quads(), Hits(0, 0, 2)),
        (quads(A, B), Hits(2, 2, 2)),
        (quads(A, C), Hits(1, 1, 2)),  # what is on an unread word is not held against it
        (quads(A, box(0, 102)), Hits(1, 1, 2)),
        (quads(A, A), Hits(1, 2, 2)),  # one word is found once
        (quads(box(10, 0), box(25, 0)), Hits(1, 2, 2)),  # 30 of 50, and 15 of 65
        (quads(box(300, 300)), Hits(0, 1, 2)),
    ],
)
def test_boxes_are_counted(found, expected):
    assert count_hits(found, TRUTH) == expected


def test_scores_of_nothing_are_not_numbers():
    assert all(map(math.isnan, (Hits(0, 0, 0).precision, Hits(0, 0, 0).recall, Hits(0, 0, 0).f_score)))
    assert (Hits(0, 0, 3).recall, Hits(0, 0, 3).f_score) == (0.0, 0.0)


def test_outlines_of_many_corners_become_rectangles():
    curved = Word(np.float32([[0, 5], [10, 0], [20, 5], [20, 15], [10, 10], [0, 15]]), "round")
    truth = truth_of([curved, Word(np.float32(A), "flat", ignored=True)])
    assert truth.quads.shape == (2, 4, 2)
    assert sorted(map(tuple, truth.quads[0].round(3).tolist())) == [(0, 0), (0, 15), (20, 0), (20, 15)]
    assert truth.ignored.tolist() == [False, True]


def words_of(truth):
    return [Word(quad, f"word {i}", bool(truth.ignored[i])) for i, quad in enumerate(truth.quads)]


def after(change):
    return words_after(words_of(TRUTH), change)


def test_words_stay_where_only_light_changes():
    assert [word.outline.tolist() for word in after(Brightness(50.0))] == TRUTH.quads.tolist()
    assert [word.text for word in after(Brightness(50.0))] == ["word 0", "word 1", "word 2"]


def test_words_move_with_the_picture():
    enlarged = move_words(words_of(TRUTH), Perspective(200, 100, 50, ((0, 0),) * 4).matrix)
    assert enlarged[0].outline == pytest.approx(np.float32(A) + 50, abs=1e-3)


def test_outlines_of_many_corners_are_carried_as_they_are():
    round_word = Word(np.float32([[0, 5], [10, 0], [20, 5], [20, 15], [10, 10], [0, 15]]), "round")
    (moved,) = move_words([round_word], np.array([[1.0, 0, 1], [0, 1, 0], [0, 0, 1]]))
    assert moved.outline.tolist() == (round_word.outline + np.float32([1, 0])).tolist()


def test_a_watermark_is_one_word_more():
    words = after(Watermark("EXIT", 5, 50, 40, 12, 12, 0, "duplex"))
    assert (words[3].outline.tolist(), words[3].text) == (box(5, 50, 40, 12), "EXIT")
    assert [word.ignored for word in words] == [False, False, True, False]


def test_a_masked_word_cannot_be_expected_to_be_found():
    masks = Masks((tuple(map(tuple, box(95, 0, 30, 10))), tuple(map(tuple, box(0, 0, 10, 10)))))
    assert [(word.text, word.ignored) for word in after(masks)] == [
        ("word 0", False),
        ("", True),
        ("word 2", True),
    ]
