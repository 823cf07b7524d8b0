"""Accuracy by the rules of ICDAR 2015, and truth that goes along with a change."""

from __future__ import annotations

import math

import numpy as np
import pytest

from instar.imaging.words import Word
from instar.tasks.text.accuracy import Hits, count_hits, count_words, move_words, words_after
from instar.tasks.text.changes import Brightness, Masks, Perspective, Watermark
from instar.tasks.text.truth import quad_of, truth_of


def box(x, y, width=40, height=10):
    return [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]


def quads(*corners):
    return np.array(corners, np.float32).reshape(-1, 4, 2)


A, B, C = box(0, 0), box(100, 0), box(0, 100)
WORDS = [Word(np.float32(one), f"word {i}", ignored=one is C) for i, one in enumerate((A, B, C))]
TRUTH = truth_of(WORDS)
LINE = box(-5, 0, 150, 11)  # around A and B, with the gap between them


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (quads(), Hits(0, 0, 2, 0)),
        (quads(A, B), Hits(2, 2, 2, 2)),
        (quads(A, C), Hits(1, 1, 2, 1)),  # what is on an unread word is not held against it
        (quads(A, box(0, 102)), Hits(1, 1, 2, 1)),
        (quads(A, A), Hits(1, 2, 2, 1)),  # one word is found once
        (quads(box(10, 0), box(25, 0)), Hits(1, 2, 2, 1)),  # 30 of 50, and 15 of 65
        (quads(box(300, 300)), Hits(0, 1, 2, 0)),
    ],
)
def test_boxes_are_counted(found, expected):
    assert count_hits(found, TRUTH) == expected


def test_scores_of_nothing_are_not_numbers():
    assert all(
        map(math.isnan, (Hits(0, 0, 0, 0).precision, Hits(0, 0, 0, 0).recall, Hits(0, 0, 0, 0).f_score))
    )
    assert (Hits(0, 0, 3, 0).recall, Hits(0, 0, 3, 0).f_score) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("found", "matched", "by_words"),
    [
        (quads(LINE), Hits(0, 1, 2, 0), Hits(1, 1, 2, 2)),  # a line is right about both of its words
        (quads(box(0, 0, 20), box(20, 0, 20)), Hits(0, 2, 2, 0), Hits(2, 2, 2, 1)),  # a word in two parts
        (quads(box(-300, -300, 900, 900)), Hits(0, 1, 2, 0), Hits(0, 1, 2, 0)),  # around everything
        (quads(box(0, 0, 30)), Hits(1, 1, 2, 1), Hits(1, 1, 2, 0)),  # a quarter of the word is cut off
        (quads(C), Hits(0, 0, 2, 0), Hits(0, 0, 2, 0)),
    ],
)
def test_lines_are_held_against_the_words_in_them(found, matched, by_words):
    assert count_hits(found, TRUTH) == matched
    assert count_words(found, TRUTH) == by_words


def test_precision_is_of_boxes_and_recall_of_words():
    line = Hits(right=1, given=2, words=4, found=3)
    assert (line.precision, line.recall, line.f_score) == (0.5, 0.75, pytest.approx(0.6))


CURVED = Word(np.float32([[0, 20], [20, 0], [40, 20], [40, 30], [20, 10], [0, 30]]), "round")


def test_a_curved_word_is_its_strips_and_not_the_rectangle_around_it():
    truth = truth_of([CURVED, Word(np.float32(A), "flat", ignored=True)])
    assert truth.owner.tolist() == [0, 0, 1]
    assert truth.areas.tolist() == [400, 400]  # the rectangle around the curve has 1200
    assert truth.covered(quads(box(0, 15, 40, 15))).tolist() == pytest.approx([0.5, 0])
    assert truth.only(np.array([True, False])).owner.tolist() == [0, 0]
    assert count_words(
        quads([[0, 20], [20, 0], [20, 10], [0, 30]], [[20, 0], [40, 20], [40, 30], [20, 10]]), truth
    ) == Hits(2, 2, 1, 1)


def test_a_curved_word_is_written_as_the_rectangle_around_it():
    corners = sorted(map(tuple, quad_of(CURVED).round(3).tolist()))
    assert corners == [(0, 0), (0, 30), (40, 0), (40, 30)]
    odd = Word(CURVED.outline[:5], "odd")
    assert truth_of([odd]).strips.shape == (1, 4, 2)


def after(change):
    return words_after(WORDS, change)


def test_words_stay_where_only_light_changes():
    assert [word.outline.tolist() for word in after(Brightness(50.0))] == TRUTH.strips.tolist()
    assert [word.text for word in after(Brightness(50.0))] == ["word 0", "word 1", "word 2"]


def test_words_move_with_the_picture():
    enlarged = move_words(WORDS, Perspective(200, 100, 50, ((0, 0),) * 4).matrix)
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
