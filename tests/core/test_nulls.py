"""Null changes belong to the source: asked and counted once, and each task compares them by itself."""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pytest

import instar
import planted_core as planted
from instar.core.campaign import Campaign
from instar.core.follow_up import FollowUp, observe, under_null
from instar.core.system import Reply
from instar.engines.local import run_local
from instar.imaging.nulls import Brighten
from instar.store import MemoryStore

VIOLATED, INAPPLICABLE = instar.Status.VIOLATED, instar.Status.INAPPLICABLE


def run(pairs, system, *, n=1, queries=None):
    store = MemoryStore()
    campaign = Campaign(
        scenes=planted.pictures(n), relations=pairs, system=system, limits=instar.Limits(queries=queries)
    )
    return list(run_local(campaign, store)), store.totals


def nulls_of(records):
    return [record for record in records if record.role == "null"]


def sees_it_without_dots(image):
    return {"seen": {} if (np.ptp(image, axis=2) == 0).any() else {"it": 1.0}}


shy = planted.Scripted(sees_it_without_dots)
dotted = replace(
    planted.checked,
    name="dotted",
    placebo=None,
    draw=lambda source, rng: planted.Dot(*(int(v) for v in rng.integers(1, (12, 12, 200)))),
)


def test_null_changes_are_asked_and_counted_once_for_two_relations_on_the_same_source():
    both = [(dotted, instar.draws(5)), (replace(dotted, name="other"), instar.draws(5))]
    records, totals = run(both, shy)
    (null,) = nulls_of(records)
    assert (null.relation, null.source, null.ordinal, null.queries) == ("", "0000.png", -1, 1)
    cases = [record for record in records if record.role == "case"]
    assert [record.verdict.status for record in cases] == [VIOLATED] * 10
    # The source twice, ten cases with two repetitions each, two strikers, the null change that is counted.
    assert totals.queries == 2 + 10 * 3 + 2 + 1
    assert sorted(record.queries for record in cases) == [3] * 9 + [5]


def test_tasks_with_other_null_changes_each_ask_their_own():
    other = replace(
        planted.nulls, fresh=lambda s, rng: planted.Twist(7), strikers=lambda s: [planted.Twist(8)]
    )
    task = replace(planted.things, nulls=other)
    records, totals = run(
        [(dotted, instar.draws(10)), (replace(dotted, name="other", task=task), instar.draws(10))], shy
    )
    assert len(nulls_of(records)) == 2
    assert totals.queries == 2 + 20 * 3 + (2 + 1) + (1 + 1)


@pytest.mark.parametrize("beside", ["before", "after"])
def test_a_task_without_null_changes_leaves_those_of_its_neighbour_alone(beside):
    pairs = [(dotted, instar.draws(10)), (replace(planted.plain, draw=dotted.draw), instar.draws(2))]
    records, totals = run(pairs if beside == "after" else pairs[::-1], shy)
    assert len(nulls_of(records)) == 1
    assert {record.verdict.status for record in records if record.role == "case"} == {VIOLATED}
    assert totals.queries == 2 + 10 * 3 + 2 * 1 + 2 + 1


@instar.across_scenes
def five_everywhere(arms, rng):
    yield [(arm, arm.relation.drawn(arm.source, rng)) for arm in arms for _ in range(5)]


FIVE = instar.draws(5)


@pytest.mark.parametrize(
    "searches", [(FIVE, FIVE), (five_everywhere, five_everywhere), (FIVE, five_everywhere)]
)
def test_ten_cases_of_a_source_have_one_null_change_however_they_are_searched(searches):
    pairs = [(replace(dotted, name=name), search) for name, search in zip("ab", searches)]
    records, totals = run(pairs, shy, n=3)
    assert Counter(record.source for record in nulls_of(records)) == {f"000{i}.png": 1 for i in range(3)}
    assert Counter(record.case for record in records).most_common(1)[0][1] == 1
    looked_at_twice = 3 if len(set(searches)) == 2 else 0
    asked_again = 3 if FIVE in searches else 0
    assert totals.repeats == asked_again
    assert totals.queries == 3 * (1 + 10 * 3 + 2 + 1) + looked_at_twice + asked_again


# --- each task compares by itself -------------------------------------------------------------------


@dataclass(frozen=True)
class Shown(instar.Null):
    level: int

    def apply(self, picture):
        return np.full_like(picture, self.level)


LEVELS = instar.Nulls(lambda source, rng: Shown(1), lambda source: [Shown(2)], conditions=())


def noticing(names):
    """A task to which only these things matter."""

    def compare(before, after):
        lost = [
            instar.Finding("lost", one, -1.0)
            for one in names
            if one in before.answer and one not in after.answer
        ]
        return instar.Verdict.violated(lost) if lost else instar.Verdict.held(1.0)

    return instar.Task("levels", planted.read_things, compare, planted.picture_of, nulls=LEVELS)


@pytest.mark.parametrize(
    ("under_null", "strict", "lenient"),
    [("a c", ["c"], ["c"]), ("a b", ["b"], []), ("a b c", ["b", "c"], ["c"]), ("a", [], [])],
)
def test_each_relation_is_struck_by_its_own_comparison(under_null, strict, lenient):
    seen = {100: "a", 2: under_null}
    system = planted.Scripted(lambda image: seen.get(int(image[0, 0, 0]), "a b c").split())
    scene = instar.Scene.of("a.png", np.zeros((4, 4, 3), np.uint8))
    relations = [
        instar.Relation(name, noticing(things), lambda image, _: np.full_like(image, 100))
        for name, things in (("strict", "abc"), ("lenient", "c"))
    ]
    records = {record.relation: record for record in instar.run([scene], relations, system)}
    for name, left in (("strict", strict), ("lenient", lenient)):
        verdict = records[name].verdict
        assert [finding.subject for finding in verdict.findings] == left
        assert verdict.status is (VIOLATED if left else INAPPLICABLE)


# --- the source under a condition -------------------------------------------------------------------


def compare_grey(before, after):
    return instar.Verdict.at_most(abs(after.answer - before.answer), 5.0, "grey")


def grey_task(*, with_source):
    nulls = instar.Nulls(
        lambda source, rng: Brighten(1),
        lambda source: [],
        conditions=(Brighten(-10),),
        with_source=with_source,
    )
    return instar.Task("grey", planted.read_things, compare_grey, planted.picture_of, nulls=nulls)


def brighter(image, _):
    return image + np.uint8(10)


@pytest.mark.parametrize(("with_source", "status"), [(True, VIOLATED), (False, INAPPLICABLE)])
def test_where_amounts_are_compared_the_source_under_the_condition_counts(with_source, status):
    scene = instar.Scene.of("a.png", np.full((4, 4, 3), 100, np.uint8))
    system = planted.Scripted(lambda image: float(image.mean()))
    relation = instar.Relation("brighter", grey_task(with_source=with_source), brighter)
    record = next(r for r in instar.run([scene], relation, system) if r.role == "case")
    assert (record.verdict.status, record.queries) == (status, 2 + with_source)


@pytest.mark.parametrize(("with_source", "before"), [(True, [100.0, 90.0]), (False, [100.0, 100.0])])
def test_an_expectation_sees_the_source_as_it_is_under_the_condition(with_source, before):
    seen = []

    def expect(source, follow_ups, change):
        seen.append(source.answer)
        return instar.Verdict.at_most(follow_ups[0].answer - source.answer, -100.0, "grey")

    scene = instar.Scene.of("a.png", np.full((4, 4, 3), 100, np.uint8))
    system = planted.Scripted(lambda image: float(image.mean()))
    relation = instar.Relation("brighter", grey_task(with_source=with_source), brighter, expect=expect)
    record = next(r for r in instar.run([scene], relation, system) if r.role == "case")
    assert (record.verdict.status, seen) == (VIOLATED, before)


def test_the_source_stands_before_its_follow_ups_under_a_condition():
    image = np.full((4, 4, 3), 100, np.uint8)
    task = grey_task(with_source=True)
    made = under_null(task, Brighten(-10), [FollowUp(image + np.uint8(10))], image)
    assert [int(one.input.mean()) for one in made] == [90, 100]
    source = instar.Observation.of(image, 100.0)
    seen = observe(task, source, made, [Reply(90.0), Reply(101.0)], with_source=True)
    assert (seen.source.answer, seen.befores, [one.answer for one in seen.follow_ups]) == (
        90.0,
        [90.0],
        [101.0],
    )
