"""The page: one file, nothing from elsewhere, every name as text."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from instar.core.marks import Dial, Mark, Panel
from instar.core.record import Record, Skipped, Totals
from instar.core.verdict import Finding, Verdict
from instar.report.cards import CaseView
from instar.report.causes import Failure
from instar.report.figures import Figures
from instar.report.groups import group_failures
from instar.report.html import Page, render_html
from instar.report.summary import summarise

from .hostile import BACKWARDS, HOSTILE, LONG, SCRIPT

VOID = {"meta", "img", "input"}


class Reader(HTMLParser):
    """What a browser would see: tags with their attributes, and text; unbalanced tags are an error."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    @classmethod
    def of(cls, page):
        reader = cls()
        reader.feed(page)
        reader.close()
        assert set(reader._open) <= {"details"}
        return reader


def page_of(name: str, *, cases: int = 3) -> Page:
    """A run in which everything that can be named is called the same."""
    picture = np.full((60, 80, 3), 127, np.uint8)
    was = {"label": name, "score": 0.9, "box": [10, 10, 30, 40]}
    finding = Finding(name, name, -0.4, {"was": was})
    failures = [
        Failure(
            Record(f"{i:016x}", name, name, name, i, None, Verdict.violated([finding]), naturalness=0.9),
            {"type": "x:Y", "label": name},
        )
        for i in range(cases)
    ]
    held = Record("f" * 16, name, name, name, 99, None, Verdict.held(0.2))
    skipped = Record("e" * 16, name, name, name, 98, None, Verdict.inapplicable(name))
    totals = Totals(name, name, 0, 2, 10, 9, 1.0, skipped=(Skipped(name, name),))
    figures = Figures()
    summary = summarise(figures.watch([*(f.record for f in failures), held, skipped]), totals)
    marks = tuple(Mark.box([10, 10, 30, 40], fate, name) for fate in ("lost", "matched", "change"))
    panels = [Panel(name, picture, marks, (Dial(name, 3.0, name, 0, 9),)), Panel("after", picture, marks)]

    def shown(record: Record) -> CaseView:
        return CaseView(record, name, panels, smallest=name)

    return Page(
        summary,
        figures,
        group_failures(failures),
        {f.record.case: shown(f.record) for f in failures},
        [shown(held)],
    )


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:24])
def test_names_are_shown_as_text_and_nothing_else(name):
    harmless, page = Reader.of(render_html(page_of("harmless"))), Reader.of(render_html(page_of(name)))
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in harmless.tags]
    assert [sorted(attrs) for _, attrs in page.tags] == [sorted(attrs) for _, attrs in harmless.tags]


def test_a_script_in_a_name_can_be_read():
    page = render_html(page_of(SCRIPT))
    assert page.count("<script>") == 1
    assert SCRIPT in Reader.of(page).text


def test_direction_marks_are_spelt_out_and_names_cannot_turn_their_neighbours():
    page = Reader.of(render_html(page_of(BACKWARDS)))
    assert "\u202e" not in "".join(page.text)
    assert any("\\u202egnp.exe \u05e9\u05dc\u05d5\u05dd" in text for text in page.text)


def test_a_name_of_ten_thousand_characters_does_not_swell_the_page():
    assert len(render_html(page_of(LONG))) - len(render_html(page_of("x"))) < 40_000


def test_nothing_comes_from_elsewhere():
    page = Reader.of(render_html(page_of("street")))
    for tag, attributes in page.tags:
        for attribute in ("src", "href", "action", "data", "srcset"):
            value = attributes.get(attribute)
            assert value is None or value.startswith(("data:image/webp;base64,", "#")), (tag, value)
    policy = next(a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a)
    assert policy.startswith("default-src 'none'")


def test_every_part_of_a_finding_is_there():
    text = " ".join(Reader.of(render_html(page_of("street"))).text)
    for part in ["3 failing cases, 1 group", "violated", "by 0.400", "naturalness 0.90", "slider",
                 "blink", "street 0.90 is lost", "1 different failure", "How sure:", "Every finding",
                 "What the words mean", "instar replay street 0000000000000000",
                 "Naturalness against failures kept", "Margins of", "Evidence and cost", "Cases that passed",
                 "1 scene could not be read"]:  # fmt: skip
        assert part in text, part


def test_a_case_without_pictures_says_why():
    page = page_of("street")
    case = next(iter(page.shown))
    record = Record(case, "a", "a", "b", 0, None, Verdict.violated([Finding("lost", "a", -0.1)]))
    gone = CaseView(record, "c", why="scene 'a' is not there any more")
    shown = Page(page.summary, page.figures, page.groups, {case: gone})
    assert "No picture: scene 'a' is not there any more" in "".join(Reader.of(render_html(shown)).text)


def test_a_run_in_which_all_held_has_no_findings():
    figures = Figures()
    records = [Record(str(i), "a", "a", "r", i, None, Verdict.held(i)) for i in range(3)]
    summary = summarise(figures.watch(records), Totals("run", "s", 0, 1, 4, 4, 1.0))
    text = " ".join(Reader.of(render_html(Page(summary, figures, []))).text)
    assert "No failure in 3 judged cases." in text
    assert "Findings by cause" not in text
    assert figures.narrowly_held() == ["0", "1", "2"]


def test_style_and_script_are_files_of_the_package():
    folder = Path(__import__("instar.report", fromlist=["x"]).__file__).parent
    assert {"page.css", "page.js"} <= {path.name for path in folder.iterdir()}
