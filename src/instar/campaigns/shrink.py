"""The smallest change that still fails, found with few questions and confirmed like any finding."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from instar.core.change import Change, Inapplicable, wrap
from instar.core.errors import BadInput
from instar.core.follow_up import Asking, FollowUp, follow_ups_of, judge, observe, under_null
from instar.core.relation import Relation
from instar.core.scene import Observation
from instar.core.search import shrink
from instar.core.system import Reply
from instar.core.task import Null
from instar.core.verdict import Status, Verdict

MOST_QUESTIONS = 60


@dataclass(frozen=True, slots=True, eq=False)
class Shrunk:
    """The smallest change found, the verdict on it, and how many questions were asked.

    `complete` is False when the questions were used up before every smaller change had been tried.
    """

    change: Change
    verdict: Verdict
    questions: int
    complete: bool


def shrink_case(
    relation: Relation,
    source: Observation,
    change: Change,
    findings: Iterable[tuple[str, str]],
    asking: Asking,
    *,
    most: int = MOST_QUESTIONS,
) -> Shrunk:
    """From a failing change to the smallest that shows one of the same `findings` (kind and subject).

    What is found must recur under every condition of its task, as in a campaign.
    """
    if relation.smaller is None and relation.severity is None:
        raise BadInput(f"relation {relation.name!r} cannot shrink: it has neither smaller() nor a severity")
    trial = _Trial(relation, source, frozenset(findings), asking, most, change)
    verdict = trial.verdict_on(change)
    if verdict.status is not Status.VIOLATED:
        raise BadInput("the case does not fail any more, so there is nothing to shrink; see instar replay")
    complete = True
    try:
        while not trial.search_from(change):
            pass
    except _NoMoreQuestions:
        complete = False
    return Shrunk(trial.smallest, trial.verdict_on(trial.smallest), trial.questions, complete)


def format_shrunk(relation: Relation, shrunk: Shrunk) -> str:
    """What was needed, in words."""
    what = f"breaks at {shrunk.change}" if relation.severity is not None else f"{shrunk.change} suffices"
    return what if shrunk.complete else f"{what}; the questions ended before less was tried"


class _NoMoreQuestions(Exception):
    """The limit of questions is reached."""


class _DoesNotRecur(Exception):
    """A change that the search followed turned out not to recur."""


@dataclass(eq=False)
class _Trial:
    """What is known so far.

    At first only a change that the search goes on from is asked under every condition that must not matter;
    once such a one does not recur, every change that fails is.
    """

    relation: Relation
    source: Observation
    findings: frozenset[tuple[str, str]]
    asking: Asking
    most: int
    smallest: Change
    known: dict[str, Reply] = dataclasses.field(default_factory=dict)
    verdicts: dict[Change, Verdict] = dataclasses.field(default_factory=dict)
    confirmed: set[Change] = dataclasses.field(default_factory=set)
    followed: set[Change] = dataclasses.field(default_factory=set)
    wary: bool = False

    def __post_init__(self) -> None:
        self.confirmed.add(self.smallest)

    @property
    def questions(self) -> int:
        return len(self.known)

    def search_from(self, change: Change) -> bool:
        """Search from a change; False where the search followed one that does not recur.

        That is then known to hold, and all else that was asked is known too, so that the next search goes
        another way at once.
        """
        relation = dataclasses.replace(self.relation, smaller=self._smaller)
        search = shrink(change, at_once=1)(relation, self.source, np.random.default_rng(0))
        try:
            (one,) = next(search)
            while True:
                (one,) = search.send([self.verdict_on(one)])
        except (StopIteration, _DoesNotRecur) as end:
            return isinstance(end, StopIteration)

    def _smaller(self, source: Observation, given: Any) -> Iterable[Change | Sequence[Change]]:
        # As it was proposed: `given` is the bare value, without its unit.
        change = next(one for one in self.verdicts if one == wrap(given))
        if not self._is_confirmed(change):
            self.wary = True
            raise _DoesNotRecur
        if change not in self.followed:
            self.followed.add(change)
            self.smallest = change
        return list(self.relation.lesser(source, change))

    def _is_confirmed(self, change: Change) -> bool:
        """Whether a finding shows under every condition that must not matter; if not, the change holds."""
        if change not in self.confirmed:
            nulls = self.relation.resolved_task.nulls
            conditions = nulls.conditions if nulls is not None else ()
            if any(self._compared(change, one).status is not Status.VIOLATED for one in conditions):
                self.verdicts[change] = Verdict.held(abs(self.verdicts[change].margin))
                return False
            self.confirmed.add(change)
        return True

    def verdict_on(self, change: Change | Inapplicable) -> Verdict:
        """The bare comparison; violated only where it shows one of the findings."""
        if isinstance(change, Inapplicable):
            return Verdict.inapplicable(change.reason)
        if change not in self.verdicts:
            self.verdicts[change] = self._compared(change)
        if self.wary and self.verdicts[change].status is Status.VIOLATED:
            self._is_confirmed(change)
        return self.verdicts[change]

    def _compared(self, change: Change, condition: Null | None = None) -> Verdict:
        task = self.relation.resolved_task
        made = follow_ups_of(self.relation, self.source.input, change)
        if isinstance(made, Inapplicable):
            return Verdict.inapplicable(made.reason)
        with_source = False
        if condition is not None and task.nulls is not None:
            made, with_source = under_null(task, condition, made, self.source.input), task.nulls.with_source
        seen = observe(task, self.source, made, self._replies(made), with_source=with_source)
        if isinstance(seen, str):
            return Verdict.failed(seen)
        verdict = judge(self.relation, seen, change)
        shown = {finding.key for finding in verdict.findings}
        return verdict if shown & self.findings else Verdict.held(abs(verdict.margin))

    def _replies(self, made: Sequence[FollowUp]) -> list[Reply]:
        """The answers to these; nothing is asked twice."""
        queries = [one.query() for one in made]
        unknown = {q.digest + q.variant: q for q in queries if q.digest + q.variant not in self.known}
        if self.questions + len(unknown) > self.most:
            raise _NoMoreQuestions
        if unknown:
            self.known |= dict(zip(unknown, self.asking(list(unknown.values()))))
        return [self.known[q.digest + q.variant] for q in queries]
