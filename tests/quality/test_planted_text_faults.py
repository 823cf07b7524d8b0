"""Whole campaigns on drawn pages: each fault is caught by its relation and by no other, none is made up."""

from __future__ import annotations

from collections import Counter

import pytest

import instar
import planted_text
from instar import Record, Relation, Status
from instar.core.system import System
from instar.tasks.text import (
    brightness_down,
    brightness_up,
    channel_switch,
    listed,
    masking,
    perspective,
    watermark,
)
from instar.tasks.text.systems.page import page_exact, page_glare
from instar.worlds.page import scenes

LARGE = {"height": (48, 56), "letters": (4, 5)}  # larger than any word of a page


def relations() -> list[Relation]:
    return [
        brightness_up(step=20), brightness_down(step=20), channel_switch(), perspective(), watermark(**LARGE),
        masking(),
    ]  # fmt: skip


def campaign(system: System, *, pages: int = 6, perspectives: int = 3, watermarks: int = 3) -> list[Record]:
    search = listed(perspectives=perspectives, watermarks=watermarks)
    return list(instar.run(scenes(pages), relations(), system, search=search))


def cases(records: list[Record], status: Status) -> list[Record]:
    return [r for r in records if r.role == "case" and r.verdict.status is status]


def accused(records: list[Record]) -> dict[str, set[str]]:
    """The relations that were violated, with the kinds of findings that were left."""
    kinds: dict[str, set[str]] = {}
    for record in cases(records, Status.VIOLATED):
        kinds.setdefault(record.relation, set()).update(f.kind for f in record.verdict.findings)
    return kinds


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        (planted_text.loses_boxes_when_bright(), {"brightness-up": {"lost"}}),
        (page_glare(), {"brightness-up": {"lost"}}),
        (planted_text.looks_at_red_only(), {"channel-switch": {"lost", "invented"}}),
        (
            planted_text.forgets_to_scale_back(),
            {"perspective": {"lost", "invented", "resized", "drifted"}},
        ),
        (planted_text.overlooks_large_words(), {"watermark": {"watermark missed"}}),
        (planted_text.splits_large_words(), {"watermark": {"watermark missed", "invented"}}),
        (planted_text.sees_text_where_none_is(), {"masking": {"masked text found", "invented"}}),
        (planted_text.sees_through_masks(), {"masking": {"masked text found"}}),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_planted_fault_is_caught_by_its_relation_and_by_no_other(
    system: System, expected: dict[str, set[str]]
) -> None:
    records = campaign(system)
    found = accused(records)
    assert found.keys() == expected.keys()
    assert all(found[name] <= expected[name] for name in found)


def test_text_seen_through_masks_is_seen_at_the_masked_boxes() -> None:
    records = campaign(planted_text.sees_through_masks(), pages=3)
    for record in cases(records, Status.VIOLATED):
        boxes = record.verdict.evidence["before"]
        assert {f.subject for f in record.verdict.findings} == {f"box {k}" for k in range(boxes)}
        assert record.verdict.evidence["stability"] == 0.0


def test_a_split_watermark_is_said_to_be_on_the_watermark() -> None:
    records = campaign(planted_text.splits_large_words())
    extra = {
        f.subject for r in cases(records, Status.VIOLATED) for f in r.verdict.findings if f.kind == "invented"
    }
    assert extra == {"on the watermark"}


@pytest.mark.parametrize("at_least", [500, pytest.param(5_000, marks=pytest.mark.real)])
def test_a_right_locator_is_never_accused(at_least: int) -> None:
    pages = scenes(at_least * 14 // 500, size=(240, 320))
    every = [
        brightness_up(step=10), brightness_down(step=10), channel_switch(), perspective(reach=30),
        watermark(), masking(),
    ]  # fmt: skip
    search = listed(perspectives=8, watermarks=8)
    records = list(instar.run(pages, every, page_exact(), search=search))
    assert {record.verdict.status for record in records if record.role == "null"} == {Status.HELD}
    status = Counter(record.verdict.status for record in records if record.role == "case")
    assert status[Status.VIOLATED] == status[Status.FAILED] == 0
    assert {r.verdict.reason for r in cases(records, Status.INAPPLICABLE)} <= {
        "no free place for a watermark"
    }
    assert status[Status.HELD] >= at_least


def test_a_jittery_locator_is_unstable_and_not_violated() -> None:
    records = campaign(planted_text.jitters())
    assert accused(records) == {}
    unstable = Counter(
        r.relation for r in cases(records, Status.INAPPLICABLE) if r.verdict.kind == "unstable"
    )
    assert set(unstable) >= {"brightness-up", "brightness-down", "perspective", "watermark"}


def test_what_is_measured_does_not_depend_on_what_is_believed() -> None:
    # Struck out or not, the raw similarity stays in the evidence: Eq. 14 is an average over all follow-ups.
    records = campaign(planted_text.jitters(), pages=3)
    judged = [r for r in records if r.change is not None]
    assert all(0 <= r.verdict.evidence["stability"] <= 1 for r in judged)
    assert any(r.verdict.evidence["stability"] < 1 for r in cases(judged, Status.INAPPLICABLE))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ([[[0, 0], [9, 0], [9, 9]]], "nonsense answer: quads has shape (1, 3, 2); it must be (n, 4, 2)"),
        ([[[0, 0], [9, 0], [9, 9], [0, float("nan")]]], "NaN"),
        ([[[900, 900], [909, 900], [909, 909], [900, 909]]], "lies outside the picture of 480x360"),
    ],
    ids=["three corners", "NaN", "outside"],
)
def test_a_locator_that_answers_nonsense_fails_and_is_not_violated(
    answer: list[list[list[float]]], reason: str
) -> None:
    system = planted_text.Locator("nonsense", lambda image: {"quads": answer})
    records = campaign(system, pages=1)
    assert {record.verdict.status for record in records} == {Status.FAILED}
    assert all(reason in record.verdict.reason for record in records)
