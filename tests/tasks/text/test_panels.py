"""What became of each box is told by its colour, also of one that comes and goes by itself."""

from __future__ import annotations

import numpy as np
import pytest

from instar.core.scene import Observation
from instar.core.verdict import Verdict
from instar.tasks.text import Quads, brightness_up, masking, watermark
from instar.tasks.text.changes import Light, Masks, Watermark


def box(x, y, width=60, height=20):
    return [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]


def seen(*boxes):
    found = Quads(np.array(boxes, np.float32).reshape(-1, 4, 2))
    return Observation.of(np.full((200, 300, 3), 120, np.uint8), found)


A, B, C, D = box(5, 5), box(100, 5), box(5, 100), box(100, 100)
WORD = Watermark("word", 200, 150, 60, 20, 20, 255, "duplex")


def fates(panel):
    return sorted((mark.fate, mark.outline[0]) for mark in panel.marks)


def judged(relation, before, after, change, *, left=None):
    """The panels of a case of whose findings only those of these kinds are left."""
    verdict = relation.check(before, [after], change)
    if left is not None:
        findings = [finding for finding in verdict.findings if finding.kind in left]
        verdict = Verdict.violated(findings) if findings else Verdict.inapplicable("unstable")
    return relation.panels(before, [after], change, verdict)


def test_lost_new_and_kept_boxes_are_told_apart():
    before, after = judged(brightness_up(), seen(A, B), seen(A, C), Light(50.0))
    assert fates(before) == [("lost", (100, 5)), ("matched", (5, 5))]
    assert fates(after) == [("lost", (100, 5)), ("matched", (5, 5)), ("new", (5, 100))]


def test_a_difference_that_was_struck_out_is_neither_lost_nor_found_in_both():
    before, after = judged(brightness_up(), seen(A, B), seen(A, C), Light(50.0), left=["new"])
    assert fates(before) == [("matched", (5, 5)), ("unsure", (100, 5))]
    assert fates(after) == [("matched", (5, 5)), ("new", (5, 100))]
    before, after = judged(brightness_up(), seen(A, B), seen(A, C), Light(50.0), left=[])
    assert fates(after) == [("matched", (5, 5)), ("unsure", (5, 100))]


def test_the_box_of_a_watermark_is_no_box_that_wavers():
    found = box(198, 148, 64, 24)
    before, after = judged(watermark(), seen(A), seen(A, found), WORD)
    assert fates(before) == [("matched", (5, 5))]
    assert fates(after) == [("change", (190, 140)), ("matched", (5, 5)), ("matched", (198, 148))]


def test_what_is_masked_need_not_be_found():
    quads = tuple(tuple(map(tuple, quad)) for quad in (A, B))
    before, after = judged(masking(), seen(A, B), seen(D), Masks(quads), left=[])
    assert fates(before) == [("matched", (5, 5)), ("matched", (100, 5))]
    assert fates(after) == [("unsure", (100, 100))]


@pytest.mark.parametrize(("eps", "fate"), [(0.5, "unsure"), (0.9, "matched")])
def test_boxes_are_held_against_each_other_as_the_relation_does(eps, fate):
    moved = box(35, 5)  # a third of both is common
    relation = brightness_up(eps=eps)
    before, _ = judged(relation, seen(A), seen(moved), Light(50.0), left=[])
    assert fates(before) == [(fate, (5, 5))]


def test_a_picture_shows_what_wavers_in_grey():
    relation = brightness_up()
    source, after, change = seen(A, B), seen(A, C), Light(50.0)
    drawn = relation.picture(source, [after], change, Verdict.inapplicable("unstable"))
    assert (drawn == (139, 146, 156)).all(axis=2).any()
    assert not (drawn == (218, 30, 40)).all(axis=2).any()
