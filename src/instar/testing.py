"""Contracts: what instar relies on, as checks for a user's own system, relation and search.

Each raises `ContractBroken` with one line that says what was expected and what was seen, so they fit
into any test:

    def test_my_detector():
        instar.testing.check_system(MyDetector(), images)
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from instar.core.change import Change, Inapplicable, change_from_json
from instar.core.digest import digest
from instar.core.errors import BadInput, WrongKind
from instar.core.fingerprint import fingerprint_of
from instar.core.follow_up import FollowUp, Query, follow_ups_of, judge, observe
from instar.core.relation import Relation
from instar.core.replay import answer_source, ask_questions
from instar.core.scene import Observation, Scene
from instar.core.scene_run import random_for
from instar.core.search import Search
from instar.core.system import Reply, System, ask, variant_of
from instar.core.task import Null
from instar.core.verdict import Status, Verdict
from instar.store.rows import dump_json


class ContractBroken(AssertionError):
    """Something does not keep what instar relies on."""


def check_system(system: System, inputs: Sequence[Any]) -> None:
    """A system answers every input, alike whatever its neighbours, its order and the time, and writes
    into none of them.
    """
    _require(isinstance(getattr(system, "name", None), str), "the system has no name")
    _require(len(inputs) >= 2, "give at least two inputs, so that neighbours can be told apart")
    _require(fingerprint_of(system) == fingerprint_of(system), "the fingerprint changes from look to look")
    before = [digest(one) for one in inputs]
    together = _answers(system, inputs)
    _require([digest(one) for one in inputs] == before, f"{system.name} writes into its inputs")
    again = _answers(system, inputs)
    for i, (a, b) in enumerate(zip(together, again)):
        _require(a == b, f"{system.name} answers input {i} differently when asked again")
    alone = [answer for one in inputs for answer in _answers(system, [one])]
    turned = reversed(_answers(system, list(reversed(inputs))))
    for what, others in (("neighbours", alone), ("place", turned)):
        for i, (a, b) in enumerate(zip(together, others)):
            _require(a == b, f"the answer of {system.name} to input {i} depends on its {what} in the batch")


def check_relation(relation: Relation, system: System, scenes: Sequence[Scene], *, seeds: int = 10) -> None:
    """A relation's changes survive storage; apply and expect are pure; an answer is the same as itself."""
    try:
        for scene in scenes:
            for source in _sources(relation, system, scene):
                _check_on(relation, system, source, seeds)
    except WrongKind as wrong:
        raise ContractBroken(str(wrong)) from wrong


def check_search(search: Search, relation: Relation, source: Observation, *, rounds: int = 50) -> None:
    """A search ends, yields changes, and takes the same path for the same seed and verdicts."""
    first, second = (_path(search, relation, source, rounds) for _ in range(2))
    _require(first == second, "the search takes another path with the same seed and verdicts")


def _check_on(relation: Relation, system: System, source: Observation, seeds: int) -> None:
    name, task = relation.name, relation.resolved_task
    unchanged = task.compare(source, source)
    _require(
        unchanged.status is not Status.VIOLATED, f"{task.name}: compare calls an answer other than itself"
    )
    for seed in range(seeds):
        drawn, same = (relation.drawn(source, random_for(seed, name, source.id)) for _ in range(2))
        _require(drawn == same, f"{name}.draw gives two changes for one seed: {drawn} and {same}")
        if isinstance(drawn, Change):
            _check_change(relation, system, source, drawn)
    nulls = task.nulls
    if nulls is None:
        return
    drawn_null = [] if nulls.fresh is None else [nulls.fresh(source, random_for(0, name, source.id))]
    strikers = () if nulls.strikers is None else nulls.strikers(source)
    for null in (*drawn_null, *strikers, *nulls.conditions):
        _check_change(relation, system, source, null)


def _check_change(relation: Relation, system: System, source: Observation, change: Change) -> None:
    name = relation.name
    _require(_restored(change) == change, f"{name}: {change} does not survive storage as JSON")
    before = digest(source.input)
    made, remade = (follow_ups_of(relation, source.input, change) for _ in range(2))
    _require(digest(source.input) == before, f"{name}.apply writes into its input")
    if isinstance(made, Inapplicable) or isinstance(remade, Inapplicable):
        _require(made == remade, f"{name}.apply is not pure: {made!r} and {remade!r}")
        return
    same = [one.query().digest for one in made] == [one.query().digest for one in remade]
    _require(same, f"{name}.apply is not pure")
    seen = observe(relation.resolved_task, source, made, _replies(system, made))
    if isinstance(seen, str):
        raise ContractBroken(f"{system.name} fails on {source.id}: {seen}")
    by_sameness = relation.expect is None or isinstance(change, Null)
    judging = f"{relation.resolved_task.name}.compare" if by_sameness else f"{name}.expect"
    verdict, again = (judge(relation, seen, change) for _ in range(2))
    _require(verdict == again, f"{judging} is not pure")
    try:
        dump_json([dict(verdict.evidence), *(dict(finding.evidence) for finding in verdict.findings)])
    except TypeError as reason:
        raise ContractBroken(f"{judging}: {reason}") from reason


def _restored(change: Change) -> Change | None:
    """The change as a run folder gives it back; None when it cannot."""
    try:
        return change_from_json(json.loads(json.dumps(change.to_json())))
    except (TypeError, ValueError, BadInput):
        return None


def _replies(system: System, made: Sequence[FollowUp]) -> list[Reply]:
    return [
        reply
        for one in made
        for reply in ask(variant_of(system, one.variant) if one.variant else system, [one.input])
    ]


def _sources(relation: Relation, system: System, scene: Scene) -> list[Observation]:
    task = relation.resolved_task

    def asking(queries: Sequence[Query]) -> list[Reply]:
        return ask(system, [query.input for query in queries])

    questions = ask_questions(task, scene, asking)
    if isinstance(questions, Verdict):
        _require(
            questions.status is not Status.FAILED, f"{system.name} fails on {scene.id}: {questions.reason}"
        )
        return []
    sources = []
    for part, build in questions:
        asked = Observation.of(build(scene.image), None, scene, part)
        source = answer_source(task, asked, asking)
        if isinstance(source, str):
            raise ContractBroken(f"{system.name} fails on {asked.id}: {source}")
        sources.append(source)
    return sources


def _path(search: Search, relation: Relation, source: Observation, rounds: int) -> list[Any]:
    generator = search(relation, source, random_for(0, relation.name, source.id))
    path: list[Any] = []
    verdicts: list[Verdict] | None = None
    for _ in range(rounds):
        try:
            batch = next(generator) if verdicts is None else generator.send(verdicts)
        except StopIteration:
            return path
        for drawn in batch:
            _require(isinstance(drawn, (Change, Inapplicable)), f"the search yields {drawn!r}, no change")
        path += batch
        # Verdicts that alternate take a search through both of its branches.
        verdicts = [Verdict.held(1.0) if i % 2 else Verdict.at_least(0, 1, "x") for i in range(len(batch))]
    raise ContractBroken(f"the search has not ended after {rounds} rounds")


class _Counted:
    """The system, and how often it was called."""

    def __init__(self, system: System) -> None:
        self.name, self.calls, self._system = system.name, 0, system

    def predict(self, inputs: Sequence[Any], /) -> Sequence[Any]:
        self.calls += 1
        return self._system.predict(inputs)


def _answers(system: System, inputs: Sequence[Any]) -> list[str]:
    counted = _Counted(system)
    answers = [_answer(system, reply) for reply in ask(counted, inputs, retries=0, copies=False)]
    _require(counted.calls == 1, f"{system.name} cannot answer {len(inputs)} inputs at once, only one by one")
    return answers


def _answer(system: System, reply: Any) -> str:
    if reply.error is not None:
        raise ContractBroken(f"{system.name} fails: {reply.error}")
    try:
        return digest(reply.answer)
    except TypeError as reason:
        raise ContractBroken(f"an answer of {system.name} cannot be kept: {reason}") from reason


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ContractBroken(message)
