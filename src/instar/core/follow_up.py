"""Follow-ups: what a change makes of a question, what is answered to it, and the verdict on that."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from instar.core.answer_values import short
from instar.core.change import Change, Inapplicable, plain
from instar.core.digest import digest
from instar.core.errors import WrongKind
from instar.core.frame import Frame, Moved, Variant
from instar.core.relation import Relation
from instar.core.scene import Observation, Scene
from instar.core.system import Reply
from instar.core.task import Null, Question, Task
from instar.core.verdict import Finding, Status, Verdict

FindingKey: TypeAlias = tuple[str, str]
"""Kind and subject of a finding."""


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """An input to be shown to the system, to a variant of it, or to a referee; `repeat` counts askings of one
    input.
    """

    input: Any
    digest: str
    repeat: int = 0
    variant: str = ""
    referee: str = ""


Asking: TypeAlias = Callable[[Sequence[Query]], Sequence[Reply]]
"""From queries to one reply each."""


@dataclass(frozen=True, slots=True, eq=False)
class FollowUp:
    """A question that a change made of the source; `frame` is None where the picture stays in its frame."""

    input: Any
    frame: Frame | None = None
    variant: str = ""

    def query(self, repeat: int = 0) -> Query:
        return Query(self.input, digest(self.input), repeat, self.variant)


def questions_of(task: Task, scene: Scene) -> Generator[Query, Reply | None, Sequence[Question] | Verdict]:
    """What a scene is asked, or the verdict on it where it cannot be; yields what must be known first."""
    steps = task.questions(scene)
    answer: Any = None
    while True:
        try:
            first = steps.send(answer)
        except StopIteration as end:
            ended: Sequence[Question] | Inapplicable = end.value
            return Verdict.inapplicable(ended.reason) if isinstance(ended, Inapplicable) else ended
        reply = yield Query(first, digest(first))
        assert reply is not None
        if reply.error is not None:
            return Verdict.failed(reply.error)
        answer = reply.answer


def follow_ups_of(relation: Relation, question: Any, change: Change) -> tuple[FollowUp, ...] | Inapplicable:
    """What a change makes of a question: the relation's follow-ups, or the one of a null change."""
    task = relation.resolved_task
    if isinstance(change, Null):
        return (_under(task, change, FollowUp(question)),)
    made = relation.apply(task.picture(question), plain(change))
    if isinstance(made, Inapplicable):
        return made
    several = made if isinstance(made, (tuple, list)) and made else (made,)
    return tuple(_follow_up(task, question, one, relation.name) for one in several)


def under_null(task: Task, null: Null, made: Sequence[FollowUp], question: Any) -> tuple[FollowUp, ...]:
    """Follow-ups under a null change; where amounts are compared, the source under it stands before them."""
    with_source = task.nulls is not None and task.nulls.with_source
    return tuple(_under(task, null, one) for one in ([FollowUp(question), *made] if with_source else made))


def _under(task: Task, null: Null, follow_up: FollowUp) -> FollowUp:
    asked = null.ask(follow_up.input)
    if asked is not None:
        return replace(follow_up, input=asked)
    after = _follow_up(task, follow_up.input, null.apply(task.picture(follow_up.input)), str(null))
    frame = after.frame
    if follow_up.frame is not None:
        frame = follow_up.frame.then(frame) if frame is not None else follow_up.frame
    return replace(after, frame=frame, variant=follow_up.variant)


def _follow_up(task: Task, question: Any, made: Any, name: str) -> FollowUp:
    if isinstance(made, Moved):
        picture = _picture(made.picture, name)
        frame = Frame(made.matrix, _size(task.picture(question)), _size(picture))
        return FollowUp(task.move(task.with_picture(question, picture), frame), frame)
    if isinstance(made, Variant):
        return FollowUp(task.with_picture(question, _picture(made.picture, name)), variant=made.name)
    if isinstance(made, np.ndarray):
        return FollowUp(task.with_picture(question, _picture(made, name)))
    if not isinstance(made, type(question)):
        raise WrongKind(
            f"{name}: apply gave {short(made)}; it gives a picture, Moved, Variant, another question, "
            "a tuple of these, or Inapplicable"
        )
    return FollowUp(made)


def _picture(made: Any, name: str) -> Any:
    if not (
        isinstance(made, np.ndarray) and made.dtype == np.uint8 and made.ndim == 3 and made.shape[2] == 3
    ):
        what = f"{made.dtype} {made.shape}" if isinstance(made, np.ndarray) else type(made).__name__
        raise WrongKind(f"{name}: apply gave {what}; a picture is uint8 (height, width, 3)")
    return np.ascontiguousarray(made) if type(made) is np.ndarray else made


def _size(picture: Any) -> tuple[int, int]:
    return int(picture.shape[0]), int(picture.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """A source and its follow-ups with their answers, all in the source's frame.

    `befores` has the source's answer once for each follow-up, with what that does not show set aside.
    """

    source: Observation
    follow_ups: Sequence[Observation]
    befores: Sequence[Any]


def observe(
    task: Task,
    source: Observation,
    made: Sequence[FollowUp],
    replies: Sequence[Reply],
    *,
    with_source: bool = False,
) -> Seen | str:
    """The answers as the task reads them, or why one cannot be used.

    `with_source`: the first of them is the source itself under a condition, whose answer counts.
    """
    follow_ups, befores = [], []
    for number, (one, reply) in enumerate(zip(made, replies)):
        if reply.error is not None:
            return reply.error
        before = source.answer
        try:
            answer = task.read(one.input, reply.answer)
        except (ValueError, TypeError) as wrong:
            return f"nonsense answer: {wrong}"
        if one.frame is not None:
            before, answer = task.carry(before, answer, one.frame)
        if with_source and number == 0:
            source = replace(source, answer=answer)
            continue
        follow_ups.append(Observation(source.scene, answer, _given(one.input), source.part, one.frame))
        befores.append(before)
    return Seen(source, follow_ups, befores)


def _given(value: Any) -> Callable[[], Any]:
    return lambda: value


def judge(relation: Relation, seen: Seen, change: Change) -> Verdict:
    """What the answers say: the relation's own expectation, or else that they are the same.

    A null change is always judged by sameness. The severity of any other is kept as `level`.
    """
    if isinstance(change, Null):
        return _compare(relation.resolved_task, seen)
    if relation.expect is None:
        verdict = _compare(relation.resolved_task, seen)
    else:
        source = replace(seen.source, answer=seen.befores[0]) if len(seen.befores) == 1 else seen.source
        verdict = relation.expect(source, seen.follow_ups, plain(change))
        if not isinstance(verdict, Verdict):
            raise WrongKind(f"{relation.name}: expect gave {short(verdict)}; it gives a Verdict")
    level = None if relation.severity is None else relation.severity.level_of(seen.source, change)
    return verdict if level is None else verdict.with_evidence(level=level)


def _compare(task: Task, seen: Seen) -> Verdict:
    source, pairs = seen.source, zip(seen.befores, seen.follow_ups)
    verdicts = [task.compare(replace(source, answer=before), after) for before, after in pairs]
    if len(verdicts) == 1:
        return verdicts[0]
    findings: dict[FindingKey, Finding] = {}
    for finding in (finding for verdict in verdicts for finding in verdict.findings):
        if finding.key not in findings or finding.margin < findings[finding.key].margin:
            findings[finding.key] = finding
    unfit = [verdict for verdict in verdicts if verdict.status is Status.INAPPLICABLE]
    worst = min(verdicts, key=lambda verdict: verdict.margin)
    return Verdict.violated(list(findings.values())) if findings else (unfit or [worst])[0]
