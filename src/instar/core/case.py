"""A case: a change of one source on its way to a verdict."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from typing import Any, Literal, TypeAlias, TypeVar

from instar.core.budget import Request
from instar.core.change import Change, Inapplicable, plain
from instar.core.follow_up import FindingKey, FollowUp, Query, Seen, follow_ups_of, judge, observe
from instar.core.marks import Panel, make_panels
from instar.core.record import Record, case_id
from instar.core.relation import Relation
from instar.core.scene import Observation
from instar.core.system import Reply
from instar.core.task import Null, Opinion, Task
from instar.core.verdict import Finding, Status, Verdict

T = TypeVar("T")

CASES_PER_NULL = 10
MOST_DRAWS = 20  # of null changes, until one is new


@dataclass(frozen=True, slots=True, eq=False)
class Ask:
    """Queries to answer, replies in the same order; `ahead` lists those that will probably come next."""

    queries: Sequence[Query]
    ahead: Callable[[], Iterable[Query]] = tuple


Steps: TypeAlias = Generator["Ask | Request", Any, T]
"""A generator that yields what it needs, replies or more budget, and returns a `T`."""


@dataclass(eq=False)
class SourceState:
    """What is known about one source between its cases, for all relations of its task.

    `fresh` draws null changes that measure false alarms, one for every ten cases, so that they take a tenth
    of the budget. `shown` says which of the strikers shows a finding, for each of the `tasks` (they
    compare with settings of their own); a task is missing there until they were asked. `failed` are tasks
    that cannot read one of the answers.
    """

    fresh: Callable[[], Null] | None = None
    strikers: Sequence[Null] = ()
    until_null: int = 0  # cases before the next null change
    nulls: list[Null] = field(default_factory=list)
    tasks: dict[int, Task] = field(default_factory=dict)
    shown: dict[int, dict[FindingKey, str]] = field(default_factory=dict)
    failed: dict[int, Verdict] = field(default_factory=dict)

    def count(self, case: Case) -> None:
        """Take note of a case that will be asked."""
        self.until_null -= case.role == "case" and not case.decided

    def null_due(self) -> Null | None:
        """A null change that was not asked yet, when it is time for one."""
        if self.fresh is None or self.until_null > 0:
            return None
        self.until_null = CASES_PER_NULL
        for _ in range(MOST_DRAWS):
            null = self.fresh()
            if null not in self.nulls:
                self.nulls.append(null)
                return null
        self.fresh = None  # there are no others
        return None

    def knows(self, task: Task) -> bool:
        """Whether the strikers were asked for this task."""
        return id(task) in self.shown


@dataclass(eq=False)
class RelationState:
    """One relation on one source: what is known between its cases."""

    relation: Relation
    source: Observation
    of_source: SourceState = field(default_factory=SourceState)
    taken: int = 0  # cases so far; the next ordinal
    judged: dict[bytes, Verdict] = field(default_factory=dict)  # by change, where rounds may come back to it

    @property
    def task(self) -> Task:
        return self.relation.resolved_task


@dataclass(eq=False)
class Case:
    """A change on its way to a verdict.

    `width` is its number of follow-ups. The pictures themselves are let go whenever the case has to
    wait, and made again: thousands of scenes may be waiting for budget at once.
    """

    state: RelationState
    ordinal: int
    change: Change | None
    role: Literal["case", "null"] = "case"
    made: tuple[FollowUp, ...] = ()
    width: int = 0
    verdict: Verdict | None = None
    queries: int = 0
    naturalness: float | None = None
    struck: list[dict[str, Any]] = field(default_factory=list)
    replies: Sequence[Reply] = ()  # while a finding is checked
    panels: Sequence[Panel] = ()  # of a finding that stood

    @classmethod
    def of(cls, state: RelationState, drawn: Change | Inapplicable) -> Case:
        """A case with its follow-ups made, or decided already when none could be made."""
        role: Literal["case", "null"] = "null" if isinstance(drawn, Null) else "case"
        ordinal = -len(state.of_source.nulls)
        if role == "case":
            ordinal, state.taken = state.taken, state.taken + 1
        if isinstance(drawn, Inapplicable):
            return cls(state, ordinal, None, verdict=Verdict.inapplicable(drawn.reason))
        made = follow_ups_of(state.relation, state.source.input, drawn)
        if isinstance(made, Inapplicable):
            return cls(state, ordinal, drawn, role, verdict=Verdict.inapplicable(made.reason))
        return cls(state, ordinal, drawn, role, made=made, width=len(made))

    @property
    def decided(self) -> bool:
        return self.verdict is not None

    @property
    def violated(self) -> bool:
        return self.verdict is not None and self.verdict.status is Status.VIOLATED

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.verdict.findings if self.verdict else ()

    @property
    def repeat(self) -> int:
        """A null change may give back the very picture of the source, which is then asked a second time."""
        return 1 if self.role == "null" else 0

    def worst_cost(self) -> int:
        """The most queries that this case can need, its checks included."""
        return 0 if self.decided else self.width + self.cost_of_checks()

    def cost_of_checks(self) -> int:
        state, nulls = self.state, self.state.task.nulls
        cost = 0
        if nulls is not None:
            cost += 0 if state.of_source.knows(state.task) else len(state.of_source.strikers)
            cost += len(nulls.conditions) * (self.width + nulls.with_source)
        if state.relation.placebo is not None and self.role == "case":
            cost += self.width
        return cost

    def follow_ups(self) -> tuple[FollowUp, ...]:
        """The follow-ups; apply is pure, so they are the same each time."""
        if not self.made:
            assert self.change is not None
            made = follow_ups_of(self.state.relation, self.state.source.input, self.change)
            assert not isinstance(made, Inapplicable)
            self.made = made
        return self.made

    def let_go(self) -> None:
        self.made = ()

    def judge(self, replies: Sequence[Reply]) -> None:
        """Decide by what was answered, before any check."""
        assert self.change is not None
        seen = observe(self.state.task, self.state.source, self.follow_ups(), replies)
        self.queries = self.width
        self.verdict = (
            Verdict.failed(seen) if isinstance(seen, str) else judge(self.state.relation, seen, self.change)
        )
        self.replies = replies if self.violated else ()
        self.let_go()

    @property
    def shown(self) -> FollowUp:
        """The follow-up that stands for the case."""
        return self.follow_ups()[0]

    def verify(self, opinions: Sequence[Opinion] = ()) -> None:
        """Say what is known about each finding, and what those who were asked call it."""
        assert self.verdict is not None
        seen, task = self._seen(), self.state.task
        verdict = self.verdict.verified(
            lambda finding: task.verify(seen.source, seen.follow_ups[0], finding, opinions)
        )
        named = tuple(task.name_finding(finding, opinions) for finding in verdict.findings)
        self.verdict = replace(verdict, findings=named)

    def strike(self, why: Callable[[Finding], str], otherwise: Verdict) -> None:
        """Strike out the findings for which there is a reason; `otherwise` is the verdict if none is left."""
        gone = [(finding, by) for finding in self.findings if (by := why(finding))]
        if not gone:
            return
        assert self.verdict is not None
        self.struck += [
            {"kind": f.kind, "subject": f.subject, "margin": f.margin, "by": by} for f, by in gone
        ]
        kept = [finding for finding in self.findings if not why(finding)]
        left = Verdict.violated(kept) if kept else otherwise
        evidence = {**self.verdict.evidence, "struck": list(self.struck)}
        self.verdict = replace(left, evidence=evidence, margins=self.verdict.margins)

    def show(self) -> None:
        """Make the pictures of a finding, and its naturalness."""
        if self.role == "null":
            return
        assert self.change is not None
        assert self.verdict is not None
        seen, relation = self._seen(), self.state.relation
        self.panels = make_panels(self.state.task, seen.source, seen.follow_ups, self.change, self.verdict)
        if relation.naturalness is not None:
            case = (self.state.source, self.shown.input, plain(self.change))
            self.naturalness = float(relation.naturalness(*case))

    def _seen(self) -> Seen:
        seen = observe(self.state.task, self.state.source, self.follow_ups(), self.replies)
        assert not isinstance(seen, str)
        return seen

    def record(self, system: str) -> Record:
        assert self.verdict is not None
        # A null change belongs to the source, not to the relation that happened to come first.
        relation, source = self.state.relation.name if self.role == "case" else "", self.state.source
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


def split_replies(replies: Sequence[T], lengths: Iterable[int]) -> list[Sequence[T]]:
    sizes = list(lengths)
    return [replies[end - size : end] for size, end in zip(sizes, accumulate(sizes))]


def _all_ahead(asks: Sequence[Ask]) -> Iterator[Query]:
    return (query for one in asks for query in one.ahead())


def run_together(many: Sequence[Steps[None]]) -> Steps[None]:
    """Run several side by side, with their queries asked together."""
    asking: dict[int, Ask] = {}

    def advance(i: int, sent: list[Reply] | None) -> Steps[None]:
        asking.pop(i, None)
        try:
            event = many[i].send(sent)
            while not isinstance(event, Ask):
                event = many[i].send((yield event))
            asking[i] = event
        except StopIteration:
            return

    for i in range(len(many)):
        yield from advance(i, None)
    while asking:
        order = sorted(asking)
        lengths = [len(asking[i].queries) for i in order]
        every = [asking[i] for i in order]
        replies = yield Ask([q for one in every for q in one.queries], partial(_all_ahead, every))
        for i, part in zip(order, split_replies(replies, lengths)):
            yield from advance(i, list(part))
