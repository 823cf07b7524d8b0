from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from instar.core.record import Record, Skipped, Totals
from instar.core.verdict import Finding, Verdict
from instar.report.causes import Failure
from instar.report.groups import group_failures
from instar.report.summary import (
    Counts,
    FalseAlarms,
    Placebos,
    RelationSummary,
    Summary,
    Violation,
    summarise,
)
from instar.report.text import render_comparison, render_text
from instar.report.text_style import TextStyle

from .hostile import HOSTILE

SNAPSHOTS = Path(__file__).parent.parent / "snapshots"

SOME_FAILURES = Summary(
    totals=Totals(
        "runs/my run",
        "yolox-nano",
        seed=7,
        scenes=64,
        queries=1300,
        asked=1200,
        seconds=84.21,
        price_per_query=0.001,
        skipped=[Skipped("broken.jpg", "truncated after 12 KB"), Skipped("film.gif", "animated")],
        finished=False,
        isolated=False,
        repeats=10,
        differing=2,
        contradicting=1,
    ),
    counts=Counts(held=1375, violated=137, inapplicable=118, failed=2, unstable=28, headline=120),
    drawn=RelationSummary(Counts(1375, 137, 118, 2, 28, 120), (0.0512, 0.1361), (0.04, 0.12)),
    unstable_interval=(0.011, 0.031),
    unconfirmed=3,
    distinct=22,
    distinct_failures=18,
    distinct_real=5,
    known={"unknown": 13, "real": 5, "was false": 4},
    scenes_judged=60,
    scenes_violated=11,
    scenes_failing=10,
    false_alarms=FalseAlarms(64, 1, (0.0004, 0.084)),
    placebos=Placebos(137, 60),
    kinds={"lost": 125, "renamed": 8, "drifted": 4},
    reasons={"no free place": 87, "unstable: it does not recur": 28},
    relations={
        "insertion": RelationSummary(Counts(1375, 137, 100, 2, 28, 120), (0.0512, 0.1361), (0.04, 0.12)),
        "my_rules:exposure": RelationSummary(Counts(0, 0, 18, 0), None),
    },
    findings=[
        Violation("3f9a0c1122334455", "street/a.jpg", "insertion", "lost", -0.412, 0.98),
        Violation("00aa0c1122334455", "a/very/" + "long/" * 10 + "name.jpg", "insertion", "", -0.1, None),
        Violation("11bb0c1122334455", "b.jpg", "insertion", "drifted", -0.05, 1.0),
    ],
)
NO_FAILURES = Summary(
    totals=Totals("run", "street-exact", seed=0, scenes=1, queries=21, asked=0, seconds=0.2),
    counts=Counts(held=10),
    drawn=RelationSummary(Counts(held=10), (0.0, 0.79)),
    unstable_interval=(0.0, 0.79),
    unconfirmed=0,
    distinct=0,
    distinct_failures=0,
    distinct_real=0,
    known={},
    scenes_judged=1,
    scenes_violated=0,
    scenes_failing=0,
    false_alarms=FalseAlarms(1, 0, (0.0, 0.95)),
    placebos=None,
    kinds={},
    reasons={},
    relations={"insertion": RelationSummary(Counts(held=10), (0.0, 0.79))},
    findings=[],
)
NOTHING_JUDGED = Summary(
    totals=Totals("run", "mine:detect", seed=0, scenes=2, queries=2, asked=2, seconds=0.1),
    counts=Counts(failed=2),
    drawn=RelationSummary(Counts()),
    unstable_interval=None,
    unconfirmed=0,
    distinct=0,
    distinct_failures=0,
    distinct_real=0,
    known={},
    scenes_judged=0,
    scenes_violated=0,
    scenes_failing=0,
    false_alarms=None,
    placebos=None,
    kinds={},
    reasons={"RuntimeError: no device": 2},
    why_failed="RuntimeError: no device",
    relations={"insertion": RelationSummary(Counts(failed=2), None)},
    findings=[],
)


@pytest.mark.parametrize(
    ("name", "summary"),
    [("some-failures", SOME_FAILURES), ("no-failures", NO_FAILURES), ("nothing-judged", NOTHING_JUDGED)],
)
def test_the_report_reads_as_it_did(name: str, summary: Summary) -> None:
    require_as_kept(f"report-{name}.txt", render_text(summary, top=2))


def test_the_comparison_of_several_runs_reads_as_it_did() -> None:
    require_as_kept("comparison.txt", render_comparison([SOME_FAILURES, NO_FAILURES, NOTHING_JUDGED]))


def require_as_kept(name: str, text: str) -> None:
    """Set INSTAR_WRITE_SNAPSHOTS=1 to accept how it reads now, then look at the difference."""
    kept = SNAPSHOTS / name
    if os.environ.get("INSTAR_WRITE_SNAPSHOTS"):
        kept.write_text(text, encoding="utf-8")
    assert text == kept.read_text(encoding="utf-8")


def test_a_narrow_terminal_is_told_what_happened_before_anything_else() -> None:
    text = render_text(SOME_FAILURES, look=TextStyle(width=64))
    findings = text[text.index("indings, the plainest first") :].splitlines()[1:3]
    assert findings[0].split() == ["case", "known", "what"]
    assert all(len(line) <= 64 for line in findings)
    assert "…" not in findings[1]


@pytest.mark.parametrize("width", [50, 64, 80])
def test_a_narrow_terminal_breaks_no_line_of_words_itself(width: int) -> None:
    text = render_text(SOME_FAILURES, look=TextStyle(width=width))
    head, _table, *others = text[: text.index("See one again:")].split("\n\n")
    lines = "\n".join([head, *others]).splitlines()
    assert max(map(len, lines)) <= width


def test_a_run_folder_with_a_blank_can_be_pasted_into_a_shell() -> None:
    assert "instar replay 'runs/my run' 3f9a0c1122334455" in render_text(SOME_FAILURES)


def test_labels_that_no_referee_knows_are_named_with_what_to_do() -> None:
    def lost(case: str, label: str, known: str) -> Record:
        was = {"label": label, "score": 0.9, "box": [0, 0, 9, 9]}
        finding = Finding("lost", "object 0", -0.5, {"was": was}, known)
        return Record(case, case, case, "mirrored", 0, None, Verdict.violated([finding]))

    records = [lost("a", "Hund", "unknown"), lost("b", "Hund", "unknown"), lost("c", "car", "real")]
    totals = Totals("run", "mine", 0, 3, 9, 9, 1.0, referees={"ssd": ""}, referee_queries=6)
    words = "ssd, 6 questions; none of them knows Hund: --referee-labels says what they call it"
    assert words in render_text(summarise(records, totals))
    assert "--referee-labels" not in render_text(summarise(records[2:], totals))


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:24])
def test_a_terminal_gets_names_as_text(name: str) -> None:
    finding = Finding(name, name, -0.5, {"was": {"label": name, "score": 0.5, "box": [0, 0, 1, 1]}})
    records = [
        Record("1", name, name, name, 0, None, Verdict.violated([finding])),
        Record("2", name, name, name, 1, None, Verdict.inapplicable(name)),
    ]
    summary = summarise(records, Totals(name, name, 0, 1, 2, 2, 1.0, skipped=(Skipped(name, name),)))
    told = render_text(summary, group_failures([Failure(records[0], {"label": name})]))
    assert not {"\x00", "\x1b", "\x07", "\t", "\u202e"} & set(told)
    assert max(map(len, told.splitlines())) < 700


def test_a_failure_that_comes_again_waits_until_every_other_one_was_told() -> None:
    cow, bird = ("a.jpg", "object", "3"), ("b.jpg", "object", "1")
    findings = [replace(one, headline=True) for one in SOME_FAILURES.findings]
    again = [replace(one, identity=what) for one, what in zip(findings, (cow, cow, bird))]
    told = render_text(replace(SOME_FAILURES, findings=again))
    order = [told.rindex(case) for case in (findings[0].case, findings[2].case, findings[1].case)]
    assert told.index("lainest first") < order[1] < order[2]
