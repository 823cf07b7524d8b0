"""Searches: draws, sweep, bisect and shrink, driven by hand and by a campaign."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import instar
import planted_core as planted
from instar.core.errors import BadInput
from instar.core.schedule import Proposals

HELD, VIOLATED, INAPPLICABLE, FAILED = instar.Status


@dataclass(frozen=True)
class Level(instar.Change):
    level: float


def at_or_not(source, level):
    return instar.Inapplicable("too much") if level > 100 else Level(level)


def smaller(source, change):
    return [Level(level) for level in (change.level // 2, change.level - 1) if 0 <= level < change.level]


def compare_levels(before, after):
    return instar.Verdict.at_most(after.answer, 30.0, "level")


levels_task = instar.Task("levels", planted.read_things, compare_levels, planted.picture_of)
bare = instar.Relation(
    "bare",
    levels_task,
    lambda image, change: np.full_like(image, int(change.level)),
    draw=lambda source, rng: Level(float(rng.integers(0, 100_000) / 1000)),
)
graded = replace(bare, name="graded", severity=instar.Range(0, 100, at=at_or_not), smaller=smaller)


class Reads:
    name = "reads"

    def predict(self, inputs):
        return [float(one.max()) for one in inputs]


SCENE = instar.Scene.of("a.png", np.zeros((2, 2, 3), np.uint8))
SOURCE = instar.Observation.of(SCENE.image, 0.0, SCENE)


def levels(search, relation=graded):
    records = instar.run([SCENE], relation, Reads(), search=search)
    return [record.change.level if record.change else record.verdict.reason for record in records]


def test_draws_are_as_many_as_asked_for():
    assert len(levels(instar.draws(7))) == 7
    assert len(levels(instar.draws())) == 10


def test_a_sweep_tries_every_level_in_order():
    assert levels(instar.sweep([5, 50, 500, 20])) == [5.0, 50.0, "too much", 20.0]


def test_a_bisection_closes_in_on_the_first_level_that_breaks():
    tried = levels(instar.bisect(0, 64, within=1))
    assert tried == [0.0, 64.0, 32.0, 16.0, 24.0, 28.0, 30.0, 31.0]


@pytest.mark.parametrize(("holds", "breaks"), [(0, 20), (40, 80), (0, 500)])
def test_a_bisection_ends_at_once_when_its_ends_are_not_as_they_should_be(holds, breaks):
    assert len(levels(instar.bisect(holds, breaks, within=1))) == 2


def test_shrinking_ends_at_the_smallest_change_that_still_fails():
    records = list(instar.run([SCENE], graded, Reads(), search=instar.shrink(Level(90.0))))
    failing = [record.change.level for record in records if record.verdict.status is VIOLATED]
    assert failing[-1] == min(failing) == 31.0


def test_shrinking_goes_through_candidates_a_few_at_a_time():
    search = instar.shrink(Level(90.0), at_once=1)(graded, SOURCE, np.random.default_rng(0))
    assert next(search) == [Level(45.0)]
    assert search.send([instar.Verdict.held()]) == [Level(89.0)]
    with pytest.raises(StopIteration):
        search.send([instar.Verdict.held()])


@pytest.mark.parametrize(
    ("search", "text"),
    [
        (instar.sweep([1.0]), "relation 'bare' has no severity: it cannot be swept or bisected"),
        (instar.bisect(0, 1, within=0.1), "relation 'bare' has no severity: it cannot be swept or bisected"),
        (instar.shrink(Level(1.0)), "relation 'bare' cannot shrink: it has neither smaller() nor a severity"),
    ],
)
def test_a_relation_that_cannot_be_searched_like_that_is_refused_by_name(search, text):
    with pytest.raises(BadInput) as refused:
        levels(search, bare)
    assert str(refused.value) == text


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: instar.draws(0), "draws: n is 0; it must be at least 1"),
        (lambda: instar.sweep([]), "sweep: levels is empty; give at least one number"),
        (lambda: instar.sweep("abc"), "sweep: levels is 'abc'; give a list of numbers"),
        (lambda: instar.sweep(5), "sweep: levels is 5; give a list of numbers"),
        (lambda: instar.bisect("a", 1, within=1), "bisect: holds is 'a'; it must be a number"),
        (lambda: instar.bisect(0, 1, within=0), "bisect: within is 0; it must be above 0"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(make, text):
    with pytest.raises(BadInput) as refused:
        make()
    assert str(refused.value) == text


def test_a_search_is_sent_the_verdicts_of_what_it_yielded_in_that_order():
    seen = []

    def curious(relation, source, rng):
        seen.append((yield [Level(10.0), instar.Inapplicable("not now"), Level(90.0)]))
        seen.append((yield []))
        seen.append((yield [Level(20.0)]))

    assert levels(curious) == [10.0, "not now", 90.0, 20.0]
    assert [[v.status for v in verdicts] for verdicts in seen] == [[HELD, INAPPLICABLE, VIOLATED], [], [HELD]]
    assert [v.margin for v in seen[0]] == [20.0, 0.0, -60.0]


def test_a_search_across_scenes_learns_nothing_before_its_round_ends():
    scenes = [instar.Scene.of(f"{i}.png", SCENE.image) for i in range(5)]
    told = []

    @instar.across_scenes
    def search(relation, sources, rng):
        assert [source.id for source in sources] == [f"{i}.png" for i in range(5)]
        verdicts = yield [(source, Level(20.0 * i)) for i, source in enumerate(sources)] * 4
        told.append([v.status for v in verdicts])

    records = list(instar.run(scenes, graded, Reads(), search=search, batch=3, workers=2))
    assert told == [[HELD, HELD, VIOLATED, VIOLATED, VIOLATED] * 4]
    assert len(records) == 5  # four times the same five


def test_proposals_wait_for_what_was_yielded():
    def search():
        sent = yield ["a", "b"]
        yield [len(sent)]

    feed = Proposals(search(), str)
    assert (feed.next(), feed.next(), feed.next(), feed.waits) == ("a", "b", None, True)
    feed.tell("a", instar.Verdict.held())
    assert feed.next() is None
    feed.tell("b", instar.Verdict.held())
    assert (feed.waits, feed.next()) == (False, 2)
    feed.tell(2, instar.Verdict.held())
    assert (feed.next(), feed.waits) == (None, False)


@pytest.mark.parametrize("search", [instar.sweep([1.0]), instar.bisect(0, 1, within=0.5)])
def test_a_search_that_the_relation_cannot_do_is_refused_before_anything_is_asked(search):
    system = planted.Scripted(lambda inputs: pytest.fail("asked"))
    with pytest.raises(instar.InstarError, match="has no severity"):
        next(instar.run(planted.pictures(1), planted.plain, system, search=search))
