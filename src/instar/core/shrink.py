"""The smallest change that still fails, found with few questions and confirmed like any finding."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from instar.core.case import observe
from instar.core.digest import digest
from instar.core.errors import BadInput
from instar.core.relation import Change, Inapplicable, Relation
from instar.core.replay import Asking
from instar.core.scene import Observation
from instar.core.search import shrink
from instar.core.system import Reply
from instar.core.verdict import Status, Verdict

__all__ = ["MOST_QUESTIONS", "Shrunk", "shrink_case", "words_of"]

MOST_QUESTIONS = 60
STEPS = 200  # of a severity: finer ones are not looked for


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

    What is found must recur under every `again`, as in a campaign.
    """
    relation = _with_smaller(relation, source, change)
    trial = _Trial(relation, source, frozenset(findings), asking, most, change)
    verdict = trial.verdict_on(change)
    if verdict.status is not Status.VIOLATED:
        raise BadInput("the case does not fail any more, so there is nothing to shrink; see instar replay")
    complete = True
    try:
        while not trial.searched_through(change):
            pass
    except _NoMoreQuestions:
        complete = False
    return Shrunk(trial.smallest, trial.verdict_on(trial.smallest), trial.questions, complete)


def words_of(relation: Relation, shrunk: Shrunk) -> str:
    """What was needed, in words."""
    what = f"breaks at {shrunk.change}" if relation.at is not None else f"{shrunk.change} suffices"
    return what if shrunk.complete else f"{what}; the questions ended before less was tried"


class _NoMoreQuestions(Exception):
    """The next question would be one too many."""


class _DoesNotRecur(Exception):
    """What the search went on from is not to be believed."""


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

    def searched_through(self, change: Change) -> bool:
        """One search from the change on; False where it went on from something that does not recur.

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

    def _smaller(self, source: Observation, change: Change) -> Iterable[Change | Sequence[Change]]:
        assert self.relation.smaller is not None
        if not self._is_believed(change):
            self.wary = True
            raise _DoesNotRecur
        if change not in self.followed:
            self.followed.add(change)
            self.smallest = change
        return self.relation.smaller(source, change)

    def _is_believed(self, change: Change) -> bool:
        """Whether a finding shows under every condition that must not matter; if not, the change holds."""
        if change not in self.confirmed:
            conditions = self.relation.again(self.source, change) if self.relation.again is not None else ()
            if any(self._compared(one).status is not Status.VIOLATED for one in conditions):
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
            self._is_believed(change)
        return self.verdicts[change]

    def _compared(self, change: Change) -> Verdict:
        made = self.relation.apply(self.source.input, change)
        if isinstance(made, Inapplicable):
            return Verdict.inapplicable(made.reason)
        follow_ups: list[Observation] = []
        for one, reply in zip(made, self._replies(made)):
            seen = observe(self.relation, self.source, one, reply)
            if isinstance(seen, str):
                return Verdict.failed(seen)
            follow_ups.append(seen)
        verdict = self.relation.check(self.source, follow_ups, change)
        shown = {finding.key for finding in verdict.findings}
        return verdict if shown & self.findings else Verdict.held(abs(verdict.margin))

    def _replies(self, inputs: Sequence[Any]) -> list[Reply]:
        """The answers to these; nothing is asked twice."""
        names = [digest(one) for one in inputs]
        unknown = {name: one for name, one in zip(names, inputs) if name not in self.known}
        if self.questions + len(unknown) > self.most:
            raise _NoMoreQuestions
        if unknown:
            self.known |= dict(zip(unknown, self.asking(list(unknown.values()))))
        return [self.known[name] for name in names]


def _with_smaller(relation: Relation, source: Observation, change: Change) -> Relation:
    """The relation with `smaller`; one that has only a severity gets less and less of it."""
    if relation.smaller is not None:
        return relation
    if relation.at is None:
        raise BadInput(f"relation {relation.name!r} cannot shrink: it has neither smaller() nor at()")
    level_of = _severity_field(relation.at, source, change)
    return dataclasses.replace(relation, smaller=_less_severe(relation.at, level_of))


def _severity_field(at: Callable[..., Any], source: Observation, change: Change) -> str:
    """The field of a change that is its severity: the one from which `at` makes it again."""
    for field in dataclasses.fields(change):
        value = getattr(change, field.name)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and at(source, value) == change:
            return field.name
    raise BadInput("it cannot shrink: at() does not make this change from any of its numbers")


def _less_severe(at: Callable[..., Any], field: str) -> Callable[[Observation, Any], Iterator[list[Change]]]:
    def smaller(source: Observation, change: Any) -> Iterator[list[Change]]:
        level = float(getattr(change, field))
        made = [at(source, level * step / STEPS) for step in range(1, STEPS)]
        line = [one for one in made if isinstance(one, Change) and getattr(one, field) != level]
        yield list(dict.fromkeys(line))

    return smaller
