"""One case made again from its recipe and asked again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from instar.core.change import Inapplicable
from instar.core.digest import digest
from instar.core.errors import BadInput, SceneChanged
from instar.core.follow_up import Asking, FollowUp, follow_ups_of, judge, observe, questions_of
from instar.core.record import Record
from instar.core.relation import Relation
from instar.core.scene import Observation, Scene
from instar.core.system import Reply
from instar.core.task import Question, Task
from instar.core.verdict import Finding, Status, Verdict

CLOSE = 1e-6  # margins that differ by less came out the same


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """What came out now, and the record to compare it with.

    `verdict` is the bare comparison. Whether null changes or repetitions struck findings out is part
    of the record, so `same` compares what the bare comparison found then and finds now.
    """

    record: Record
    source: Observation | None
    follow_ups: Sequence[Observation]
    verdict: Verdict

    @property
    def same(self) -> bool:
        return _same(self.record.verdict, self.verdict)


def replay(
    record: Record, scene: Scene, relation: Relation, asking: Asking, *, known_as: str | None
) -> Replay:
    """Make the case again, ask again, compare again. `known_as` is the recorded hash of the source."""
    task = relation.resolved_task
    source = find_source(task, record.source, scene, asking)
    if isinstance(source, Verdict):
        return Replay(record, None, (), source)
    if known_as is not None and digest(source.input) != known_as:
        raise SceneChanged(f"{record.source} is not the picture that was tested; its content has changed")
    answered = answer_source(task, source, asking)
    if isinstance(answered, str) or record.change is None:
        verdict = Verdict.failed(answered) if isinstance(answered, str) else _without_change(record.verdict)
        return Replay(record, None, (), verdict)
    source = answered
    made = follow_ups_of(relation, source.input, record.change)
    if isinstance(made, Inapplicable):
        return Replay(record, source, (), Verdict.inapplicable(made.reason))
    repeat = 1 if record.role == "null" else 0  # as it was asked (see `Case.repeat`)
    seen = observe(task, source, made, asking([one.query(repeat) for one in made]))
    if isinstance(seen, str):
        return Replay(record, source, (), Verdict.failed(seen))
    return Replay(record, seen.source, seen.follow_ups, judge(relation, seen, record.change))


def answer_source(task: Task, source: Observation, asking: Asking) -> Observation | str:
    """The source with its answer as the task reads it, or why there is none."""
    one = FollowUp(source.input)
    seen = observe(task, source, [one], asking([one.query()]))
    return seen if isinstance(seen, str) else replace(source, answer=seen.follow_ups[0].answer)


def ask_questions(task: Task, scene: Scene, asking: Asking) -> Sequence[Question] | Verdict:
    """What a scene is asked, or the verdict on it where it cannot be asked."""
    steps = questions_of(task, scene)
    reply: Reply | None = None
    try:
        while True:
            (reply,) = asking([steps.send(reply)])
    except StopIteration as end:
        questions: Sequence[Question] | Verdict = end.value
        return questions


def find_source(task: Task, id: str, scene: Scene, asking: Asking) -> Observation | Verdict:
    """The question of a scene that goes by this id."""
    questions = ask_questions(task, scene, asking)
    if isinstance(questions, Verdict):
        return questions
    part = id[len(scene.id) + 1 :]
    for name, build in questions:
        if name == part:
            return Observation.of(build(scene.image), None, scene, part)
    raise BadInput(f"{id} is no question any more: the system does not make it of {scene.id}")


def _without_change(then: Verdict) -> Verdict:
    """The recorded verdict as it is: where no change could be drawn, there is nothing to make again."""
    return then if then.status is Status.INAPPLICABLE else Verdict.inapplicable("no change was made")


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
