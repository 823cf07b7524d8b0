from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import pytest

from instar.core.errors import BadInput
from instar.core.record import Record, Skipped, Totals
from instar.core.verdict import Finding, Verdict
from instar.report.document import summary_to_json
from instar.report.gate import numbers_of, read_condition
from instar.report.summary import Break, Counts, FalseAlarms, Placebos, Violation, summarise
from instar.report.text import render_text
from instar.stats import clustered_rate

TOTALS = Totals("runs/a", "tiny", seed=7, scenes=3, queries=40, asked=30, seconds=1.5)


def record(
    case: str, verdict: Verdict, scene: str = "a.jpg", relation: str = "insertion", **more: object
) -> Record:
    return Record(case, scene, scene, relation, 0, None, verdict, **more)  # type: ignore[arg-type]


def lost(subject: str = "object 1", margin: float = -0.2, kind: str = "lost") -> Finding:
    return Finding(kind, subject, margin)


def test_every_case_is_counted_under_exactly_one_status() -> None:
    summary = summarise(
        [
            record("1", Verdict.held(0.3)),
            record("2", Verdict.violated([lost()])),
            record("3", Verdict.inapplicable("no free place")),
            record("4", Verdict.failed("ValueError: no")),
            record("5", Verdict.held(0.1)),
        ],
        TOTALS,
    )
    assert summary.counts == Counts(held=2, violated=1, inapplicable=1, failed=1, headline=1)
    assert summary.counts.cases == 5
    assert summary.reasons == {"ValueError: no": 1, "no free place": 1}


def test_where_a_relation_first_breaks_is_told_for_each_scene_and_side_of_zero() -> None:
    levels = [("a", 40.0), ("a", 35.0), ("a", -60.0), ("b", 5.0)]
    records = [
        record(str(i), Verdict.violated([lost()], level=level), scene)
        for i, (scene, level) in enumerate(levels)
    ]
    records += [record("9", Verdict.held(level=1.0)), record("8", Verdict.violated([lost()]), "c")]
    summary = summarise(records, TOTALS)
    assert summary.breaks == [
        Break("insertion", "a", -60.0, "2"),
        Break("insertion", "a", 35.0, "1"),
        Break("insertion", "b", 5.0, "3"),
    ]
    assert summary_to_json(summary)["breaks"][1] == {
        "relation": "insertion",
        "scene": "a",
        "level": 35.0,
        "case": "1",
    }
    text = render_text(summary)
    assert "first breaks  insertion from -60 on, in 1 scene\n" in text
    assert "first breaks  insertion from +5 on (median +20), in 2 scenes\n" in text


def test_reasons_come_most_frequent_first() -> None:
    why = ["b", "a", "c", "c"]
    summary = summarise([record(str(i), Verdict.inapplicable(w)) for i, w in enumerate(why)], TOTALS)
    assert list(summary.reasons.items()) == [("c", 2), ("a", 1), ("b", 1)]


def test_unstable_and_unconfirmed_are_part_of_inapplicable() -> None:
    summary = summarise(
        [
            record("1", Verdict.inapplicable("unstable: it does not recur", kind="unstable")),
            record("2", Verdict.inapplicable("the budget ended before it was confirmed", kind="unconfirmed")),
            record("3", Verdict.inapplicable("no free place")),
        ],
        TOTALS,
    )
    assert (summary.counts.inapplicable, summary.counts.unstable, summary.unconfirmed) == (3, 1, 1)
    assert summary.counts.judged == 1


def test_the_rate_is_over_what_was_judged_and_its_interval_over_scenes() -> None:
    verdicts = {"a": "vvhh", "b": "hhhi", "c": "hh"}
    made = {"v": Verdict.violated([lost()]), "h": Verdict.held(), "i": Verdict.inapplicable("no")}
    records = [
        record(f"{scene}{i}", made[letter], scene)
        for scene, letters in verdicts.items()
        for i, letter in enumerate(letters)
    ]
    insertion = summarise(records, TOTALS).relations["insertion"]
    assert insertion.counts.rate == 2 / 9
    assert insertion.interval == clustered_rate([2, 0, 0], [4, 3, 2])


def test_the_interval_of_all_relations_is_over_the_same_scenes() -> None:
    broken = Verdict.violated([lost()])
    records = [
        record("1", broken, "a"),
        record("2", Verdict.held(), "a", relation="exposure"),
        record("3", Verdict.held(), "b"),
        record("4", Verdict.inapplicable("no"), "b", relation="exposure"),
    ]
    assert summarise(records, TOTALS).drawn.interval == clustered_rate([1, 0], [2, 1])


def test_unstable_cases_are_judged_and_so_are_null_changes_of_which_nothing_is_left() -> None:
    unstable = Verdict.inapplicable("unstable: it does not recur", kind="unstable")
    records = [record("1", Verdict.violated([lost()])), record("2", Verdict.held()), record("3", unstable)]
    summary = summarise([*records, record("4", unstable, role="null")], TOTALS)
    assert summary.counts.rate == 1 / 3
    assert summary.unstable_share == 1 / 3
    assert summary.false_alarms is not None
    assert (summary.false_alarms.n, summary.false_alarms.violated) == (1, 0)


def test_a_system_that_finds_nothing_anywhere_is_not_judged() -> None:
    records = [record("1", Verdict.held()), record("2", Verdict.held())]
    blind = replace(TOTALS, scenes=2, empty=2)
    why = "nothing was found on any of 2 scenes, so nothing could be lost"
    assert summarise(records, blind).why_not_judged == why
    assert f": {why}.\n" in render_text(summarise(records, blind))
    assert not summarise(records, replace(blind, empty=1)).why_not_judged
    invents = [*records, record("3", Verdict.violated([lost()]))]
    assert not summarise(invents, blind).why_not_judged


def test_a_search_that_looks_for_failures_has_a_yield_and_no_rate() -> None:
    totals = replace(TOTALS, yields=("insertion",))
    records = [record("1", Verdict.violated([lost()])), record("2", Verdict.held(), relation="exposure")]
    summary = summarise(records, totals)
    document = summary_to_json(summary)["relations"]
    assert [document["insertion"][key] for key in ("rate", "interval", "yield")] == [None, None, True]
    assert [document["exposure"][key] for key in ("rate", "yield")] == [0.0, False]
    assert summary.drawn.counts == Counts(held=1)
    assert "a yield" in render_text(summary)
    alone = summarise(records[:1], totals)
    assert "rate  " not in render_text(alone)
    assert "\nWithout rates, since the search goes where failures are" in render_text(alone)
    assert alone.numbers()["rate"] is None
    with pytest.raises(BadInput, match="there is no rate, since the search looks for failures"):
        read_condition("rate>0.1").met(numbers_of(alone, [], None))


def test_a_finding_that_was_false_is_no_headline_and_no_false_alarm() -> None:
    was_false = Verdict.violated([replace(lost(), known="was false")])
    records = [record("1", was_false), record("2", Verdict.held()), record("3", was_false, role="null")]
    summary = summarise(records, TOTALS)
    assert (summary.counts.rate, summary.counts.headline_rate, summary.false_alarm_rate) == (0.5, 0.0, 0.0)


@pytest.mark.parametrize(
    ("ends", "totals", "why"),
    [
        ("hhhhvhhhhu", {}, ""),
        ("hhhhvhhuuu", {}, ""),  # not surely above a tenth
        ("hhhvuuuuuu", {}, "too unstable to judge: 6 of 10 judged cases show what comes and goes by itself"),
        ("hhhhvhhfff", {}, "too many failures: the system failed in 3 of 10 cases"),
        ("h" * 30 + "f", {}, ""),
        ("ii", {}, "nothing could be judged (2 cases)"),
        ("hh", {"repeats": 8, "differing": 8, "contradicting": 2}, ""),
        (
            "hh",
            {"repeats": 8, "differing": 8, "contradicting": 4},
            "too unstable to judge: asked again, 4 of 8 sources got another answer",
        ),
    ],
)
def test_what_cannot_be_judged_says_why(ends: str, totals: dict[str, int], why: str) -> None:
    made = {
        "v": Verdict.violated([lost()]),
        "h": Verdict.held(),
        "i": Verdict.inapplicable("no"),
        "u": Verdict.inapplicable("unstable: it does not recur", kind="unstable"),
        "f": Verdict.failed("ValueError"),
    }
    records = [record(str(i), made[letter], f"{i}.png") for i, letter in enumerate(ends)]
    assert summarise(records, replace(TOTALS, **totals)).why_not_judged == why


def test_nothing_judged_has_no_rate() -> None:
    relation = summarise([record("1", Verdict.inapplicable("no"))], TOTALS).relations["insertion"]
    assert relation.counts.rate is None
    assert relation.interval is None


def test_the_same_object_lost_twice_is_one_distinct_failure() -> None:
    summary = summarise(
        [
            record("1", Verdict.violated([lost("object 1"), lost("object 2")])),
            record("2", Verdict.violated([lost("object 1", -0.4)])),
            record("3", Verdict.violated([lost("object 1", kind="renamed")])),
            record("4", Verdict.violated([lost("object 1")]), scene="b.jpg"),
            record("5", Verdict.violated([lost("object 1")]), relation="exposure"),
        ],
        TOTALS,
    )
    assert summary.distinct == 3  # of an object, whatever became of it
    assert summary.scenes_violated == 2


def test_without_objects_a_failure_is_known_by_its_relation() -> None:
    speed = Verdict.violated([Finding("speed", "", -1.0)])
    summary = summarise([record("1", speed), record("2", speed), record("3", speed, relation="rain")], TOTALS)
    assert summary.distinct == 2


def test_null_changes_are_no_cases_and_give_the_false_alarm_rate() -> None:
    summary = summarise(
        [
            record("1", Verdict.held()),
            record("2", Verdict.held(), role="null"),
            record("3", Verdict.violated([lost()]), role="null"),
            record("4", Verdict.inapplicable("unstable: it does not recur", kind="unstable"), role="null"),
            record("5", Verdict.held(), role="null"),
            record("6", Verdict.inapplicable("no budget", kind="unconfirmed"), role="null"),
            record("7", Verdict.failed("ValueError"), role="null"),
        ],
        TOTALS,
    )
    interval = clustered_rate([1], [4])
    assert summary.false_alarms == FalseAlarms(n=4, violated=1, interval=interval)
    assert summary.false_alarm_rate == 0.25
    assert summary_to_json(summary)["false_alarms"] == {
        "n": 4,
        "violated": 1,
        "interval": interval,
    }
    assert summary.counts == Counts(held=1)
    assert summary.findings == []
    assert summary.distinct == 0


def test_without_null_changes_there_is_no_false_alarm_rate() -> None:
    assert summarise([record("1", Verdict.held())], TOTALS).false_alarm_rate is None


def test_a_placebo_reproduces_a_case_when_it_shows_all_of_its_findings() -> None:
    both = [lost("object 1"), lost("object 2")]
    one, two = ["lost", "object 1"], ["lost", "object 2"]
    summary = summarise(
        [
            record("1", Verdict.violated(both, placebo={"recurs": [one, two]})),
            record("2", Verdict.violated(both, placebo={"recurs": [one]})),
            record("3", Verdict.violated(both, placebo={"recurs": []})),
            record("4", Verdict.violated(both)),
        ],
        TOTALS,
    )
    assert summary.placebos == Placebos(tried=3, reproduced=1)


def test_findings_are_sorted_by_margin_then_case() -> None:
    summary = summarise(
        [
            record("c", Verdict.violated([lost(margin=-0.1)])),
            record("b", Verdict.violated([lost(margin=-0.5)]), naturalness=0.9),
            record("a", Verdict.violated([lost(margin=-0.5)])),
            record("d", Verdict.violated([lost(margin=float("nan"))])),
        ],
        TOTALS,
    )
    assert [finding.case for finding in summary.findings] == ["a", "b", "c", "d"]
    assert summary.findings[1] == Violation("b", "a.jpg", "insertion", "lost", -0.5, 0.9)


def test_the_document_has_the_promised_keys() -> None:
    document = summary_to_json(summarise([record("1", Verdict.violated([lost()]))], TOTALS))
    promised = """run system task cases held violated inapplicable failed unstable distinct headline
        distinct_real queries asked seconds false_alarm_rate false_alarms scenes scenes_judged scenes_violated
        reasons relations findings"""
    assert set(promised.split()) <= set(document)
    of_a_relation = """cases held violated inapplicable failed unstable headline unfair rate interval
        headline_rate headline_interval yield"""
    assert set(of_a_relation.split()) == set(document["relations"]["insertion"])
    assert document["findings"] == [
        {
            "case": "1",
            "scene": "a.jpg",
            "relation": "insertion",
            "kind": "lost",
            "known": "unknown",
            "headline": True,
            "margin": -0.2,
            "naturalness": None,
            "words": "object 1 is lost",
        }
    ]


def test_what_is_known_of_a_finding_stands_in_the_document_and_orders_it() -> None:
    car = {"was": {"label": "car", "score": 0.8, "box": [1, 2, 3, 4]}}
    findings = [
        Finding("lost", "object 1", -0.9, car, known="was false"),
        Finding("lost", "object 2", -0.2, car, known="real"),
    ]
    summary = summarise(
        [
            record("1", Verdict.violated(findings[:1])),
            record("2", Verdict.violated([lost("object 3", -0.5)])),
            record("3", Verdict.violated(findings)),
        ],
        TOTALS,
    )
    document = summary_to_json(summary)
    assert [(f["case"], f["known"], f["headline"]) for f in document["findings"]] == [
        ("3", "real", True),
        ("2", "unknown", True),
        ("1", "was false", False),
    ]
    assert [document[key] for key in ("violated", "headline", "distinct", "distinct_real")] == [3, 2, 3, 1]
    told = {key: document["findings"][0][key] for key in ("label", "score", "box")}
    assert told == car["was"]


def test_the_document_carries_seed_price_and_what_was_skipped() -> None:
    totals = Totals("r", "s", 7, 3, 40, 30, 1.5, 0.001, [Skipped("x.jpg", "truncated")], finished=False)
    document = summary_to_json(summarise([], totals))
    assert document["seed"] == 7
    assert document["price"] == 0.03
    assert document["skipped"] == [{"scene": "x.jpg", "reason": "truncated"}]
    assert document["finished"] is False


@pytest.mark.parametrize("strange", [float("nan"), float("inf"), float("-inf")])
def test_the_document_is_strict_json_whatever_the_margins(strange: float) -> None:
    violated = record("1", Verdict.violated([lost(margin=strange)]), naturalness=strange)
    text = json.dumps(summary_to_json(summarise([violated], TOTALS)), allow_nan=False)
    assert json.loads(text)["findings"][0]["margin"] is None


def test_records_are_read_once_and_held_ones_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    # What an interval takes depends on the cases of a scene, and is nothing that is kept.
    monkeypatch.setattr("instar.report.summary.clustered_rate", lambda violated, judged: (0.0, 1.0))

    def many(n: int) -> Iterator[Record]:
        return (record(str(i), Verdict.held(0.1), scene=f"{i % 10}.jpg") for i in range(n))

    def peak(n: int) -> int:
        tracemalloc.start()
        try:
            assert summarise(many(n), TOTALS).counts.held == n
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)
    assert peak(20_000) < peak(200) + 20_000  # bytes
