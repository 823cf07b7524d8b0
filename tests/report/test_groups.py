from __future__ import annotations

from collections import Counter

from instar.core.record import Record
from instar.core.verdict import Finding, Verdict
from instar.report.causes import Failure, finding_words, traits_of
from instar.report.groups import group_failures


def failure(
    n: int,
    label: str,
    *,
    fate: str = "lost",
    by: str = "dog",
    scene: str = "",
    among: list[str] | None = None,
    relation: str = "insertion",
) -> Failure:
    seen = {"label": label, "score": 0.9, "box": [0, 0, 10, 10]}
    evidence = {"lost": {"was": seen}, "new": {"is": seen}, "moved": {"was": seen, "is": seen}}[fate]
    verdict = Verdict.violated([Finding("k", f"object {n}", -0.5, evidence)], among=among or [])
    scene = scene or f"{n}.jpg"
    record = Record(f"{n:04x}", scene, scene, relation, n, None, verdict)
    return Failure(record, {"type": "m:C", "label": by, "x": 12, "y": 0, "width": 5, "height": 5})


MANY = [label for label in "abcdefgh" for _ in range(2)]


def sizes(groups):
    return {group.title: len(group.cases) for group in groups}


def test_two_labels_that_are_hit_far_more_than_their_share_are_two_groups():
    failures = [failure(i, "ab"[i % 2], among=MANY) for i in range(20)]
    assert sizes(group_failures(failures)) == {
        "a lost when a dog is pasted in, right beside it": 10,
        "b lost when a dog is pasted in, right beside it": 10,
    }


def test_labels_that_are_hit_as_they_come_are_one_group():
    failures = [failure(i, "abcdefgh"[i % 8], among=MANY) for i in range(40)]
    assert sizes(group_failures(failures)) == {
        "8 kinds of object lost when a dog is pasted in, right beside it": 40
    }


def test_what_a_change_brings_divides_only_where_other_things_were_tried_too():
    failures = [failure(i, "a", by=["dog", "cat"][i % 2], scene="s") for i in range(20)]
    only = {("insertion", "s", None): Counter(dog=10, cat=10)}
    more = {("insertion", "s", None): Counter(dog=10, cat=10, bird=50, cow=50)}
    assert len(group_failures(failures, only)) == 1
    assert sizes(group_failures(failures, more)) == {
        "a lost when a cat is pasted in, right beside it": 10,
        "a lost when a dog is pasted in, right beside it": 10,
    }


def test_fates_and_relations_are_kept_apart():
    failures = [failure(i, "a", fate=fate) for i, fate in enumerate(["lost", "new", "moved"] * 3)]
    failures += [failure(9 + i, "a", relation="night") for i in range(3)]
    assert sorted((group.relation, len(group.cases)) for group in group_failures(failures)) == [
        ("insertion", 3), ("insertion", 3), ("insertion", 3), ("night", 3),
    ]  # fmt: skip


def test_kinds_that_come_together_are_one_group():
    def torn(n: int) -> Failure:
        findings = [Finding("lost", "box 1", -0.5 + n / 100), Finding("new", "near box 1", -0.5)]
        verdict = Verdict.violated(findings)
        return Failure(Record(f"{n:04x}", "p", "p", "perspective", n, None, verdict), {"type": "m:C"})

    (group,) = group_failures([torn(n) for n in range(-3, 4)])
    assert group.title == "box or near box lost or newly found when seen at an angle"


def test_a_representative_is_the_worst_and_scenes_take_turns():
    failures = [failure(i, "a", scene="one" if i < 3 else "two") for i in range(4)]
    (group,) = group_failures(failures)
    assert group.cases == ("0000", "0003", "0001", "0002")
    assert (group.representative, group.scenes) == ("0000", 2)


def test_a_check_may_say_the_cause_in_its_own_words():
    finding = Finding("speed", "block 1", -1, {"cause": {"what": "no slowing down", "by": "a person"}})
    told = Failure(Record("0", "a", "a", "r", 0, None, Verdict.violated([finding])), {})
    traits = traits_of(told, told.record.verdict.plainest)
    assert (traits.what, traits.label, traits.by) == ("no slowing down", "block", "a person")
    assert finding_words(finding) == "no slowing down: block 1"


def test_findings_without_evidence_are_told_by_their_names():
    assert finding_words(Finding("lost", "box 3")) == "box 3 is lost"
    assert finding_words(Finding("")) == "it does not hold"
