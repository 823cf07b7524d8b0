"""Planted faults of interpreters are found, and a perfect interpreter is never accused. Without torch."""

from collections import Counter

import pytest

from instar.campaigns.run import run
from instar.tasks.interpretation import delete, delete_same, distinct, insert, squeeze, truth
from instar.worlds import street
from planted_interpretation import BrightestCorner, Everywhere, FollowsThePasted, Perfect, Random

SCENES = street.scenes(2, size=(300, 400))
ALL = ("insert", "delete", "delete-same", "squeeze", "truth")


def outcome(system, *relations):
    """How often each relation ended how, and the kinds of its findings."""
    counts = {}
    for record in run(SCENES, list(relations), system, search=distinct(n=2)):
        if record.role == "case":
            verdict = record.verdict
            end = verdict.kind or verdict.status.value
            counts.setdefault(record.relation, Counter())[end] += 1
    return counts


def test_a_perfect_interpreter_is_never_accused():
    counts = outcome(Perfect(), insert(), delete(), delete_same(), squeeze(), truth())
    assert set(counts) == set(ALL)
    for relation, ends in counts.items():
        assert set(ends) <= {"held", "inapplicable"}, (relation, ends)
        assert ends["held"] > 0


def test_one_that_follows_the_pasted_object_is_found_by_insert():
    counts = outcome(FollowsThePasted(SCENES), insert(), squeeze())
    assert set(counts["insert"]) <= {"moved", "leak"}
    assert set(counts["squeeze"]) == {"held"}


def test_one_that_points_at_the_brightest_corner_is_found_by_the_truth():
    counts = outcome(BrightestCorner(), truth(), squeeze())
    assert set(counts["truth"]) == {"beside the object"}
    assert set(counts["squeeze"]) == {"held"}  # stable, and wrong


def test_one_that_points_everywhere_is_found_by_coverage_and_not_by_io_min():
    records = list(run(SCENES, [insert(), truth()], Everywhere(), search=distinct(n=12)))
    cases = [record.verdict for record in records if record.role == "case"]
    assert {verdict.kind for verdict in cases} == {"everywhere"}
    assert all(verdict.evidence["iomin"] == pytest.approx(1) for verdict in cases)
    nulls = [record.verdict for record in records if record.role == "null"]
    assert {verdict.status.value for verdict in nulls} == {"held"}


def test_a_random_one_is_called_unstable_and_its_floor_is_low():
    records = list(run(SCENES[:1], [squeeze()], Random(), search=distinct()))
    ends = Counter(r.verdict.kind or r.verdict.status.value for r in records if r.role == "case")
    assert ends["unstable"] > ends["held"]
    assert ends["moved"] == 0
    nulls = [record.verdict.evidence for record in records if record.role == "null"]
    floor = [evidence["iomin"] for evidence in nulls if "iomin" in evidence]
    assert sum(value < 0.5 for value in floor) >= len(floor) / 2
