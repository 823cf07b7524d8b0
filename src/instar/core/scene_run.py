"""What happens to one scene: ask it as it is, then let its relations take turns.

A scene's run is sequential and knows nothing of threads, batches or stores. Cases are taken strictly in turn
(first case of every relation, then the source's null change, then the second case, ...); several are judged
at once only when the budget can pay for the worst of all of them, so that how many are judged at once changes
nothing but the speed.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np

from instar.core.budget import Budget
from instar.core.case import CASES_PER_NULL, Ask, Case, RelationState, SourceState, Steps
from instar.core.change import plain
from instar.core.confirmation import afford, ask_again, decide
from instar.core.digest import digest
from instar.core.errors import SceneChanged, UnreadablePicture
from instar.core.follow_up import FollowUp, Query, observe, questions_of
from instar.core.picture_cache import PictureCache
from instar.core.record import Empty, KeptPanels, KeptPixels, Record, Repeat, Skipped, Source, case_id
from instar.core.referees import Referee
from instar.core.relation import Relation
from instar.core.scene import Image, Observation, Scene
from instar.core.schedule import Proposals, TurnSchedule, key_of
from instar.core.system import Reply
from instar.core.task import Question
from instar.core.verdict import Verdict

AnySearch: TypeAlias = Any  # a Search or a SearchAcross; `is_across_scenes` tells which
Pair: TypeAlias = tuple[Relation, AnySearch]
SourceStates: TypeAlias = dict[tuple[str, str, tuple[bytes, ...]], SourceState]
"""By task, source and the null changes that hold there."""

LEAST_SPENT = 10  # questions of a scene before some are spent on asking it again
ASKED_AGAIN = 10  # the first so many scenes, and after them every tenth, are asked once more
AT_ONCE = 8  # cases of one scene judged together; a constant, because it decides who waits for budget

Note: TypeAlias = Record | Repeat | Skipped | Source | Empty | KeptPixels | KeptPanels
"""What a scene's run reports as it goes."""


@dataclass(frozen=True, eq=False)
class RunSettings:
    """What the runs of all scenes of a campaign share.

    `sources` keeps what is known about sources that are searched both per scene and across scenes.
    """

    system: str
    relations: Sequence[Pair]
    seed: int
    pictures: PictureCache = field(default_factory=lambda: PictureCache(32))
    sources: SourceStates | None = None
    referees: Sequence[Referee] = ()
    at_once: int = AT_ONCE  # more only where there is no budget to wait for


class Schedule(Protocol):
    """Which case of a scene is next."""

    def next(self) -> Case | None:
        """None when there is none left, or when the next one depends on verdicts that are still to come."""

    def tell(self, case: Case) -> None: ...


@dataclass(eq=False)
class SceneRun:
    """What a scene's run may spend, and the notes it has made since the last look."""

    budget: Budget
    order: int = 0  # of the scene among all
    notes: deque[Note] = field(default_factory=deque)


def random_for(seed: int, relation: str, source: str, purpose: str = "search") -> np.random.Generator:
    """The random numbers of one relation on one source, whatever else is going on."""
    text = "\0".join([str(seed), relation, source, purpose])
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big"))


def run_scene(settings: RunSettings, scene: Scene, run: SceneRun) -> Steps[None]:
    """Everything that happens to one scene."""
    opened = yield from observe_scene(settings, scene, run)
    proposals = []
    for state, search in opened:
        rng = random_for(settings.seed, state.relation.name, state.source.id)
        proposals.append((state, Proposals(search(state.relation, state.source, rng))))
    # Each scene begins with another relation: a small budget must not end before the last ones had a turn.
    first = run.order % max(1, len(settings.relations))
    proposals = [*proposals[first:], *proposals[:first]]
    yield from decide_all(settings, run, TurnSchedule(proposals), sample([s for s, _ in opened], run))


def sample(states: Sequence[RelationState], run: SceneRun) -> list[RelationState]:
    """One state for each source of a scene that is to be asked again just as it is; of most scenes none."""
    is_sampled = run.order < ASKED_AGAIN or run.order % ASKED_AGAIN == 0
    return list({state.source.id: state for state in states}.values()) if is_sampled else []


def observe_scene(
    settings: RunSettings, scene: Scene, run: SceneRun
) -> Steps[list[tuple[RelationState, AnySearch]]]:
    """Ask the scene as it is: once for every question that the tasks of the relations ask of it."""
    by_questions: dict[Any, list[Pair]] = {}
    for relation, search in settings.relations:
        task = relation.resolved_task
        by_questions.setdefault((task.name, task.questions), []).append((relation, search))
    states: list[tuple[RelationState, AnySearch]] = []
    replies: dict[str, Reply] = {}  # by content: no question is asked twice, whoever asks it
    sources: SourceStates = {} if settings.sources is None else settings.sources
    for pairs in by_questions.values():
        if not (yield from afford(run.budget, 1)):
            return states
        try:
            settings.pictures.get(scene.id, scene.read)
            questions = yield from _questions(settings, scene, run, pairs[0][0], replies)
        except UnreadablePicture as unreadable:
            run.notes.append(Skipped(scene.id, str(unreadable)))
            return []
        if isinstance(questions, Verdict):
            nothing = Observation(scene, None, scene.read)
            run.notes += [_only_case(settings, nothing, relation, questions) for relation, _ in pairs]
            continue
        if questions is None:
            return states
        for part, build in questions:
            asked = yield from _ask_source(settings, scene, run, part, build, replies)
            if asked is None:
                return states
            states += _open_states(settings, run, pairs, *asked, sources)
    return states


def _questions(
    settings: RunSettings, scene: Scene, run: SceneRun, relation: Relation, replies: dict[str, Reply]
) -> Steps[Sequence[Question] | Verdict | None]:
    """What the scene is asked; the verdict on it where it cannot be asked; None when the budget ended."""
    known = replace(scene, read=partial(settings.pictures.get, scene.id, scene.read))
    asking = questions_of(relation.resolved_task, known)
    reply: Reply | None = None
    while True:
        try:
            query = asking.send(reply)
        except StopIteration as end:
            questions: Sequence[Question] | Verdict = end.value
            return questions
        if query.digest not in replies:
            if not (yield from afford(run.budget, 1)):
                return None
            run.budget.pay(1)
            (replies[query.digest],) = yield Ask([query])
        reply = replies[query.digest]


def _ask_source(
    settings: RunSettings,
    scene: Scene,
    run: SceneRun,
    part: str,
    build: Callable[[Image], Any],
    replies: dict[str, Reply],
) -> Steps[tuple[Observation, Reply] | None]:
    def make() -> Any:
        try:
            return build(settings.pictures.get(scene.id, scene.read))
        except UnreadablePicture as gone:
            raise SceneChanged(f"{scene.id} could be read before and now cannot: {gone}") from gone

    source = Observation(scene, None, make, part)
    content = digest(source.input)
    if content not in replies:
        if not (yield from afford(run.budget, 1)):
            return None
        run.budget.pay(1)
        run.notes.append(Source(source.id, scene.id, content))
        (replies[content],) = yield Ask([Query(source.input, content)])
    else:
        run.notes.append(Source(source.id, scene.id, content))
    return source, replies[content]


def _open_states(
    settings: RunSettings,
    run: SceneRun,
    pairs: Sequence[Pair],
    source: Observation,
    reply: Reply,
    sources: SourceStates,
) -> Iterator[tuple[RelationState, AnySearch]]:
    """A state for each relation, over what they share about the source."""
    made = FollowUp(source.input)
    for relation, search in pairs:
        task = relation.resolved_task
        seen = observe(task, source, [made], [reply])
        if isinstance(seen, str):
            run.notes.append(_only_case(settings, source, relation, Verdict.failed(seen)))
            continue
        answered = replace(source, answer=seen.follow_ups[0].answer)
        if task.is_empty is not None and task.is_empty(answered.answer):
            run.notes.append(Empty(source.id))
        if task.nulls is None or task.nulls.fresh is None or task.nulls.strikers is None:
            yield RelationState(relation, answered, SourceState(shown={id(task): {}})), search
            continue
        rng = random_for(settings.seed, task.name, source.id, "null")
        strikers = task.nulls.strikers(answered)
        # The first null change comes after one to ten cases, so that scenes with few of them share the cost.
        first = int(rng.integers(1, CASES_PER_NULL + 1))
        key = (task.name, source.id, tuple(map(key_of, strikers)))
        fresh = partial(task.nulls.fresh, answered, rng)
        shared = sources.setdefault(key, SourceState(fresh, strikers, first))
        shared.tasks[id(task)] = task
        yield RelationState(relation, answered, shared), search


def _only_case(settings: RunSettings, source: Observation, relation: Relation, ended: Verdict) -> Record:
    """The only case of a source on which nothing can be searched."""
    case = case_id(settings.system, relation.name, source.id, 0, None)
    return Record(case, source.scene.id, source.id, relation.name, 0, None, ended)


def decide_all(
    settings: RunSettings, run: SceneRun, schedule: Schedule, to_ask_again: Sequence[RelationState] = ()
) -> Steps[None]:
    """Decide what the schedule has, a few cases at a time, and note what came of them."""
    held_back: Case | None = None
    while True:
        chunk: list[Case] = []
        worst = 0
        if not (yield from afford(run.budget, 1)):
            return
        while len(chunk) < settings.at_once:
            case = held_back or schedule.next()
            held_back = None
            if case is None:
                break
            if chunk and run.budget.lacks(worst + case.worst_cost()):
                held_back = case
                run.budget.let_go = case.let_go  # its pictures, should it have to wait
                break
            chunk.append(case)
            worst += case.worst_cost()
        if not chunk:
            if run.budget.left is None:
                run.notes += yield from ask_again(run.budget, to_ask_again)
            return
        paid = yield from decide(run.budget, chunk, settings.referees, to_ask_again)
        _note(settings, run, [case for case in chunk if case.decided])
        if not paid:
            return
        for case in chunk:
            schedule.tell(case)
        if to_ask_again and not run.budget.lacks(len(to_ask_again)) and run.budget.spent >= LEAST_SPENT:
            run.notes += yield from ask_again(run.budget, to_ask_again)
            to_ask_again = ()


def _note(settings: RunSettings, run: SceneRun, cases: Sequence[Case]) -> None:
    for case in cases:
        pixels = case.state.relation.pixels
        if pixels is not None and case.change is not None and case.role == "case":
            needed = pixels(plain(case.change))
            run.notes.extend(KeptPixels(name, array) for name, array in needed.items())
        record = case.record(settings.system)
        if case.panels:
            run.notes.append(KeptPanels(record.case, case.panels, case.state.relation.is_foreign))
            case.panels = ()
        run.notes.append(record)
