"""Searches: draws, sweep, bisect and shrink, driven by hand and by a campaign."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import instar
import planted_core as planted
from instar.campaigns.shrink import format_shrunk, shrink_case
from instar.core.change import Value
from instar.core.errors import BadInput
from instar.core.schedule import MOST_REPEATS, Proposals
from instar.core.search import is_representative, stored_changes
from instar.core.system import ask

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
        (lambda: instar.draws(0), "draws: n is 0; it must be a whole number of at least 1"),
        (lambda: instar.draws(2.5), "draws: n is 2.5; it must be a whole number of at least 1"),
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
    def search(arms, rng):
        assert [arm.source.id for arm in arms] == [f"{i}.png" for i in range(5)]
        verdicts = yield [(arm, Level(20.0 * i)) for i, arm in enumerate(arms)] * 4
        told.append([v.status for v in verdicts])

    records = list(instar.run(scenes, graded, Reads(), search=search, batch=3, workers=2))
    assert told == [[HELD, HELD, VIOLATED, VIOLATED, VIOLATED] * 4]
    assert len(records) == 5  # four times the same five


def test_proposals_wait_for_what_was_yielded():
    def search():
        sent = yield [Level(0.0), Level(1.0)]
        yield [Level(float(len(sent)))]

    feed = Proposals(search())
    assert (feed.next(), feed.next(), feed.next(), feed.waits) == (Level(0.0), Level(1.0), None, True)
    feed.tell(Level(0.0), instar.Verdict.held())
    assert feed.next() is None
    feed.tell(Level(1.0), instar.Verdict.held())
    assert (feed.waits, feed.next()) == (False, Level(2.0))
    feed.tell(Level(2.0), instar.Verdict.held())
    assert (feed.next(), feed.waits) == (None, False)


@pytest.mark.parametrize("search", [instar.sweep([1.0]), instar.bisect(0, 1, within=0.5)])
def test_a_search_that_the_relation_cannot_do_is_refused_before_anything_is_asked(search):
    system = planted.Scripted(lambda inputs: pytest.fail("asked"))
    with pytest.raises(instar.InstarError, match="has no severity"):
        next(instar.run(planted.pictures(1), planted.plain, system, search=search))


# --- identical changes ------------------------------------------------------------------------------


class Tallied(Reads):
    def __init__(self):
        self.asked = []

    def predict(self, inputs):
        self.asked += [int(one.max()) for one in inputs]
        return super().predict(inputs)


def test_a_relation_without_draw_has_one_case_however_often_it_is_drawn():
    system = Tallied()
    only = replace(bare, name="only", draw=None, apply=lambda image, change: np.full_like(image, 60))
    (record,) = instar.run([SCENE], only, system, search=instar.draws(10))
    assert (record.ordinal, record.change.value, record.verdict.status) == (0, None, VIOLATED)
    assert system.asked == [0, 60, 0]  # the source again, to see whether the answer is the same
    assert len(levels(instar.draws(10), bare)) == 10  # where there is something to draw


def test_a_search_is_told_the_same_verdict_of_the_same_change_and_it_is_asked_once():
    told = []

    def stubborn(relation, source, rng):
        told.append((yield [Level(60.0), Level(10.0), Level(60.0)]))
        told.append((yield [Level(60.0)]))
        told.append((yield [Level(60.0), Level(20.0)]))

    system = Tallied()
    records = list(instar.run([SCENE], graded, system, search=stubborn))
    assert [record.change.level for record in records] == [60.0, 10.0, 20.0]
    assert [record.ordinal for record in records] == [0, 1, 2]
    assert sorted(system.asked) == [0, 0, 10, 20, 60]  # the source twice
    assert [[v.margin for v in verdicts] for verdicts in told] == [
        [-30.0, 20.0, -30.0],
        [-30.0],
        [-30.0, 10.0],
    ]
    assert told[0][0] == told[0][2] == records[0].verdict
    assert told[1][0] == replace(records[0].verdict, evidence={})  # later the bare verdict is remembered


def test_the_same_change_of_another_scene_is_another_case_and_of_the_same_scene_it_is_not():
    scenes = [instar.Scene.of(f"{i}.png", np.full_like(SCENE.image, i)) for i in range(2)]
    told = []

    @instar.across_scenes
    def search(arms, rng):
        everywhere = [(arm, Level(60.0)) for arm in arms]
        told.append((yield everywhere))
        told.append((yield everywhere))
        told.append((yield everywhere))

    system = Tallied()
    records = list(instar.run(scenes, graded, system, search=search))
    assert [(record.scene, record.change.level) for record in records] == [("0.png", 60.0), ("1.png", 60.0)]
    bare_verdicts = [[(v.status, v.margin, v.kind) for v in verdicts] for verdicts in told]
    assert bare_verdicts[0] == bare_verdicts[1] == bare_verdicts[2]
    # Both follow-ups are the same picture; at the third visit the sources are asked again just as they are.
    assert sorted(system.asked) == [0, 0, 1, 1, 60]


def test_a_reason_is_one_case_however_often_it_is_given():
    never = replace(bare, draw=lambda source, rng: instar.Inapplicable("no free place"))
    (record,) = instar.run([SCENE], never, Reads(), search=instar.draws(10))
    assert record.verdict.reason == "no free place"


def test_a_search_that_proposes_nothing_new_for_ever_ends():
    rounds = []

    def endless(relation, source, rng):
        while True:
            rounds.append(1)
            yield [Level(60.0)]

    assert levels(endless) == [60.0]
    assert len(rounds) == MOST_REPEATS + 1

    def patient(relation, source, rng):
        for _ in range(MOST_REPEATS - 1):
            yield [Level(60.0)]
        yield [Level(50.0)]

    assert levels(patient) == [60.0, 50.0]


def test_changes_that_another_run_tried_are_asked_where_they_are_fair():
    def fair(source, change):
        return instar.Inapplicable("too dark here") if change.level < 20 else None

    there = {"a.png": [Level(10.0), Level(60.0), Level(25.0)], "b.png": [Level(99.0)]}
    search = stored_changes(there, were_drawn=True)
    assert levels(search, replace(graded, fair=fair)) == ["too dark here", 60.0, 25.0]
    assert levels(search, graded) == [10.0, 60.0, 25.0]
    assert levels(stored_changes({}, were_drawn=True)) == []
    assert is_representative(search)
    assert not is_representative(stored_changes({}, were_drawn=False))


# --- severity ---------------------------------------------------------------------------------------

brightened = instar.Relation(
    "brightened",
    levels_task,
    lambda image, level: np.full_like(image, int(level)),
    severity=instar.Range(10, 50, "grey levels"),
)


def values(search, relation=brightened):
    records = list(instar.run([SCENE], relation, Reads(), search=search))
    return [record.change.value for record in records], records


def test_a_severity_is_drawn_from_its_range():
    drawn, records = values(instar.draws(200))
    assert min(drawn) >= 10
    assert max(drawn) <= 50
    assert max(drawn) - min(drawn) > 35
    assert str(records[0].change).endswith(" (grey levels)")
    down, _ = values(instar.draws(50), replace(brightened, severity=instar.Range(50, 10)))
    assert min(down) >= 10
    assert max(down) <= 50


def test_a_sweep_and_a_bisection_go_by_the_range_where_nothing_else_is_said():
    assert values(instar.sweep())[0] == [10.0, 20.0, 30.0, 40.0, 50.0]
    tried, records = values(instar.bisect())
    assert tried[:3] == [10.0, 50.0, 30.0]
    broke = min(r.change.value for r in records if r.verdict.status is VIOLATED)
    held = max(r.change.value for r in records if r.verdict.status is HELD)
    assert 0 < broke - held <= 0.4  # a hundredth of the range


def test_shrinking_finds_the_severity_at_which_it_breaks():
    def asking(queries):
        return ask(Reads(), [query.input for query in queries])

    found = shrink_case(brightened, SOURCE, Value(48.0, "grey levels"), [("level", "")], asking)
    assert found.complete
    assert 31 <= found.change.value <= 31.3  # the picture is brighter by whole levels
    assert format_shrunk(brightened, found).startswith("breaks at 31.")
    assert format_shrunk(brightened, found).endswith("(grey levels)")
    with pytest.raises(BadInput, match="does not fail any more"):
        shrink_case(brightened, SOURCE, Value(20.0), [("level", "")], asking)
    with pytest.raises(BadInput, match="neither smaller"):
        shrink_case(bare, SOURCE, Level(48.0), [("level", "")], asking)


@pytest.mark.parametrize(
    ("low", "high", "level", "least", "most"),
    [(10, 50, 40.0, 10, 39.85), (-10, -50, -40.0, -39.85, -10), (0.9, 0.5, 0.5, 0.502, 0.9),
     (-10, 10, 10.0, -10, 9.9)],
)  # fmt: skip
def test_less_severe_changes_lie_between_the_least_severity_and_the_change(low, high, level, least, most):
    weaker = [one.value for one in instar.Range(low, high).weaker(SOURCE, Value(level))]
    assert len(weaker) == 200
    assert (min(weaker), max(weaker)) == (pytest.approx(least), pytest.approx(most))
    assert abs(weaker[-1] - level) < abs(weaker[0] - level)  # the simplest first


@dataclass(frozen=True, slots=True)
class Fog(instar.Change):
    density: float
    seed: int = 7


def test_the_severity_of_a_change_is_the_number_that_it_is_made_from():
    severity = instar.Range(0, 100, at=lambda source, level: Fog(level))
    assert severity.level_of(SOURCE, Fog(7.0, 7)) == 7.0
    assert severity.level_of(SOURCE, Fog(20.0)) == 20.0
    assert severity.level_of(SOURCE, Fog(20.0, seed=8)) is None
    with pytest.raises(BadInput, match="no number of this change is its severity"):
        severity.weaker(SOURCE, Fog(20.0, seed=8))


@pytest.mark.parametrize(("low", "high"), [(1, 1), (0, float("inf")), (float("nan"), 1)])
def test_a_range_that_is_none_is_refused(low, high):
    with pytest.raises(BadInput, match="is no range; give two different numbers"):
        instar.Range(low, high)
