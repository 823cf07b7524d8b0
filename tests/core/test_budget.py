"""A budget is kept to the question, reaches every scene it can, and pays for checks first."""

import threading
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import instar
import planted_core as planted
from instar.core.budget import Budget, Request, share_out
from instar.core.campaign import Campaign
from instar.engines.local import run_local
from instar.store import MemoryStore

HELD, VIOLATED = instar.Status.HELD, instar.Status.VIOLATED
always_right = planted.Scripted(lambda image: {"seen": {}})


def run(relations, system, search, *, n=8, queries=None, store=None, **how):
    """Store, totals and records of a campaign in memory."""
    store = store or MemoryStore()
    campaign = Campaign(
        scenes=planted.pictures(n),
        relations=[(relation, search) for relation in relations],
        system=system,
        limits=instar.Limits(queries=queries),
    )
    records = list(run_local(campaign, store, **how))
    return store, store.totals, records


class Tallied(planted.Hashed):
    def __init__(self, **settings):
        super().__init__(**settings)
        self.asked = []

    def predict(self, inputs):
        self.asked += [planted.digest(one) for one in inputs]
        return super().predict(inputs)


@pytest.mark.parametrize("search", [planted.walk(4), planted.roam(8)], ids=["per scene", "across"])
@pytest.mark.parametrize("relations", [[planted.checked_double], [planted.checked, planted.double]])
def test_no_budget_is_ever_exceeded_and_every_question_is_counted(relations, search):
    for queries in [*range(1, 30), *range(30, 200, 17)]:
        system = Tallied()
        _, totals, records = run(relations, system, search, queries=queries)
        assert totals.queries <= queries
        assert totals.asked == len(system.asked) <= totals.queries
        assert sum(record.queries for record in records) + totals.scenes + totals.repeats == totals.queries
        assert totals.finished


def test_a_large_budget_makes_no_picture_twice():
    made = []

    def apply(image, change):
        made.append(change)
        return planted.apply_dot(image, change)

    counted = replace(planted.checked, apply=apply)
    counts = []
    for queries in (None, 400):
        made.clear()
        run([counted], always_right, instar.draws(20), n=4, queries=queries)
        counts.append(len(made))
    assert counts[0] == counts[1] > 40


def test_the_next_question_is_asked_while_an_answer_is_being_kept():
    asked = threading.Semaphore(0)
    waited = []

    class System(planted.Hashed):
        def predict(self, inputs):
            asked.release()
            return super().predict(inputs)

    class Slow(MemoryStore):
        def keep_answers(self, replies):
            if not waited:  # the first answer is kept only when two questions have been asked
                waited.append(asked.acquire(timeout=300) and asked.acquire(timeout=300))
            return super().keep_answers(replies)

    run([planted.checked], System(), instar.draws(5), store=Slow())
    assert waited == [True]


def test_without_a_budget_queries_are_the_sources_and_what_each_case_needed():
    _, totals, records = run([planted.checked], planted.Hashed(), instar.draws(5))
    assert totals.queries == 8 + sum(record.queries for record in records) + totals.repeats


def test_questions_that_are_known_are_queries_but_not_asked():
    store, first, records = run([planted.checked], planted.Hashed(), instar.draws(5), queries=70)
    _, second, again = run([planted.checked], planted.Hashed(), instar.draws(5), queries=70, store=store)
    assert (second.queries, second.asked) == (first.queries, 0)
    assert planted.rows(again) == planted.rows(records)
    _, third, _ = run([planted.checked], planted.Hashed(), instar.draws(5), queries=90, store=store)
    assert 0 < third.asked < third.queries


@pytest.mark.parametrize("n", [1, 2, 7, 32, 65])
def test_two_questions_per_scene_reach_every_scene(n):
    for queries in (2 * n, 2 * n + 1, 3 * n):
        _, totals, records = run([planted.plain], always_right, instar.draws(20), n=n, queries=queries)
        assert totals.scenes == n
        assert {record.scene for record in records} == {scene.id for scene in planted.pictures(n)}


def test_too_small_a_budget_is_spent_on_whole_cases_of_as_many_scenes_as_it_can_pay():
    _, _, records = run([constant], always_right, instar.draws(20), n=40, queries=20)
    assert Counter(record.scene for record in records) == {f"{i:04d}.png": 1 for i in range(10)}


def draw_anywhere(source, rng):
    return planted.Dot(*(int(v) for v in rng.integers(1, (12, 12, 200))))


constant = instar.Relation("constant", planted.things, planted.apply_dot, draw=draw_anywhere)


def test_shares_are_equal():
    _, totals, records = run([constant], always_right, instar.draws(1000), n=10, queries=200)
    per_scene = Counter(record.scene for record in records)
    assert totals.queries == 200
    assert max(per_scene.values()) - min(per_scene.values()) <= 2


def test_what_ended_searches_leave_is_shared_among_those_that_want_more():
    def uneven(relation, source, rng):
        yield [relation.drawn(source, rng) for _ in range(50 if source.id in ("0003.png", "0006.png") else 1)]

    _, totals, records = run([constant], always_right, uneven, n=8, queries=60)
    per_scene = Counter(record.scene for record in records)
    assert totals.queries == 60
    assert [per_scene[f"{i:04d}.png"] for i in (0, 1, 2, 4, 5, 7)] == [1] * 6
    assert per_scene["0003.png"] + per_scene["0006.png"] == 60 - 8 - 6 - totals.repeats
    assert abs(per_scene["0003.png"] - per_scene["0006.png"]) <= 2


def test_relations_of_a_scene_take_turns():
    names = [replace(constant, name=name) for name in "abc"]
    _, _, records = run(names, always_right, instar.draws(50), n=1, queries=1 + 10)
    assert Counter(record.relation for record in records) == {"a": 4, "b": 3, "c": 3}


def test_an_unreadable_scene_leaves_its_share_to_the_others():
    scenes = planted.pictures(3)

    def refuse():
        raise instar.core.errors.UnreadablePicture("it is no picture")

    scenes[1] = instar.Scene("broken.png", refuse)
    store = MemoryStore()
    campaign = Campaign(
        scenes=scenes, relations=[(constant, instar.draws(50))], system=always_right,
        limits=instar.Limits(queries=40),
    )  # fmt: skip
    records = list(run_local(campaign, store))
    assert store.totals.queries == 40
    assert {record.scene for record in records} == {"0000.png", "0002.png"}
    assert [(s.scene, s.reason) for s in store.totals.skipped] == [("broken.png", "it is no picture")]
    assert store.totals.scenes == 2


def sees_it_without_dots(image):
    return {"seen": {} if (np.ptp(image, axis=2) == 0).any() else {"it": 1.0}}


shy = planted.Scripted(sees_it_without_dots)
fragile = replace(constant, name="fragile", task=planted.checked_things)


def test_a_finding_is_confirmed_before_anything_else_is_tried():
    # source 1, case 1, two striking nulls, two repetitions: six questions make one believed finding
    _, totals, records = run([fragile], shy, instar.draws(50), n=1, queries=6)
    (record,) = records
    assert (record.verdict.status, record.queries, totals.queries) == (VIOLATED, 5, 6)


@pytest.mark.parametrize("queries", [2, 3, 4, 5])
def test_a_finding_whose_checks_cannot_be_paid_is_unconfirmed(queries):
    _, totals, records = run([fragile], shy, instar.draws(50), n=1, queries=queries)
    (record,) = records
    assert record.verdict.status is instar.Status.INAPPLICABLE
    assert record.verdict.kind == "unconfirmed"
    assert record.verdict.reason == "the budget ended before it was confirmed"
    assert record.verdict.evidence["struck"] == [
        {"kind": "lost", "subject": "it", "margin": -1.0, "by": "unconfirmed"}
    ]
    assert totals.queries <= queries


def test_findings_of_all_scenes_are_confirmed_before_new_cases_are_begun():
    # Four scenes, one finding each: 4 x 6 questions. No scene may spend them on a second case.
    _, _, records = run([fragile], shy, instar.draws(50), n=4, queries=24)
    assert Counter(r.verdict.status for r in records if r.role == "case")[VIOLATED] >= 3


@pytest.mark.parametrize("with_source", [False, True])
@pytest.mark.parametrize("apply", [planted.apply_dot, planted.apply_two_dots])
def test_checks_that_need_more_questions_than_the_case_are_never_skipped(apply, with_source):
    task = replace(planted.things, nulls=replace(planted.nulls, with_source=with_source))
    relation = replace(constant, name="wide", task=task, apply=apply)
    width = 1 if apply is planted.apply_dot else 2
    whole = width + 2 + 2 * (width + with_source)
    for queries in range(2, 30):
        _, totals, records = run([relation], shy, instar.draws(9), n=1, queries=queries)
        assert totals.queries <= queries
        cases = [record for record in records if record.role == "case"]
        for record in cases[:1]:
            if queries >= 1 + whole:
                assert (record.verdict.status, record.queries) == (VIOLATED, whole)
            else:
                assert record.verdict.kind == "unconfirmed"
        assert all(record.queries == whole - 2 for record in cases[1:] if record.verdict.status is VIOLATED)


def test_a_search_across_scenes_has_its_rounds_even_with_fewer_questions_than_scenes():
    _, totals, records = run([constant], always_right, planted.roam(99), n=50, queries=20)
    assert (totals.scenes, totals.queries) == (10, 20)
    assert len(records) == 10


def test_a_search_across_scenes_sees_every_question_that_a_scene_makes():
    def three(scene):
        return [(str(i), lambda image, i=i: image ^ np.uint8(i)) for i in range(3)]
        yield

    relation = replace(constant, name="three", task=replace(planted.things, questions=three))
    seen = []

    @instar.across_scenes
    def look(arms, rng):
        seen.extend(arm.source.id for arm in arms)
        yield [(arms[0], arms[0].relation.drawn(arms[0].source, rng))]

    run([relation], always_right, look, n=4, queries=30)
    assert seen == [f"{i:04d}.png#{part}" for i in range(4) for part in range(3)]


def test_two_searches_across_scenes_each_have_their_part():
    a, b = (replace(constant, name=name) for name in "ab")
    campaign = Campaign(
        scenes=planted.pictures(4), relations=[(one, planted.roam(999)) for one in (a, b)],
        system=always_right, limits=instar.Limits(queries=52),
    )  # fmt: skip
    store = MemoryStore()
    records = list(run_local(campaign, store))
    # Of the questions that the sources leave half each, and some of them for sources asked again as they are.
    cases = Counter(record.relation for record in records)
    assert cases["a"] == cases["b"] == 21
    assert store.totals.queries == 52 == 4 + cases.total() + store.totals.repeats


def test_relations_with_the_same_search_across_scenes_are_searched_together():
    a, b = (replace(constant, name=name) for name in "ab")
    arms_seen = []

    @instar.across_scenes
    def look(arms, rng):
        arms_seen.extend((arm.relation.name, arm.source.id) for arm in arms)
        yield [(arm, arm.relation.drawn(arm.source, rng)) for arm in arms]

    _, totals, records = run([a, b], always_right, look, n=3)
    assert arms_seen == [(name, f"{i:04d}.png") for i in range(3) for name in "ab"]
    assert (len(records), totals.queries) == (6, 9)


def test_a_budget_is_divided_between_searches_per_scene_and_across():
    store = MemoryStore()
    other = replace(constant, name="other")
    campaign = Campaign(
        scenes=planted.pictures(4), relations=[(constant, instar.draws(999)), (other, planted.roam(999))],
        system=always_right, limits=instar.Limits(queries=40),
    )  # fmt: skip
    records = list(run_local(campaign, store))
    assert Counter(record.relation for record in records) == {"constant": 16, "other": 15}
    assert (store.totals.queries, store.totals.repeats) == (40, 1)
    assert store.totals.asked == 36  # the sources are the same questions


@given(
    left=st.integers(0, 300),
    requests=st.lists(
        st.builds(Request, st.integers(1, 20), urgent=st.booleans(), had=st.integers(0, 9)), max_size=30
    ),
)
def test_no_more_is_shared_out_than_there_is(left, requests):
    grants = share_out(left, requests)
    assert len(grants) == len(requests)
    assert 0 <= sum(grants) <= left
    assert all(grant in (0, request.amount) for grant, request in zip(grants, requests) if request.urgent)
    if left and requests and not any(request.urgent for request in requests):
        assert any(grants)


def test_a_budget_pays_only_what_it_holds():
    budget = Budget(3)
    budget.pay(2)
    assert (budget.left, budget.spent, budget.lacks(2)) == (1, 2, 1)
    assert budget.request(5, urgent=True) == Request(4, urgent=True, had=3, held=1)
    with pytest.raises(ValueError, match="a budget of 1 cannot pay 2"):
        budget.pay(2)
    assert Budget(None).lacks(10**9) == 0
