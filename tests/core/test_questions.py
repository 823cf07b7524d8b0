"""Questions of a scene that are known only when the system was asked something first."""

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import instar
import planted_core as planted
from instar.core.campaign import Campaign
from instar.core.errors import BadInput
from instar.core.replay import replay
from instar.core.system import ask
from instar.engines.local import run_local
from instar.store import MemoryStore

FAILED, INAPPLICABLE = instar.Status.FAILED, instar.Status.INAPPLICABLE


def with_corner(image, level):
    made = image.copy()
    made[-1, -1] = level
    return made


def ask_what_is_seen(scene):
    """First the picture with a black corner; then a question for each of three things that it shows."""
    first = yield with_corner(scene.image, 0)
    names = sorted(first["seen"])[:3]
    if len(names) < 3:
        return instar.Inapplicable("too little is seen")
    return [(name, partial(with_corner, level=10 + i)) for i, name in enumerate(names)]


asking_first = replace(planted.things, questions=ask_what_is_seen)
first = replace(planted.plain, name="first", task=asking_first)
second = replace(planted.plain, name="second", task=asking_first)


def is_first(image):
    return not image[-1, -1].any()


class Seeing:
    name = "seeing"

    def __init__(self, answer=planted.sees):
        self.asked, self._answer = [], answer

    def predict(self, inputs):
        self.asked += [planted.digest(one) for one in inputs]
        return [self._answer(one) for one in inputs]


def always_all(image):
    return {"seen": {f"thing {i}": 1.0 for i in range(4)}}


def run(system, *, n=2, queries=None, relations=(first, second), cases=1):
    store = MemoryStore()
    campaign = Campaign(
        scenes=planted.pictures(n),
        relations=[(one, instar.draws(cases)) for one in relations],
        system=system,
        limits=instar.Limits(queries=queries),
    )
    return list(run_local(campaign, store)), store.totals


def test_the_first_question_is_asked_and_counted_once_for_all_relations():
    system = Seeing(always_all)
    records, totals = run(system)
    assert Counter(record.source for record in records) == {
        f"000{i}.png#thing {k}": 2 for i in range(2) for k in range(3)
    }
    judged = [record for record in records if record.verdict.status is not INAPPLICABLE]
    # For each scene the first question and three sources, all but the first twice; for each case one.
    assert totals.queries == 2 * (1 + 3 + 3) + len(judged)
    assert len(system.asked) == totals.asked <= totals.queries
    assert max(Counter(system.asked).values()) == 2


@pytest.mark.parametrize("queries", [1, 2, 3, 4, 5, 9, 14])
def test_first_questions_are_paid_from_the_budget(queries):
    system = Seeing(always_all)
    _, totals = run(system, queries=queries, cases=9)
    assert totals.queries <= queries
    assert len(system.asked) <= queries
    assert totals.finished


def test_a_failure_of_the_first_question_is_one_failed_case_for_each_relation():
    def fails_first(image):
        if is_first(image):
            raise RuntimeError("no device")
        return planted.sees(image)

    records, totals = run(Seeing(fails_first), cases=5)
    assert [(r.relation, r.source, r.verdict.status, r.verdict.reason) for r in records] == [
        (relation, f"000{i}.png", FAILED, "RuntimeError: no device")
        for i in range(2)
        for relation in ("first", "second")
    ]
    assert totals.queries == 2
    assert len({record.case for record in records}) == 4


def test_a_scene_that_turns_out_to_be_no_question_is_one_inapplicable_case_for_each_relation():
    records, totals = run(Seeing(lambda image: {"seen": {"thing 1": 1.0}}), cases=5)
    assert Counter((r.relation, r.verdict.status, r.verdict.reason) for r in records) == {
        ("first", INAPPLICABLE, "too little is seen"): 2,
        ("second", INAPPLICABLE, "too little is seen"): 2,
    }
    assert totals.queries == 2


def asking(system):
    return lambda queries: ask(system, [query.input for query in queries])


@pytest.mark.parametrize("answer", [planted.sees, always_all, lambda image: {"seen": {}}])
def test_a_replay_finds_the_same_question_again(answer):
    scenes = {scene.id: scene for scene in planted.pictures(4)}
    system = Seeing(answer)
    records, _ = run(system, n=4, cases=3)
    assert records
    for record in records:
        outcome = replay(record, scenes[record.scene], first, asking(system), known_as=None)
        assert outcome.same
        if record.change is not None:
            part = int(record.source[-1])
            assert outcome.source.input[-1, -1, 0] in (10, 11, 12)
            assert outcome.source.id.endswith(f"thing {part}")


def test_a_question_that_the_system_makes_no_more_is_refused_in_a_replay():
    records, _ = run(Seeing(always_all))
    other = Seeing(lambda image: {"seen": {f"other {i}": 1.0 for i in range(4)}})
    scene = planted.pictures(2)[0]
    with pytest.raises(BadInput, match=r"0000\.png#thing 0 is no question any more"):
        replay(records[0], scene, first, asking(other), known_as=None)


def test_tasks_that_ask_the_same_question_in_their_own_ways_ask_it_once():
    def the_picture(scene):
        return [("", np.copy)]
        yield

    alike = replace(planted.plain, name="alike", task=replace(planted.things, questions=the_picture))
    _, totals = run(Seeing(always_all), n=1, relations=(planted.plain, alike), cases=1)
    _, alone = run(Seeing(always_all), n=1, relations=(planted.plain,), cases=1)
    assert totals.queries == alone.queries + 1  # only the case of the other


def test_results_do_not_depend_on_workers_or_batches():
    def all_rows(**how):
        return planted.rows(
            instar.run(planted.pictures(6), [first, second, planted.checked], planted.Hashed(),
                       search=instar.draws(3), limits=instar.Limits(queries=120), **how)
        )  # fmt: skip

    reference = all_rows()
    assert all_rows(workers=3, batch=7) == reference
