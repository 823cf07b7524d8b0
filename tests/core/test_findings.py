"""A finding is believed when null changes do not show it too and it recurs whenever it is asked again."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import instar
import planted_core as planted
from instar.core.campaign import Campaign
from instar.engines.local import run_local
from instar.store import MemoryStore

HELD, VIOLATED, INAPPLICABLE, FAILED = instar.Status


@dataclass(frozen=True)
class Shown(instar.Null):
    """A null change whose picture has the given level: the system's answer follows from it."""

    level: int

    def apply(self, picture):
        return np.full_like(picture, self.level)


def answered(by_level, default="a b c"):
    """A system that sees other things at some levels; the source has level 0."""
    return planted.Scripted(lambda image: by_level.get(int(image[0, 0, 0]), default).split())


def compare(before, after):
    margin = {"a": -1.0, "b": -3.0, "c": -2.0}
    gone = [one for one in before.answer if one not in after.answer]
    findings = [instar.Finding(f"lost {one}", one, margin[one]) for one in gone]
    return instar.Verdict.violated(findings, gone=gone) if gone else instar.Verdict.held(1.0)


def relation(*, nulls=(), again=(), placebo=None):
    """The cases show level 100; null changes, repetitions and the placebo show the levels given here."""
    changes = instar.Nulls(
        lambda source, rng: Shown(nulls[0] if nulls else 200),
        lambda source: [Shown(level) for level in nulls[1:]],
        conditions=tuple(map(Shown, again)),
    )
    task = instar.Task(
        "levels", planted.read_things, compare, planted.picture_of, nulls=changes if nulls or again else None
    )
    return instar.Relation(
        "shown",
        task,
        lambda image, change: np.full_like(image, change[0]),
        draw=lambda source, rng: [100, int(rng.integers(10**9))],
        placebo=(lambda source, change: [placebo, change[1]]) if placebo else None,
    )


def run(relation, system, *, cases=1, n=1):
    scenes = [instar.Scene.of(f"{i}.png", np.zeros((4, 4, 3), np.uint8)) for i in range(n)]
    store = MemoryStore()
    campaign = Campaign(scenes=scenes, relations=[(relation, instar.draws(cases))], system=system)
    records = list(run_local(campaign, store))
    return records, store


def the_case(records):
    (record,) = [record for record in records if record.role == "case"]
    return record


def test_without_checks_every_finding_stands_and_the_worst_gives_kind_and_margin():
    records, _ = run(relation(), answered({100: "a"}))
    verdict = the_case(records).verdict
    assert (verdict.status, verdict.kind, verdict.margin) == (VIOLATED, "lost b", -3.0)
    assert [f.subject for f in verdict.findings] == ["b", "c"]
    assert the_case(records).queries == 1


def test_what_a_null_change_shows_too_is_struck_out_and_the_worst_that_is_left_remains():
    records, _ = run(relation(nulls=(1, 2, 3)), answered({100: "a", 3: "a c"}))
    record = the_case(records)
    assert (record.verdict.status, record.verdict.kind, record.verdict.margin) == (VIOLATED, "lost c", -2.0)
    assert [f.subject for f in record.verdict.findings] == ["c"]
    assert record.verdict.evidence["struck"] == [
        {"kind": "lost b", "subject": "b", "margin": -3.0, "by": "null Shown(level=3)"}
    ]
    assert record.verdict.evidence["gone"] == ["b", "c"]
    assert record.queries == 1 + 2


def test_a_case_with_nothing_left_is_unstable_and_not_held():
    records, _ = run(relation(nulls=(1, 2)), answered({100: "a c", 2: "a c"}))
    verdict = the_case(records).verdict
    assert (verdict.status, verdict.kind) == (INAPPLICABLE, "unstable")
    assert verdict.reason == "unstable: null changes show it too"
    assert (verdict.margin, verdict.findings) == (0.0, ())


def test_what_does_not_recur_is_struck_out():
    records, _ = run(relation(again=(101, 102)), answered({100: "a", 101: "a", 102: "a c"}))
    record = the_case(records)
    assert [f.subject for f in record.verdict.findings] == ["b"]
    assert [struck["by"] for struck in record.verdict.evidence["struck"]] == ["again under Shown(level=102)"]
    assert record.queries == 1 + 2


def test_a_case_that_never_recurs_is_unstable_and_asked_no_further():
    records, _ = run(relation(again=(101, 102), placebo=103), answered({100: "a"}))
    record = the_case(records)
    assert (record.verdict.status, record.verdict.kind) == (INAPPLICABLE, "unstable")
    assert record.verdict.reason == "unstable: it does not recur"
    assert record.queries == 1 + 1
    assert [struck["by"] for struck in record.verdict.evidence["struck"]] == [
        "again under Shown(level=101)"
    ] * 2


@pytest.mark.parametrize(("seen", "recurs"), [("a b c", []), ("a c", [["lost b", "b"]]), ("b", [])])
def test_a_placebo_is_recorded_and_changes_no_status(seen, recurs):
    records, _ = run(relation(placebo=103), answered({100: "a c", 103: seen}))
    record = the_case(records)
    assert (record.verdict.status, record.verdict.kind) == (VIOLATED, "lost b")
    assert record.verdict.evidence["placebo"] == {"recurs": recurs}
    assert record.queries == 2


def test_a_fresh_null_change_is_a_record_of_its_own_and_strikes_nothing():
    system = answered({100: "a c", 1: "a c"})
    records, _ = run(relation(nulls=(1, 2)), system, cases=10, n=3)
    nulls = [record for record in records if record.role == "null"]
    assert [record.scene for record in nulls] == ["0.png", "1.png", "2.png"]
    assert [record.change for record in nulls] == [Shown(1)] * 3
    assert [record.verdict.status for record in nulls] == [VIOLATED] * 3  # three false alarms to be counted
    assert [record.verdict.status for record in records if record.role == "case"] == [VIOLATED] * 30


def test_the_fresh_null_change_is_judged_like_a_case():
    records, _ = run(relation(nulls=(1, 2)), answered({1: "a", 2: "a b"}), cases=10)
    (null,) = [record for record in records if record.role == "null"]
    assert [f.subject for f in null.verdict.findings] == ["b"]  # c was struck out by the second null change


def test_the_other_null_changes_are_asked_once_per_source_and_only_where_something_was_found():
    class Tallied(planted.Scripted):
        def predict(self, inputs):
            levels.extend(int(one[0, 0, 0]) for one in inputs)
            return super().predict(inputs)

    levels = []
    system = Tallied(answered({100: "a"})._answer)
    run(relation(nulls=(1, 2, 3)), system, cases=10)
    # The source twice, and 100 once: ten cases make the same picture.
    assert sorted(levels) == [0, 0, 1, 2, 3, 100]
    levels.clear()
    run(relation(nulls=(1, 2, 3)), Tallied(answered({})._answer), cases=10)
    assert sorted(levels) == [0, 0, 1, 100]


class Forgetful:
    """Forgets one thing whenever it is asked the same question an even time."""

    name = "forgetful"

    def __init__(self):
        self.asked = {}

    def predict(self, inputs):
        answers = []
        for one in inputs:
            level = int(one[0, 0, 0])
            self.asked[level] = self.asked.get(level, 0) + 1
            answers.append(["a"] if self.asked[level] % 2 == 0 else ["a", "b"])
        return answers


def test_a_null_change_that_changes_no_pixel_is_really_asked_again():
    system = Forgetful()
    records, _ = run(relation(nulls=(0,)), system, cases=10)
    (null,) = [record for record in records if record.role == "null"]
    assert system.asked[0] == 3  # the source, the null change, and the source once more
    assert (null.verdict.status, null.verdict.kind) == (VIOLATED, "lost b")


def test_every_striking_null_change_is_another_asking():
    system = Forgetful()
    system.asked[100] = 1  # so that the case loses something
    records, _ = run(relation(nulls=(0, 0, 0, 0)), system)
    # The source twice, three strikers, and the null change that measures false alarms.
    assert system.asked[0] == 2 + 3 + 1
    assert the_case(records).verdict.kind == "unstable"


def test_a_finding_of_an_unsteady_system_is_unstable_because_it_is_asked_again():
    system = Forgetful()
    system.asked[100] = 1
    records, _ = run(relation(again=(100, 100)), system)
    assert system.asked[100] == 1 + 2
    assert the_case(records).verdict.kind == "unstable"


def test_a_steady_finding_recurs_as_often_as_it_is_asked():
    records, _ = run(relation(again=(100, 100, 100)), answered({100: "a"}))
    assert the_case(records).verdict.status is VIOLATED
    assert the_case(records).queries == 4


def test_a_system_that_fails_on_a_repetition_has_failed_and_what_it_showed_is_kept():
    def answer(image):
        if image[0, 0, 0] == 101:
            raise RuntimeError("no luck")
        return ["a"] if image[0, 0, 0] == 100 else ["a", "b"]

    records, _ = run(relation(again=(101,)), planted.Scripted(answer))
    verdict = the_case(records).verdict
    assert (verdict.status, verdict.reason) == (FAILED, "RuntimeError: no luck")
    assert [struck["subject"] for struck in verdict.evidence["struck"]] == ["b"]


def test_a_finding_whose_null_changes_the_system_fails_on_is_not_believed():
    def answer(image):
        if image[0, 0, 0] == 2:
            raise RuntimeError("no luck")
        return ["a"] if image[0, 0, 0] == 100 else ["a", "b"]

    records, _ = run(relation(nulls=(1, 2)), planted.Scripted(answer))
    verdict = the_case(records).verdict
    assert (verdict.status, verdict.reason) == (FAILED, "RuntimeError: no luck")
    assert [struck["subject"] for struck in verdict.evidence["struck"]] == ["b"]


def test_evidence_may_carry_any_name():
    checked = relation(nulls=(1, 2))

    def expect(source, follow_ups, change):
        verdict = compare(source, follow_ups[0])
        names = {"findings": 1, "reason": 2, "kind": 3, "margin": 4}
        return instar.Verdict(verdict.status, verdict.margin, verdict.kind, "", verdict.findings, names)

    named = replace(checked, name="named", expect=expect)
    records, _ = run(named, answered({100: "a", 2: "a c"}))
    assert [f.subject for f in the_case(records).verdict.findings] == ["c"]
    assert the_case(records).verdict.evidence["kind"] == 3


def test_naturalness_is_measured_for_what_is_believed_only():
    measured = []

    def naturalness(source, follow_up, change):
        measured.append(int(follow_up[0, 0, 0]))
        return 0.5

    natural = replace(relation(nulls=(1, 2)), naturalness=naturalness)
    records, _ = run(natural, answered({100: "a"}))
    assert (the_case(records).naturalness, measured) == (0.5, [100])
    records, _ = run(natural, answered({100: "a", 2: "a"}))
    assert (the_case(records).naturalness, measured) == (None, [100])


# --- several follow-ups -----------------------------------------------------------------------------


def several(*shown):
    """A relation of sameness whose follow-ups show these levels."""
    return replace(
        relation(), draw=None, apply=lambda image, _: [np.full_like(image, level) for level in shown]
    )


@pytest.mark.parametrize(
    ("seen", "subjects"),
    [
        ({1: "a b", 2: "a c"}, {"b": -3.0, "c": -2.0}),
        ({1: "a b", 2: "a b"}, {"c": -2.0}),
        ({1: "a b c", 2: "b c"}, {"a": -1.0}),
        ({}, {}),
    ],
)
def test_several_follow_ups_of_a_relation_of_sameness_merge_their_findings(seen, subjects):
    (record,) = run(several(1, 2), answered(seen))[0]
    assert {finding.subject: finding.margin for finding in record.verdict.findings} == subjects
    assert record.verdict.status is (VIOLATED if subjects else HELD)
    assert record.verdict.margin == (min(subjects.values()) if subjects else 1.0)
    assert record.queries == 2


def compare_sizes(before, after):
    if after.answer < 0:
        return instar.Verdict.inapplicable("nothing to compare")
    return instar.Verdict.at_most(after.answer - before.answer, 5.0, "grew")


@pytest.mark.parametrize(
    ("sizes", "status", "margin"),
    [
        ([3, 4], HELD, 1.0),
        ([8, 20, 4], VIOLATED, -15.0),
        ([3, -1], INAPPLICABLE, 0.0),
        ([9, -1], VIOLATED, -4.0),
    ],
)
def test_the_worst_of_several_follow_ups_counts_and_one_that_cannot_be_judged_is_not_held(
    sizes, status, margin
):
    task = replace(relation().task, compare=compare_sizes)
    levels = {100 + i: size for i, size in enumerate(sizes)}
    system = planted.Scripted(lambda image: levels.get(int(image[0, 0, 0]), 0))
    (record,) = run(replace(several(*levels), task=task), system)[0]
    assert (record.verdict.status, record.verdict.margin) == (status, margin)
    assert len(record.verdict.findings) == (status is VIOLATED)


# --- what is known about a finding ------------------------------------------------------------------


def test_findings_that_stand_are_verified_also_those_of_null_changes():
    asked = []

    def verify(source, follow_up, finding, opinions):
        asked.append(finding.subject)
        return "real" if finding.subject == "b" else "was false"

    base = relation(nulls=(1, 2))
    checked = replace(base, task=replace(base.task, verify=verify))
    records, _ = run(checked, answered({100: "a", 1: "a c", 2: "a b"}))
    known = {
        record.role: [(finding.subject, finding.known) for finding in record.verdict.findings]
        for record in records
    }
    assert known == {"case": [("b", "real")], "null": [("b", "real")]}
    assert asked == ["b", "b"]  # c was struck out
