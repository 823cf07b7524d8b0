"""One case made again from its recipe and asked again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from instar.core.case import observe
from instar.core.digest import digest
from instar.core.errors import BadInput, SceneChanged
from instar.core.record import Record
from instar.core.relation import Inapplicable, Relation
from instar.core.scene import Observation, Scene
from instar.core.system import Reply, System, ask
from instar.core.verdict import Finding, Status, Verdict

__all__ = ["Replay", "replay"]

Asking: TypeAlias = Callable[[Sequence[Any]], Sequence[Reply]]
"""From inputs to one reply each."""

CLOSE = 1e-6  # margins that differ by less came out the same


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """What came out now, beside what was recorded.

    `verdict` is the bare comparison. Whether null changes or repetitions struck findings out is part
    of the record, so `same` compares what the bare comparison found then and finds now.
    """

    record: Record
    source: Observation | None
    follow_ups: Sequence[Observation]
    verdict: Verdict
    same: bool


def replay(
    record: Record,
    scene: Scene,
    relation: Relation,
    system: System,
    *,
    known_as: str | None,
    asking: Asking | None = None,
) -> Replay:
    """Make the case again, ask again, compare again. `known_as` is the recorded hash of the source.

    `asking` is how the system is asked, where that is not plainly by `instar.core.system.ask`.
    """
    asking = asking or partial(ask, system)
    source = _source(record, scene, relation, system)
    if isinstance(source, Inapplicable):
        verdict = Verdict.inapplicable(source.reason)
        return Replay(record, None, (), verdict, _same(record.verdict, verdict))
    if known_as is not None and digest(source.input) != known_as:
        raise SceneChanged(f"{record.source} is not the picture that was tested; its content has changed")
    seen = _ask(relation, source, [source.input], asking)
    if isinstance(seen, str) or record.change is None:
        verdict = Verdict.failed(seen) if isinstance(seen, str) else _without_change(record.verdict)
        return Replay(record, None, (), verdict, _same(record.verdict, verdict))
    source = Observation(scene, seen[0].answer, source.make, source.part)
    made = relation.apply(source.input, record.change)
    if isinstance(made, Inapplicable):
        verdict = Verdict.inapplicable(made.reason)
        return Replay(record, source, (), verdict, _same(record.verdict, verdict))
    follow_ups = _ask(relation, source, made, asking)
    if isinstance(follow_ups, str):
        verdict = Verdict.failed(follow_ups)
        return Replay(record, source, (), verdict, _same(record.verdict, verdict))
    verdict = relation.check(source, follow_ups, record.change)
    return Replay(record, source, follow_ups, verdict, _same(record.verdict, verdict))


def _without_change(then: Verdict) -> Verdict:
    """Where no change could be drawn there is nothing to make again: that stands as it was."""
    return then if then.status is Status.INAPPLICABLE else Verdict.inapplicable("no change was made")


def _source(record: Record, scene: Scene, relation: Relation, system: System) -> Observation | Inapplicable:
    part = record.source[len(record.scene) + 1 :]
    if relation.expand is None:
        return Observation(scene, None, scene.read, part)
    parts = relation.expand(scene, system)
    if isinstance(parts, Inapplicable):
        return parts
    for name, build in parts:
        if name == part:
            return Observation.of(build(scene.image), None, scene, part)
    raise BadInput(f"{record.source} is no question any more: the system does not make it of {scene.id}")


def _ask(
    relation: Relation, source: Observation, inputs: Sequence[Any], asking: Asking
) -> list[Observation] | str:
    observed = []
    for made, reply in zip(inputs, asking(inputs)):
        seen = observe(relation, source, made, reply)
        if isinstance(seen, str):
            return seen
        observed.append(seen)
    return observed


def _same(then: Verdict, now: Verdict) -> bool:
    found = {(kind, subject): margin for kind, subject, margin in _found_then(then)}
    finds = {finding.key: finding.margin for finding in now.findings}
    if found or finds:
        return found.keys() == finds.keys() and all(abs(found[k] - finds[k]) <= CLOSE for k in found)
    return then.status is now.status and then.reason == now.reason and abs(then.margin - now.margin) <= CLOSE


def _found_then(verdict: Verdict) -> list[tuple[str, str, float]]:
    """Everything that the bare comparison found, also what was struck out later."""
    findings: tuple[Finding, ...] = verdict.findings if verdict.status is Status.VIOLATED else ()
    struck = verdict.evidence.get("struck", ())
    return [(f.kind, f.subject, f.margin) for f in findings] + [
        (s["kind"], s["subject"], s["margin"]) for s in struck
    ]
