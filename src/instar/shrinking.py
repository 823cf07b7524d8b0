"""The smallest change that still fails, found with few questions and confirmed like any finding."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from instar.errors import BadInput
from instar.judge import observe
from instar.relation import Change, Inapplicable, Relation
from instar.replay import Asking
from instar.scene import Observation
from instar.search import shrink
from instar.verdict import Status, Verdict

__all__ = ["MOST_QUESTIONS", "Shrunk", "shrink_case", "words_of"]

MOST_QUESTIONS = 60
FINEST = 0.005  # of a severity: finer steps are not looked for


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
    trial = _Trial(_with_smaller(relation, source, change), source, frozenset(findings), asking)
    smallest, verdict = change, trial.verdict_on(change)
    if verdict.status is not Status.VIOLATED:
        raise BadInput("the case does not fail any more, so there is nothing to shrink; see instar replay")
    dearest = trial.questions * (1 + trial.conditions(change))
    search = shrink(change, at_once=1)(trial.relation, source, np.random.default_rng(0))
    sent: list[Verdict] | None = None
    while True:
        try:
            (one,) = next(search) if sent is None else search.send(sent)
        except StopIteration:
            return Shrunk(smallest, verdict, trial.questions, complete=True)
        if trial.questions + dearest > most:
            return Shrunk(smallest, verdict, trial.questions, complete=False)
        sent = [trial.confirmed(one)]
        if isinstance(one, Change) and sent[0].status is Status.VIOLATED:
            smallest, verdict = one, sent[0]


def words_of(relation: Relation, shrunk: Shrunk) -> str:
    """What was needed, in words."""
    what = f"breaks at {shrunk.change}" if relation.at is not None else f"{shrunk.change} suffices"
    return what if shrunk.complete else f"{what}; the questions ended before less was tried"


@dataclass(eq=False)
class _Trial:
    relation: Relation
    source: Observation
    findings: frozenset[tuple[str, str]]
    asking: Asking
    questions: int = 0

    def verdict_on(self, change: Change | Inapplicable) -> Verdict:
        """The bare comparison; violated only where it shows one of the findings."""
        if isinstance(change, Inapplicable):
            return Verdict.inapplicable(change.reason)
        made = self.relation.apply(self.source.input, change)
        if isinstance(made, Inapplicable):
            return Verdict.inapplicable(made.reason)
        self.questions += len(made)
        follow_ups: list[Observation] = []
        for one, reply in zip(made, self.asking(made)):
            seen = observe(self.relation, self.source, one, reply)
            if isinstance(seen, str):
                return Verdict.failed(seen)
            follow_ups.append(seen)
        verdict = self.relation.check(self.source, follow_ups, change)
        shown = {finding.key for finding in verdict.findings}
        return verdict if shown & self.findings else Verdict.held(abs(verdict.margin))

    def confirmed(self, change: Change | Inapplicable) -> Verdict:
        """The comparison; violated only where it recurs under every condition that must not matter."""
        verdict = self.verdict_on(change)
        if verdict.status is Status.VIOLATED and self.relation.again is not None:
            for one in self.relation.again(self.source, change):
                if self.verdict_on(one).status is not Status.VIOLATED:
                    return Verdict.held(abs(verdict.margin))
        return verdict

    def conditions(self, change: Change) -> int:
        return 0 if self.relation.again is None else len(tuple(self.relation.again(self.source, change)))


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


def _less_severe(at: Callable[..., Any], field: str) -> Callable[[Observation, Any], Iterator[Change]]:
    def smaller(source: Observation, change: Any) -> Iterator[Change]:
        level = float(getattr(change, field))
        less = level / 2
        tried = {level}
        while abs(less) >= FINEST * abs(level) and less:
            lower = at(source, level - less)
            if not isinstance(lower, Inapplicable) and getattr(lower, field) not in tried:
                tried.add(getattr(lower, field))
                yield lower
            less /= 2

    return smaller
