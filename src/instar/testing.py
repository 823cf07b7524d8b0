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

from instar.core.case import observe
from instar.core.change import Change, Inapplicable, change_from_json
from instar.core.digest import digest
from instar.core.errors import BadInput
from instar.core.relation import Relation
from instar.core.scene import Observation, Scene
from instar.core.scene_run import random_for
from instar.core.search import Search
from instar.core.system import System, ask, fingerprint_of
from instar.core.verdict import Status, Verdict
from instar.store.rows import to_json

__all__ = ["ContractBroken", "check_relation", "check_search", "check_system"]


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
    for i, (a, b) in enumerate(zip(together, alone)):
        _require(a == b, f"the answer of {system.name} to input {i} depends on its neighbours in the batch")
    turned = _answers(system, list(reversed(inputs)))
    for i, (a, b) in enumerate(zip(together, reversed(turned))):
        _require(a == b, f"the answer of {system.name} to input {i} depends on its place in the batch")


def check_relation(relation: Relation, system: System, scenes: Sequence[Scene], *, seeds: int = 10) -> None:
    """A relation's changes survive storage; apply and check are pure; what null promises is true."""
    for scene in scenes:
        for source in _sources(relation, system, scene):
            _check_on(relation, system, source, seeds)


def check_search(search: Search, relation: Relation, source: Observation, *, rounds: int = 50) -> None:
    """A search ends, yields changes, and takes the same path for the same seed and verdicts."""
    first, second = (_path(search, relation, source, rounds) for _ in range(2))
    _require(first == second, "the search takes another path with the same seed and verdicts")


def _check_on(relation: Relation, system: System, source: Observation, seeds: int) -> None:
    name = relation.name
    for seed in range(seeds):
        drawn, same = (relation.draw(source, random_for(seed, name, source.id)) for _ in range(2))
        _require(drawn == same, f"{name}.draw gives two changes for one seed: {drawn} and {same}")
        if isinstance(drawn, Inapplicable):
            continue
        _check_change(relation, system, source, drawn)
        for repetition in relation.again(source, drawn) if relation.again else ():
            _check_change(relation, system, source, repetition)
    if relation.null is None:
        return
    nulls = list(relation.null(source, random_for(0, name, source.id, "null")))
    for null in nulls:
        _check_change(relation, system, source, null)
    # Not each of them: under a shift, an answer that stays where it was has moved.
    accused = [relation.check(source, [source], null).status is Status.VIOLATED for null in nulls]
    _require(
        not (accused and all(accused)),
        f"{name}.check calls an unchanged answer violated under every null change; "
        "a relation that demands a reaction has none",
    )


def _check_change(relation: Relation, system: System, source: Observation, change: Change) -> None:
    name = relation.name
    _require(_restored(change) == change, f"{name}: {change} does not survive storage as JSON")
    before = digest(source.input)
    made, remade = relation.apply(source.input, change), relation.apply(source.input, change)
    _require(digest(source.input) == before, f"{name}.apply writes into its input")
    if isinstance(made, Inapplicable) or isinstance(remade, Inapplicable):
        _require(made == remade, f"{name}.apply is not pure: {made!r} and {remade!r}")
        return
    _require(isinstance(made, tuple) and len(made) > 0, f"{name}.apply must give a tuple of follow-ups")
    _require([digest(m) for m in made] == [digest(m) for m in remade], f"{name}.apply is not pure")
    follow_ups = [_observed(relation, system, source, one) for one in made]
    verdict, same = (relation.check(source, follow_ups, change) for _ in range(2))
    _require(isinstance(verdict, Verdict), f"{name}.check gave {verdict!r}, not a Verdict")
    _require(verdict == same, f"{name}.check is not pure")
    try:
        to_json([dict(verdict.evidence), *(dict(finding.evidence) for finding in verdict.findings)])
    except TypeError as reason:
        raise ContractBroken(f"{name}.check: {reason}") from reason


def _restored(change: Change) -> Change | None:
    """The change as a run folder gives it back; None when it cannot."""
    try:
        return change_from_json(json.loads(json.dumps(change.to_json())))
    except (TypeError, ValueError, BadInput):
        return None


def _sources(relation: Relation, system: System, scene: Scene) -> list[Observation]:
    bare = [("", scene.image)]
    if relation.expand is not None:
        parts = relation.expand(scene, system)
        questions = () if isinstance(parts, Inapplicable) else parts
        bare = [(part, build(scene.image)) for part, build in questions]
    sources = []
    for part, made in bare:
        seen = _observed(relation, system, Observation.of(made, None, scene, part), made)
        sources.append(Observation.of(made, seen.answer, scene, part))
    return sources


def _observed(relation: Relation, system: System, source: Observation, made: Any) -> Observation:
    (reply,) = ask(system, [made])
    seen = observe(relation, source, made, reply)
    if isinstance(seen, str):
        raise ContractBroken(f"{system.name} fails on {source.id}: {seen}")
    return seen


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
    answers = [_answer(system, reply) for reply in ask(counted, inputs, retries=0)]
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
