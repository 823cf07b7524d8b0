"""The story of a scene: ask it as it is, then let its relations take turns.

A story is sequential and knows nothing of threads, batches or stores. Cases are taken strictly in turn
(first case of every relation, then its null change, then the second case, ...); several are judged at
once only when the purse can pay for the worst of all of them, so that how many are judged at once
changes nothing but the speed.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from instar.core.budget import Purse
from instar.core.case import Ask, Case, Consult, Lane, Needs, Question, afford, judge, observe
from instar.core.digest import digest
from instar.core.errors import SceneChanged, UnreadablePicture
from instar.core.record import Record, Skipped, Source, case_id
from instar.core.relation import Inapplicable, Relation
from instar.core.scene import Image, Observation, Scene
from instar.core.schedule import Feed, Rounds, Turns
from instar.core.search import SearchAcross
from instar.core.system import Reply
from instar.core.verdict import Verdict

__all__ = [
    "Inputs",
    "Note",
    "Pixels",
    "Setting",
    "Story",
    "observe_scene",
    "random_for",
    "tell_across",
    "tell_scene",
]


@dataclass(frozen=True, slots=True)
class Pixels:
    """A picture that a change needs, under its content hash."""

    digest: str
    pixels: Any


AnySearch: TypeAlias = Any  # a Search or a SearchAcross; `is_across_scenes` tells which
Pair: TypeAlias = tuple[Relation, AnySearch]

AT_ONCE = 8  # cases of one story judged together; a constant, because it decides who waits for budget

Note: TypeAlias = Record | Skipped | Source | Pixels
"""What a story tells the world on its way."""


class Inputs:
    """The inputs looked at most recently, so that a scene is not decoded for every case."""

    def __init__(self, capacity: int) -> None:
        self._kept: OrderedDict[Any, Any] = OrderedDict()
        self._capacity = capacity
        self._lock = threading.Lock()

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
        return made


@dataclass(frozen=True, eq=False)
class Setting:
    """What all stories of a campaign share."""

    system: str
    relations: Sequence[Pair]
    seed: int
    inputs: Inputs = field(default_factory=lambda: Inputs(32))


@dataclass(eq=False)
class Story:
    """What a running story may spend, and the notes it has made since the last look."""

    purse: Purse
    notes: deque[Note] = field(default_factory=deque)


def random_for(seed: int, relation: str, source: str, purpose: str = "search") -> np.random.Generator:
    """The random numbers of one relation on one source, whatever else is going on."""
    text = "\0".join([str(seed), relation, source, purpose])
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big"))


def tell_scene(setting: Setting, scene: Scene, story: Story) -> Needs[None]:
    """Everything that happens to one scene."""
    lanes = yield from observe_scene(setting, scene, story)
    feeds = []
    for lane, search in lanes:
        rng = random_for(setting.seed, lane.relation.name, lane.source.id)
        feeds.append((lane, Feed(search(lane.relation, lane.source, rng))))
    yield from _judge_all(setting, story, Turns(feeds))


def tell_across(setting: Setting, search: SearchAcross, lanes: Sequence[Lane], story: Story) -> Needs[None]:
    """Everything that one search across scenes does."""
    if lanes:
        relation, sources = lanes[0].relation, [lane.source for lane in lanes]
        rng = random_for(setting.seed, relation.name, "", "across")
        yield from _judge_all(setting, story, Rounds(lanes, Feed(search(relation, sources, rng))))


def observe_scene(setting: Setting, scene: Scene, story: Story) -> Needs[list[tuple[Lane, AnySearch]]]:
    """Ask the scene as it is, once for every distinct input that the relations make of it."""
    by_expand: dict[Any, list[Pair]] = {}
    for relation, search in setting.relations:
        by_expand.setdefault(relation.expand, []).append((relation, search))
    lanes: list[tuple[Lane, AnySearch]] = []
    for expand, pairs in by_expand.items():
        if not (yield from afford(story.purse, 1)):
            return lanes
        try:
            setting.inputs.get(scene.id, scene.read)
            known = replace(scene, read=partial(setting.inputs.get, scene.id, scene.read))
            parts = [("", _unchanged)] if expand is None else (yield Consult(_Expansion(expand, known)))
        except UnreadablePicture as unreadable:
            story.notes.append(Skipped(scene.id, str(unreadable)))
            return []
        if isinstance(parts, (Reply, Inapplicable)):
            ended = (
                Verdict.inapplicable(parts.reason)
                if isinstance(parts, Inapplicable)
                else Verdict.failed(str(parts.error))
            )
            nothing = Observation(scene, None, scene.read)
            story.notes += [_no_lane(setting, nothing, relation, ended) for relation, _ in pairs]
            continue
        for part, build in parts:
            asked = yield from _ask_source(setting, scene, story, part, build)
            if asked is None:
                return lanes
            lanes += _open_lanes(setting, story, pairs, *asked)
    return lanes


@dataclass(frozen=True, slots=True)
class _Expansion:
    expand: Callable[[Scene, Any], Any]
    scene: Scene

    def __call__(self, system: Any) -> list[tuple[str, Callable[[Image], Any]]] | Inapplicable:
        parts = self.expand(self.scene, system)
        return parts if isinstance(parts, Inapplicable) else list(parts)


def _unchanged(image: Image) -> Any:
    return image


def _ask_source(
    setting: Setting, scene: Scene, story: Story, part: str, build: Callable[[Image], Any]
) -> Needs[tuple[Observation, Reply] | None]:
    if not (yield from afford(story.purse, 1)):
        return None

    def make() -> Any:
        try:
            return build(setting.inputs.get(scene.id, scene.read))
        except UnreadablePicture as gone:
            raise SceneChanged(f"{scene.id} could be read before and now cannot: {gone}") from gone

    source = Observation(scene, None, make, part)
    made = source.input
    question = Question(made, digest(made))
    story.notes.append(Source(source.id, scene.id, question.digest))
    story.purse.pay(1)
    (reply,) = yield Ask([question])
    return source, reply


def _open_lanes(
    setting: Setting, story: Story, pairs: Sequence[Pair], source: Observation, reply: Reply
) -> Iterator[tuple[Lane, AnySearch]]:
    for relation, search in pairs:
        seen = observe(relation, source, source.input, reply)
        if isinstance(seen, str):
            story.notes.append(_no_lane(setting, source, relation, Verdict.failed(seen)))
            continue
        seen = Observation(source.scene, seen.answer, source.make, source.part)
        rng = random_for(setting.seed, relation.name, source.id, "null")
        yield Lane(relation, seen, tuple(relation.null(seen, rng)) if relation.null else ()), search


def _no_lane(setting: Setting, source: Observation, relation: Relation, ended: Verdict) -> Record:
    """The one case of a source that nothing can be searched for on."""
    case = case_id(setting.system, relation.name, source.id, 0, None)
    return Record(case, source.scene.id, source.id, relation.name, 0, None, ended)


def _judge_all(setting: Setting, story: Story, turns: Turns | Rounds) -> Needs[None]:
    held_back: Case | None = None
    while True:
        chunk: list[Case] = []
        worst = 0
        if not (yield from afford(story.purse, 1)):
            return
        while len(chunk) < AT_ONCE:
            case = held_back or turns.next()
            held_back = None
            if case is None:
                break
            if chunk and story.purse.lacks(worst + case.worst_cost()):
                held_back = case
                held_back.let_go()  # it may have to wait for budget
                break
            chunk.append(case)
            worst += case.worst_cost()
        if not chunk:
            return
        paid = yield from judge(story.purse, chunk)
        _note(setting, story, [case for case in chunk if case.decided])
        if not paid:
            return
        for case in chunk:
            turns.tell(case)


def _note(setting: Setting, story: Story, cases: Sequence[Case]) -> None:
    for case in cases:
        pixels = case.lane.relation.pixels
        if pixels is not None and case.change is not None:
            story.notes.extend(Pixels(name, array) for name, array in pixels(case.change).items())
        story.notes.append(case.record(setting.system))
