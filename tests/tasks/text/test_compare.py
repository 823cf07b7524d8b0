"""Findings name what has no partner, by the boxes of the source."""

from __future__ import annotations

import numpy as np
import pytest

from instar import Record, Status
from instar.report.causes import Failure, finding_words
from instar.report.groups import group_failures
from instar.report.words import when_words
from instar.tasks.text import Quads
from instar.tasks.text.changes import Watermark
from instar.tasks.text.compare import nothing_left, same_text, word_found


def box(x, y, width=40, height=10):
    return [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]


def quads(*corners, scores=None):
    found = np.array(corners, np.float32).reshape(-1, 4, 2)
    return Quads(found, scores=None if scores is None else np.float32(scores))


A, B, C = box(0, 0), box(100, 0), box(0, 100)
WORD = Watermark("word", 200, 200, 60, 20, 20, 0, "duplex")
TIGHT, LOOSE = WORD.quad(), WORD.quad(air=0.3)


def keys(verdict):
    return sorted(finding.key for finding in verdict.findings)


def test_the_same_boxes_hold_with_the_slack_of_the_worst():
    verdict = same_text(quads(A, B), quads(B, box(0, 0, 40, 8)))
    assert verdict.status is Status.HELD
    assert verdict.margin == pytest.approx(0.3)
    assert verdict.evidence == {"stability": 1.0, "before": 2, "after": 2}


def test_no_boxes_before_and_after_hold():
    assert same_text(quads(), quads()).status is Status.HELD
    assert same_text(quads(), quads()).evidence["stability"] == 1.0


def test_lost_and_new_boxes_are_named_by_those_of_the_source():
    verdict = same_text(quads(A, B), quads(A, box(10, 90)))
    assert keys(verdict) == [("invented", "near box 0"), ("lost", "box 1")]
    assert verdict.evidence["stability"] == pytest.approx(1 / 3)


def test_a_new_box_where_nothing_was_is_named_so():
    assert keys(same_text(quads(), quads(A))) == [("invented", "where nothing was")]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (quads(A), quads(box(20, 0)), [("drifted", "box 0")]),
        (quads(A), quads(box(0, 0, 15)), [("resized", "box 0")]),
        (quads(A), quads(box(-10, -10, 80, 30)), [("resized", "box 0")]),
        (quads(A), quads(box(39, 0)), [("invented", "near box 0"), ("lost", "box 0")]),
        (quads(A), quads(box(0, 0, 20), box(20, 0, 20)), [("split", "box 0")]),
        (quads(A), quads(box(0, 0, 28), box(30, 0, 10)), [("split", "box 0")]),  # the larger part is a match
        (
            quads(box(0, 0, 20), box(22, 0, 20)),
            quads(box(0, 0, 42)),
            [("merged", "box 0"), ("merged", "box 1")],
        ),
        (quads(box(0, 0, 30), box(32, 0, 10)), quads(box(0, 0, 42)), [("merged", "box 1")]),
        (quads(A, B), quads(box(-50, -50, 400, 300)), [("resized", "box 0"), ("resized", "box 1")]),
    ],
)
def test_a_finding_says_what_became_of_a_box(before, after, expected):
    assert keys(same_text(before, after, lines="same")) == expected
    kept = [key for key in expected if key[0] not in ("split", "merged")]
    assert keys(same_text(before, after)) == kept  # how text is cut into boxes matters only where asked


def test_a_box_that_moved_tells_where_it_was_and_is_and_how_much_is_left():
    verdict = same_text(quads(A), quads(box(20, 0)))
    assert verdict.margin == pytest.approx(1 / 3 - 0.5)
    cause = {"words": "the text in box 0 is found beside its place"}
    assert verdict.findings[0].evidence == {"was": A, "is": box(20, 0), "overlap": 0.3333, "cause": cause}


def test_the_papers_matching_changes_the_measure_and_not_the_findings():
    verdict = same_text(quads(A, A, B), quads(A), matching="paper")
    assert verdict.evidence["stability"] == 1.0
    assert keys(verdict) == [("lost", "box 2")]  # a second box on the same word is no loss


@pytest.mark.parametrize("word", [box(200, 200, 60, 20), box(194, 194, 72, 32), box(190, 196, 80, 28)])
def test_a_word_is_found_with_or_without_air_around_it(word):
    verdict = word_found(quads(A), quads(A, word), WORD)
    assert verdict.status is Status.HELD
    assert (verdict.evidence["stability"], verdict.evidence["similarity"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("after", "expected", "shot"),
    [
        (quads(A), [("watermark missed", "watermark")], 0.0),
        (
            quads(A, box(200, 200, 20, 20)),
            [("invented", "on the watermark"), ("watermark missed", "watermark")],
            0.0,
        ),
        (quads(A, TIGHT[0], box(100, 3)), [("invented", "near box 0")], 1.0),
        (quads(TIGHT[0]), [("lost", "box 0")], 1.0),
        (quads(), [("lost", "box 0"), ("watermark missed", "watermark")], 0.0),
        (quads(A, TIGHT[0], LOOSE[0]), [("invented", "on the watermark")], 1.0),
    ],
)
def test_a_word_must_be_one_box_more_and_nothing_else(after, expected, shot):
    verdict = word_found(quads(A), after, WORD)
    assert verdict.status is Status.VIOLATED
    assert keys(verdict) == expected
    assert verdict.evidence["stability"] == shot


def test_boxes_that_are_set_aside_are_neither_lost_nor_new_but_may_be_partners():
    aside = np.array([True])
    nothing = same_text(Quads(quads(A).quads, aside=aside), Quads(quads(C).quads, aside=aside))
    assert (nothing.status, nothing.evidence["stability"]) == (Status.HELD, 1.0)
    both = same_text(quads(A, B), Quads(quads(A, C).quads, aside=np.array([True, True])))
    assert keys(both) == [("lost", "box 1")]
    assert both.evidence["stability"] == 0.5
    assert nothing_left(quads(A), Quads(quads(C).quads, aside=aside)).status is Status.HELD


def test_nothing_found_after_masking_holds():
    verdict = nothing_left(quads(A, B), quads())
    assert (verdict.status, verdict.evidence["stability"]) == (Status.HELD, 1.0)


def test_what_is_found_after_masking_is_in_a_mask_or_elsewhere():
    verdict = nothing_left(quads(A, B), quads(box(102, 1, 30, 8), C, scores=[0.5, 0.75]))
    assert keys(verdict) == [("invented", "near box 0"), ("masked text found", "box 1")]
    assert (verdict.kind, verdict.margin) == ("invented", -0.75)
    assert verdict.evidence["stability"] == 0.0


@pytest.mark.parametrize(
    ("relation", "verdict", "title", "words"),
    [
        (
            "masking",
            lambda: nothing_left(quads(A), quads(A)),
            "masked text found",
            "masked text found in box 0",
        ),
        ("masking", lambda: nothing_left(quads(A), quads(B)), "new box", "new box near box 0"),
        (
            "watermark",
            lambda: word_found(quads(A), quads(A), WORD),
            "watermark missed",
            f'the watermark "{WORD.text}" is missed',
        ),
        ("perspective", lambda: same_text(quads(), quads(A)), "new box", "new box where nothing was"),
        ("perspective", lambda: same_text(quads(A), quads()), "box lost", "the text in box 0 is lost"),
    ],
)
def test_findings_and_their_groups_are_told_in_plain_words(relation, verdict, title, words):
    found = verdict()
    record = Record("c1", "a.jpg", "a.jpg", relation, 0, None, found)
    assert [group.title for group in group_failures([Failure(record, {})])] == [
        f"{title} {when_words(relation)}"
    ]
    assert finding_words(found.findings[0]) == words
