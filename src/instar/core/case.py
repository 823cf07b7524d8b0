"""Judging cases: ask the follow-ups, compare, and believe a finding only when it stands.

Everything here is a generator that yields what it needs (`Ask`, or `Want` when its purse is empty) and
is sent the replies. Whoever drives it decides where and in what batches a system is asked, so each
story below reads as the sequence of events that it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, TypeVar

from instar.core.budget import Purse, Want
from instar.core.digest import digest
from instar.core.record import Record, case_id
from instar.core.relation import Change, Inapplicable, Relation
from instar.core.scene import Observation
from instar.core.system import Reply
from instar.core.verdict import Finding, Status, Verdict

__all__ = [
    "Ask",
    "Case",
    "Consult",
    "Lane",
    "Needs",
    "Question",
    "afford",
    "judge",
    "observe",
    "prepare_case",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """An input to be shown to the system; `repeat` tells askings of the same input apart."""

    input: Any
    digest: str
    repeat: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Ask:
    """Questions to be answered; the replies are sent back in this order."""

    questions: Sequence[Question]


@dataclass(frozen=True, slots=True, eq=False)
class Consult:
    """A call on the system that is no question: finding out which inputs a scene makes."""

    call: Callable[[Any], Any]


Needs: TypeAlias = Generator["Ask | Want | Consult", Any, T]
"""A story that needs replies or more budget on its way to a `T`."""

ShownBy: TypeAlias = dict[tuple[str, str], str]
"""Which null change shows a finding, by the finding's key."""


@dataclass(eq=False)
class Lane:
    """One relation on one source: what is known between its cases."""

    relation: Relation
    source: Observation
    nulls: Sequence[Change] = ()
    taken: int = 0  # cases so far; the next ordinal
    shown: ShownBy | None = None  # None until the null changes were asked
    nulls_failed: Verdict | None = None  # the system failed on one of them

    @property
    def strikers(self) -> Sequence[Change]:
        """The null changes that strike findings out; the first one measures false alarms instead."""
        return self.nulls[1:]


@dataclass(eq=False)
class Case:
    """A change on its way to a verdict.

    `width` is its number of follow-ups. The pictures themselves are let go whenever the case has to
    wait, and made again: thousands of stories may be waiting for budget at once.
    """

    lane: Lane
    ordinal: int
    change: Change | None
    role: Literal["case", "null"] = "case"
    inputs: tuple[Any, ...] = ()
    width: int = 0
    verdict: Verdict | None = None
    queries: int = 0
    naturalness: float | None = None
    struck: list[dict[str, Any]] = field(default_factory=list)

    @property
    def decided(self) -> bool:
        return self.verdict is not None

    @property
    def repeat(self) -> int:
        """A null change may give back the very picture of the source: that has to be asked anew."""
        return 1 if self.role == "null" else 0

    def worst_cost(self) -> int:
        """The most questions that this case can need, its checks included."""
        return 0 if self.decided else self.width + self.cost_of_checks()

    def made(self) -> tuple[Any, ...]:
        """The follow-ups; apply is pure, so they are the same each time."""
        if not self.inputs:
            made = self.lane.relation.apply(self.lane.source.input, self.change)
            assert not isinstance(made, Inapplicable)
            self.inputs = made
        return self.inputs

    def questions(self) -> list[Question]:
        return [Question(one, digest(one), self.repeat) for one in self.made()]

    def let_go(self) -> None:
        self.inputs = ()

    def cost_of_checks(self) -> int:
        relation, lane = self.lane.relation, self.lane
        rounds = len(lane.strikers) if lane.shown is None else 0
        if relation.again is not None:
            rounds += len(tuple(relation.again(lane.source, self.change)))
        if relation.placebo is not None and self.role == "case":
            rounds += 1
        return rounds * self.width

    def record(self, system: str) -> Record:
        assert self.verdict is not None
        relation, source = self.lane.relation.name, self.lane.source
        return Record(
            case=case_id(system, relation, source.id, self.ordinal, self.change),
            scene=source.scene.id,
            source=source.id,
            relation=relation,
            ordinal=self.ordinal,
            change=self.change,
            verdict=self.verdict,
            role=self.role,
            queries=self.queries,
            naturalness=self.naturalness,
        )


def prepare_case(
    lane: Lane, change: Change | Inapplicable, *, role: Literal["case", "null"] = "case"
) -> Case:
    """A case with its follow-ups made, or decided already when none could be made."""
    ordinal = -1
    if role == "case":
        ordinal, lane.taken = lane.taken, lane.taken + 1
    if isinstance(change, Inapplicable):
        return Case(lane, ordinal, None, role, verdict=Verdict.inapplicable(change.reason))
    made = lane.relation.apply(lane.source.input, change)
    if isinstance(made, Inapplicable):
        return Case(lane, ordinal, change, role, verdict=Verdict.inapplicable(made.reason))
    return Case(lane, ordinal, change, role, inputs=made, width=len(made))


def judge(purse: Purse, cases: Sequence[Case]) -> Needs[bool]:
    """Decide the cases; False when the budget ended before all were asked and their findings checked.

    Several cases at once only where the purse can pay for the worst of each: then nobody has to wait
    in the middle, and the outcome is that of judging them one after the other.
    """
    undecided = [case for case in cases if not case.decided]
    cost = sum(case.width for case in undecided)
    if purse.lacks(cost):
        for case in undecided:
            case.let_go()
    if not (yield from afford(purse, cost)):
        return False
    replies = yield from _pay_and_ask(purse, [one for case in undecided for one in case.questions()])
    for case, part in zip(undecided, _split(replies or [], [case.width for case in undecided])):
        case.queries = case.width
        case.verdict = _compare(case.lane, case.change, case.made(), part)
        case.let_go()
    suspects = [case for case in undecided if _is_violated(case)]
    paid = yield from _believe(purse, suspects)
    for case in filter(_is_violated, suspects):
        naturalness = case.lane.relation.naturalness
        if naturalness is not None:
            case.naturalness = float(naturalness(case.lane.source, case.made()[0], case.change))
            case.let_go()
    return paid


def _is_violated(case: Case) -> bool:
    return case.verdict is not None and case.verdict.status is Status.VIOLATED


def _believe(purse: Purse, suspects: Sequence[Case]) -> Needs[bool]:
    """Strike out what null changes show too and what does not recur; False when the budget ended."""
    checked = []
    for case in suspects:
        # In a batch of several the purse is known to suffice, so only a lone case ever waits here.
        if not (yield from afford(purse, case.cost_of_checks(), urgent=True)):
            _leave_unconfirmed(case)
            continue
        if case.lane.shown is None:
            case.lane.shown = yield from _ask_nulls(purse, case)
        if case.lane.nulls_failed is not None:
            _give_up(case, case.lane.nulls_failed, "failed")
            continue
        if case.lane.shown is None:
            _leave_unconfirmed(case)
            continue
        _strike(case, case.lane.shown)
        checked.append(case)
    yield from _together([_confirm(purse, case) for case in checked])
    return not any(case.verdict is not None and case.verdict.kind == "unconfirmed" for case in suspects)


def _ask_nulls(purse: Purse, case: Case) -> Needs[ShownBy | None]:
    """Every finding that a null change of this source shows by itself; None when the budget ended."""
    lane, shown = case.lane, ShownBy()
    made = [(null, lane.relation.apply(lane.source.input, null)) for null in lane.strikers]
    usable = [(null, inputs) for null, inputs in made if not isinstance(inputs, Inapplicable)]
    questions = _anew([one for _, inputs in usable for one in inputs], Counter(), first=2)
    replies = yield from _pay_and_ask(purse, questions, urgent=True)
    if replies is None:
        return None
    case.queries += len(questions)
    for (null, inputs), part in zip(usable, _split(replies, [len(i) for _, i in usable])):
        verdict = _compare(lane, null, inputs, part)
        if verdict.status is Status.FAILED:  # then nobody knows what it would have shown
            lane.nulls_failed = verdict
        for finding in verdict.findings:
            shown.setdefault(finding.key, str(null))
    return shown


def _confirm(purse: Purse, case: Case) -> Needs[None]:
    """Ask the change again under conditions that must not matter, then the placebo."""
    lane, relation = case.lane, case.lane.relation
    before: Counter[str] = Counter()
    for repetition in relation.again(lane.source, case.change) if relation.again else ():
        if not _left(case):
            return
        verdict = yield from _once_more(purse, case, repetition, before)
        if verdict is None:
            return _leave_unconfirmed(case)
        if verdict.status is Status.FAILED:
            return _give_up(case, verdict, "failed")
        _strike_missing(case, {f.key for f in verdict.findings}, str(repetition))
    if relation.placebo is not None and case.role == "case" and _left(case):
        placebo = yield from _once_more(purse, case, relation.placebo(lane.source, case.change), before)
        if placebo is None:
            return
        left = {finding.key for finding in _left(case)}
        recurs = sorted(list(key) for key in left & {f.key for f in placebo.findings})
        assert case.verdict is not None
        evidence = {**case.verdict.evidence, "placebo": {"recurs": recurs}}
        case.verdict = replace(case.verdict, evidence=evidence)


def _once_more(purse: Purse, case: Case, change: Change, before: Counter[str]) -> Needs[Verdict | None]:
    """What the bare comparison says under that change; None when the budget ended."""
    made = case.lane.relation.apply(case.lane.source.input, change)
    if isinstance(made, Inapplicable):
        return Verdict.inapplicable(made.reason)
    questions = _anew(made, before, first=case.repeat + 1)
    replies = yield from _pay_and_ask(purse, questions, urgent=True)
    if replies is None:
        return None
    case.queries += len(questions)
    return _compare(case.lane, change, made, replies)


def _compare(lane: Lane, change: Any, inputs: Sequence[Any], replies: Sequence[Reply]) -> Verdict:
    follow_ups = []
    for made, reply in zip(inputs, replies):
        observed = observe(lane.relation, lane.source, made, reply)
        if isinstance(observed, str):
            return Verdict.failed(observed)
        follow_ups.append(observed)
    return lane.relation.check(lane.source, follow_ups, change)


def observe(relation: Relation, source: Observation, made: Any, reply: Reply) -> Observation | str:
    """The input with its answer as the relation wants it, or why the answer is no good."""
    if reply.error is not None:
        return reply.error
    answer = reply.answer
    if relation.accept is not None:
        try:
            answer = relation.accept(made, answer)
        except (ValueError, TypeError) as wrong:
            return f"nonsense answer: {wrong}"
    return Observation(source.scene, answer, lambda: made, source.part)


def _left(case: Case) -> tuple[Finding, ...]:
    return case.verdict.findings if case.verdict else ()


def _strike(case: Case, shown: ShownBy) -> None:
    _keep(
        case,
        {f.key: f"null {shown[f.key]}" for f in _left(case) if f.key in shown},
        "null changes show it too",
    )


def _strike_missing(case: Case, recurring: set[tuple[str, str]], repetition: str) -> None:
    gone = {f.key: f"again {repetition}" for f in _left(case) if f.key not in recurring}
    _keep(case, gone, "it does not recur")


def _keep(case: Case, gone: dict[tuple[str, str], str], why: str) -> None:
    """Leave only the findings that are not gone; a case that has none left is unstable."""
    if not gone:
        return
    kept = [f for f in _left(case) if f.key not in gone]
    left = Verdict.violated(kept) if kept else Verdict.inapplicable(f"unstable: {why}", kind="unstable")
    case.verdict = replace(left, evidence=_strike_from_record(case, gone))


def _leave_unconfirmed(case: Case) -> None:
    reason = "the budget ended before it was confirmed"
    _give_up(case, Verdict.inapplicable(reason, kind="unconfirmed"), "unconfirmed")


def _give_up(case: Case, outcome: Verdict, why: str) -> None:
    """End a case that could not be checked to the end; what it had found stays in its evidence."""
    case.verdict = replace(outcome, evidence=_strike_from_record(case, {f.key: why for f in _left(case)}))


def _strike_from_record(case: Case, gone: dict[tuple[str, str], str]) -> dict[str, Any]:
    """The evidence of the case, with the findings that are gone and what they are gone by."""
    assert case.verdict is not None
    case.struck += [
        {"kind": f.kind, "subject": f.subject, "margin": f.margin, "by": gone[f.key]}
        for f in _left(case)
        if f.key in gone
    ]
    return {**case.verdict.evidence, "struck": list(case.struck)}


def _anew(made: Iterable[Any], before: Counter[str], *, first: int) -> list[Question]:
    """Questions that check a finding. The same picture twice is asked twice: a system that answers
    differently to the same question would not be seen in a remembered answer.
    """
    questions = []
    for one in made:
        name = digest(one)
        questions.append(Question(one, name, first + before[name]))
        before[name] += 1
    return questions


def afford(purse: Purse, amount: int, *, urgent: bool = False) -> Needs[bool]:
    """Wait until the purse holds `amount`; False when it never will."""
    while purse.lacks(amount):
        granted = yield purse.want(amount, urgent=urgent)
        if not granted:
            return False
        purse.add(granted)
    return True


def _pay_and_ask(
    purse: Purse, questions: Sequence[Question], *, urgent: bool = False
) -> Needs[list[Reply] | None]:
    if not (yield from afford(purse, len(questions), urgent=urgent)):
        return None
    purse.pay(len(questions))
    return list((yield Ask(questions))) if questions else []


def _split(replies: Sequence[T], lengths: Iterable[int]) -> list[Sequence[T]]:
    parts, start = [], 0
    for length in lengths:
        parts.append(replies[start : start + length])
        start += length
    return parts


def _together(stories: Sequence[Needs[None]]) -> Needs[None]:
    """Run several stories side by side, asking their questions in common."""
    asking: dict[int, Ask] = {}

    def advance(i: int, sent: list[Reply] | None) -> Needs[None]:
        asking.pop(i, None)
        try:
            event = stories[i].send(sent)
            while not isinstance(event, Ask):
                event = stories[i].send((yield event))
            asking[i] = event
        except StopIteration:
            return

    for i in range(len(stories)):
        yield from advance(i, None)
    while asking:
        order = sorted(asking)
        lengths = [len(asking[i].questions) for i in order]
        replies = yield Ask([q for i in order for q in asking[i].questions])
        for i, part in zip(order, _split(replies, lengths)):
            yield from advance(i, list(part))
