"""A finding is told by the text that it is about, where annotators or the system itself know it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from instar.core.scene import Observation, Scene
from instar.core.task import Opinion
from instar.core.verdict import Finding
from instar.imaging.words import Word
from instar.report.causes import finding_words
from instar.tasks.text.answers import Quads
from instar.tasks.text.relations import masking
from instar.tasks.text.task import TASK

PICTURE = np.full((100, 300, 3), 128, np.uint8)


def box(x, y, width, height):
    return [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]


def quads(*boxes, texts=None):
    return Quads(np.array(boxes, np.float32).reshape(-1, 4, 2), texts)


def word(text, *place, ignored=False):
    return Word(np.array(box(*place), np.float32), text, ignored)


def said(before, after, *words):
    scene = Scene("a", lambda: PICTURE, knowledge={"words": words} if words else {})
    seen = [Observation.of(PICTURE, answer, scene) for answer in (before, after)]
    return [finding_words(one) for one in TASK.compare(*seen).findings]


LINE = box(10, 10, 120, 20)


def test_a_lost_line_is_told_by_the_words_in_it():
    words = [
        word("MARKET", 70, 12, 58, 16),
        word("FISH", 12, 12, 50, 16),
        word("", 60, 12, 8, 16, ignored=True),
    ]
    assert said(quads(LINE), quads(), *words) == ['"FISH MARKET" is lost']


def test_a_box_on_a_part_of_a_word_is_told_by_the_word():
    assert said(quads(), quads(box(12, 12, 40, 16)), word("FISHMARKET", *(10, 10, 120, 20))) == [
        'new box on part of "FISHMARKET"'
    ]


def test_a_box_that_holds_a_word_beside_much_that_nobody_can_read_keeps_its_number():
    words = [word("JIM", 10, 10, 12, 20), word("", 22, 10, 108, 20, ignored=True)]
    assert said(quads(LINE), quads(), *words) == ["box 0 is lost"]


def test_what_became_of_the_box_is_said():
    words = [word("FISH", 10, 10, 120, 20)]
    assert said(quads(LINE), quads(box(10, 10, 50, 20)), *words) == ['"FISH" is found at another size']
    assert said(quads(LINE), quads(box(90, 14, 120, 20)), *words) == ['"FISH" is found beside its place']


def test_a_reader_says_what_it_has_read_where_nobody_knows():
    assert said(quads(LINE, texts=("Fish market",)), quads(texts=())) == ['"Fish market" is lost']


def by_referees(*opinions, known="real", **evidence):
    words = {"words": "the text in box 0 is lost"}
    finding = Finding("lost", "box 0", -0.5, {"was": LINE, "cause": words, **evidence}, known)
    return finding_words(TASK.name_finding(finding, opinions))


def referee(*boxes, text, score=0.9, after=()):
    scores = np.full(len(boxes), score, np.float32)
    return Opinion("r", replace(quads(*boxes, texts=(text,) * len(boxes)), scores=scores), quads(*after))


def test_a_referee_says_what_it_has_read_where_the_system_does_not_read():
    unread = referee(LINE, text="||", score=0.2)
    assert by_referees(unread, referee(box(10, 10, 118, 22), text="Fish market")) == '"Fish market" is lost'
    assert by_referees(referee(box(0, 5, 280, 30), text="Fish market today")) == (
        'part of "Fish market today" is lost'
    )


def test_what_is_told_by_a_text_already_or_read_elsewhere_is_not_renamed():
    told = {"words": '"FISH" is lost'}
    assert by_referees(referee(LINE, text="HSIF"), cause=told) == '"FISH" is lost'
    assert by_referees(Opinion("finds", quads(LINE), quads(LINE))) == "the text in box 0 is lost"


def test_a_box_in_which_referees_see_no_text_is_not_said_to_have_any():
    elsewhere = referee(box(200, 50, 60, 20), text="EXIT")
    assert by_referees(elsewhere) == "the text in box 0 is lost"
    assert by_referees(elsewhere, known="was false") == "box 0 is lost"


def test_a_box_on_no_text_keeps_its_number():
    assert said(quads(LINE), quads(), word("EXIT", 200, 50, 60, 20)) == ["box 0 is lost"]
    assert said(quads(LINE), quads()) == ["the text in box 0 is lost"]


def test_a_long_text_is_cut():
    (told,) = said(quads(LINE), quads(), word("a" * 90, 10, 10, 120, 20))
    assert told == f'"{"a" * 39}…" is lost'


def test_masked_text_is_named():
    relation, scene = (
        masking(),
        Scene("a", lambda: PICTURE, knowledge={"words": [word("EXIT", 10, 10, 120, 20)]}),
    )
    source = Observation.of(PICTURE, quads(LINE), scene)
    change = relation.draw(source, np.random.default_rng(0))
    verdict = relation.expect(source, [source], change)
    assert [finding_words(one) for one in verdict.findings] == ['"EXIT" is still found in its mask']
    assert [one.subject for one in verdict.findings] == ["box 0"]


@pytest.mark.parametrize(("large", "small"), [(box(0, 0, 200, 50), box(0, 0, 20, 10))])
def test_of_two_lost_words_the_larger_is_the_plainer(large, small):
    one, other = (Finding("lost", "box 1", -0.5, {"was": where}, "real") for where in (large, small))
    assert one.plainness < other.plainness
