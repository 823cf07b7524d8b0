"""Confirmation: ask the follow-ups, compare, and keep a finding only when it stands.

Everything here is a generator that yields what it needs (`Ask`, or `Request` when its budget is empty) and
is sent the replies. Whoever drives it decides where and in what batches a system is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from instar.core.budget import Budget
from instar.core.case import Ask, Case, RelationState, Steps, run_together, split_replies
from instar.core.change import Change, Inapplicable, plain, wrap
from instar.core.digest import digest
from instar.core.follow_up import FindingKey, FollowUp, Query, Seen, follow_ups_of, judge, observe, under_null
from instar.core.record import Repeat
from instar.core.referees import Referee, verify_findings
from instar.core.system import Reply
from instar.core.task import Null, Task
from instar.core.verdict import Verdict

Ahead: TypeAlias = Callable[[], Iterable[Query]]

AGAIN = 1_000_000  # the repeat number of a source that is asked again


def decide(
    budget: Budget,
    cases: Sequence[Case],
    referees: Sequence[Referee] = (),
    to_ask_again: Sequence[RelationState] = (),
) -> Steps[bool]:
    """Decide the cases; False when the budget ended before all were asked and their findings checked.

    Several cases at once only where the budget can pay for the worst of each: then nobody has to wait
    in the middle, and the outcome is that of judging them one after the other.
    """
    undecided = [case for case in cases if not case.decided]
    cost = sum(case.width for case in undecided)
    if budget.lacks(cost):
        for case in undecided:
            case.let_go()
    if not (yield from afford(budget, cost)):
        return False
    replies = yield from _pay_and_ask(
        budget,
        [one.query(case.repeat) for case in undecided for one in case.follow_ups()],  # let go when asked
        ahead=partial(_likely_next, undecided, to_ask_again),
    )
    for case, part in zip(undecided, split_replies(replies or [], [case.width for case in undecided])):
        case.judge(part)
    suspects = [case for case in undecided if case.violated]
    paid = yield from _confirm_all(budget, suspects)
    yield from verify_findings([case for case in suspects if case.violated], referees)
    for case in suspects:
        if case.violated:
            case.show()
        case.replies = ()
        case.let_go()
    return paid


def _likely_next(cases: Sequence[Case], to_ask_again: Sequence[RelationState]) -> Iterator[Query]:
    """What will probably be asked next: the null changes of the sources, and the sources once more."""
    for state in {id(case.state.of_source): case.state for case in cases}.values():
        if not state.of_source.knows(state.task):
            yield from _anew([one for _, one in _strikers(state)], Counter(), first=2)
    yield from (FollowUp(state.source.input).query(AGAIN) for state in to_ask_again)


def ask_again(budget: Budget, states: Sequence[RelationState]) -> Steps[list[Repeat]]:
    """Ask sources once more just as they are: a system that then says something else is not deterministic."""
    same = [FollowUp(state.source.input) for state in states]
    replies = yield from _pay_and_ask(budget, [one.query(AGAIN) for one in same])
    repeats = []
    for state, one, reply in zip(states, same, replies or ()):
        seen = observe(state.task, state.source, [one], [reply])
        if isinstance(seen, str):
            repeats.append(Repeat(identical=False, contradicts=True))
        else:
            identical = digest(state.source.answer) == digest(seen.follow_ups[0].answer)
            repeats.append(Repeat(identical, contradicts=bool(_findings_by_nulls(state.task, seen))))
    return repeats


def _confirm_all(budget: Budget, suspects: Sequence[Case]) -> Steps[bool]:
    """Strike out what null changes show too and what does not recur; False when the budget ended."""
    checked = []
    for case in suspects:
        # In a batch of several the budget is known to suffice, so only a lone case ever waits here.
        if not (yield from afford(budget, case.cost_of_checks(), urgent=True)):
            _leave_unconfirmed(case)
            continue
        state, task = case.state.of_source, case.state.task
        if task.nulls is not None:
            if not state.knows(task):
                yield from _ask_nulls(budget, case)
            if id(task) in state.failed:
                _give_up(case, state.failed[id(task)], "failed")
                continue
            if not state.knows(task):
                _leave_unconfirmed(case)
                continue
            shown = state.shown[id(task)]
            by = {f.key: f"null {shown[f.key]}" for f in case.findings if f.key in shown}
            _strike(case, by, "null changes show it too")
        checked.append(case)
    yield from run_together([_confirm(budget, case) for case in checked])
    return not any(case.verdict is not None and case.verdict.kind == "unconfirmed" for case in suspects)


def _ask_nulls(budget: Budget, case: Case) -> Steps[None]:
    """Learn every finding that a null change of this source shows by itself, for all of its tasks."""
    state, source, usable = case.state.of_source, case.state.source, _strikers(case.state)
    queries = _anew([one for _, one in usable], Counter(), first=2)
    replies = yield from _pay_and_ask(budget, queries, urgent=True)
    if replies is None:
        return
    case.queries += len(queries)
    unknown = {number: task for number, task in state.tasks.items() if not state.knows(task)}
    state.shown |= {number: {} for number in unknown}
    for (null, one), reply in zip(usable, replies):
        for number, task in unknown.items():
            seen = observe(task, source, [one], [reply])
            if isinstance(seen, str):  # then nobody knows what it would have shown
                state.failed[number] = Verdict.failed(seen)
            else:
                for finding in _findings_by_nulls(task, seen):
                    state.shown[number].setdefault(finding, str(null))


def _strikers(state: RelationState) -> list[tuple[Null, FollowUp]]:
    """The null changes of a source that can be made, each with its follow-up."""
    nulls, source = state.of_source.strikers, state.source.input
    made = [(null, follow_ups_of(state.relation, source, null)) for null in nulls]
    return [(null, one[0]) for null, one in made if not isinstance(one, Inapplicable)]


def _findings_by_nulls(task: Task, seen: Seen) -> list[FindingKey]:
    verdict = task.compare(replace(seen.source, answer=seen.befores[0]), seen.follow_ups[0])
    return [finding.key for finding in verdict.findings]


def _confirm(budget: Budget, case: Case) -> Steps[None]:
    """Ask the follow-ups again under conditions that must not matter, then the placebo."""
    state, relation, nulls = case.state, case.state.relation, case.state.task.nulls
    before: Counter[str] = Counter()
    conditions = nulls.conditions if nulls is not None else ()
    for n, condition in enumerate(conditions):
        if not case.findings:
            return
        verdict = yield from _once_more(budget, case, condition, before, conditions[n + 1 :])
        if verdict is None:
            return _leave_unconfirmed(case)
        if verdict.status is verdict.status.FAILED:
            return _give_up(case, verdict, "failed")
        recurring = {finding.key for finding in verdict.findings}
        gone = {f.key: f"again under {condition}" for f in case.findings if f.key not in recurring}
        _strike(case, gone, "it does not recur")
    if relation.placebo is not None and case.role == "case" and case.findings:
        assert case.change is not None
        placebo = wrap(relation.placebo(state.source, plain(case.change)))
        yield from _ask_placebo(budget, case, placebo, before)


def _once_more(
    budget: Budget, case: Case, condition: Null, before: Counter[str], after: Sequence[Null]
) -> Steps[Verdict | None]:
    """The verdict under a condition; None when the budget ended. Those `after` it are asked later."""
    state = case.state

    def make(null: Null) -> Sequence[FollowUp]:
        return under_null(state.task, null, case.follow_ups(), state.source.input)

    made = make(condition)
    case.let_go()
    first = case.repeat + 1
    replies = yield from _ask_again(
        budget,
        case,
        made,
        before,
        lambda: [one for null in after for one in _anew(make(null), Counter(), first=first)],
    )
    if replies is None:
        return None
    assert case.change is not None
    assert state.task.nulls is not None
    seen = observe(state.task, state.source, made, replies, with_source=state.task.nulls.with_source)
    return Verdict.failed(seen) if isinstance(seen, str) else judge(state.relation, seen, case.change)


def _ask_placebo(
    budget: Budget, case: Case, placebo: Change | Inapplicable, before: Counter[str]
) -> Steps[None]:
    """Note which findings also show under a change that only looks like the real one."""
    state = case.state
    if isinstance(placebo, Inapplicable):
        return
    made = follow_ups_of(state.relation, state.source.input, placebo)
    if isinstance(made, Inapplicable):
        return
    replies = yield from _ask_again(budget, case, made, before)
    seen = "" if replies is None else observe(state.task, state.source, made, replies)
    if isinstance(seen, str):
        return
    assert case.verdict is not None
    shown = {finding.key for finding in judge(state.relation, seen, placebo).findings}
    recurs = sorted(list(finding.key) for finding in case.findings if finding.key in shown)
    case.verdict = replace(case.verdict, evidence={**case.verdict.evidence, "placebo": {"recurs": recurs}})


def _ask_again(
    budget: Budget, case: Case, made: Sequence[FollowUp], before: Counter[str], ahead: Ahead = tuple
) -> Steps[list[Reply] | None]:
    queries = _anew(made, before, first=case.repeat + 1)
    replies = yield from _pay_and_ask(budget, queries, urgent=True, ahead=ahead)
    case.queries += len(queries) if replies is not None else 0
    return replies


def _strike(case: Case, gone: Mapping[FindingKey, str], why: str) -> None:
    """Leave only the findings that are not gone; a case that has none left is unstable."""
    unstable = Verdict.inapplicable(f"unstable: {why}", kind="unstable")
    case.strike(lambda finding: gone.get(finding.key, ""), unstable)


def _leave_unconfirmed(case: Case) -> None:
    reason = "the budget ended before it was confirmed"
    _give_up(case, Verdict.inapplicable(reason, kind="unconfirmed"), "unconfirmed")


def _give_up(case: Case, outcome: Verdict, why: str) -> None:
    """End a case whose checks could not be finished; its findings stay in the evidence."""
    case.strike(lambda finding: why, outcome)
    assert case.verdict is not None
    case.verdict = replace(case.verdict, margins={})  # searches learn nothing from it


def _anew(made: Iterable[FollowUp], before: Counter[str], *, first: int) -> list[Query]:
    """Queries that check a finding, numbered so that the same picture is really asked again: a remembered
    answer would hide a system that answers differently to the same question.
    """
    queries = []
    for one in made:
        query = one.query()
        queries.append(replace(query, repeat=first + before[query.digest]))
        before[query.digest] += 1
    return queries


def afford(budget: Budget, amount: int, *, urgent: bool = False) -> Steps[bool]:
    """Wait until the budget holds `amount`; False when it never will."""
    while budget.lacks(amount):
        granted = yield budget.request(amount, urgent=urgent)
        if not granted:
            return False
        budget.add(granted)
    return True


def _pay_and_ask(
    budget: Budget, queries: Sequence[Query], *, urgent: bool = False, ahead: Ahead = tuple
) -> Steps[list[Reply] | None]:
    if not (yield from afford(budget, len(queries), urgent=urgent)):
        return None
    budget.pay(len(queries))
    return list((yield Ask(queries, ahead))) if queries else []
