"""Referees: other systems of the same task that say what is there, where no annotation does.

A finding that stood is shown to them: the source and the follow-up. The task decides what their answers mean
(see `Task.verify`). Their questions are no part of the budget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from instar.core.case import Ask, Case, Steps
from instar.core.follow_up import FollowUp, observe
from instar.core.scene import Observation
from instar.core.system import Reply, System
from instar.core.task import Opinion, Task
from instar.core.verdict import Finding, Verdict


@dataclass(frozen=True, eq=False)
class Referee:
    """A system that is asked for its opinion; `labels` maps its labels to those of the system under test."""

    system: System
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.system.name


def verify_findings(cases: Sequence[Case], referees: Sequence[Referee]) -> Steps[None]:
    """Say what is known about the findings of these cases; strike out what the change is to blame for."""
    for case in cases:
        case.verify()
        _strike_unfair(case)
    open_ones = [case for case in cases if any(_is_open(finding) for finding in case.findings)]
    if not (open_ones and referees):
        return
    asked = [(case, one) for case in open_ones for one in (FollowUp(case.state.source.input), case.shown)]
    queries = [replace(one.query(), referee=referee.name) for referee in referees for _, one in asked]
    replies = yield Ask(queries)
    opinions: list[list[Opinion]] = [[] for _ in open_ones]
    for number, referee in enumerate(referees):
        own = replies[number * len(asked) : (number + 1) * len(asked)]
        for case, pair, heard in zip(open_ones, zip(own[::2], own[1::2]), opinions):
            opinion = _opinion(referee, case.state.task, case.state.source, case.shown, *pair)
            if opinion is not None:
                heard.append(opinion)
    for case, heard in zip(open_ones, opinions):
        if heard:
            case.verify(heard)
            _strike_unfair(case)


def _is_open(finding: Finding) -> bool:
    """Whether referees can say anything more: what it is worth, or whether they see what was `pasted`."""
    return finding.is_failure and (finding.known == "unknown" or "pasted" in finding.evidence)


def _opinion(
    referee: Referee, task: Task, source: Observation, shown: FollowUp, *replies: Reply
) -> Opinion | None:
    """What a referee finds in both pictures, in the source's frame; None where it cannot say."""
    before = observe(task, source, [FollowUp(source.input)], replies[:1])
    if isinstance(before, str):
        return None
    both = observe(task, replace(source, answer=before.follow_ups[0].answer), [shown], replies[1:])
    if isinstance(both, str):
        return None
    knows = getattr(referee.system, "classes", None)
    return Opinion(referee.name, both.befores[0], both.follow_ups[0].answer, referee.labels, knows)


def _strike_unfair(case: Case) -> None:
    """Strike out findings that the change is to blame for; a case that has no others counts as held."""
    fair = replace(Verdict.held(), kind="unfair")
    case.strike(lambda finding: "unfair" if finding.known == "unfair" else "", fair)
