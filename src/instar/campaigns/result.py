"""What a run found, counted once for every kind of report; and what of it makes a command fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from instar.campaigns.dismissals import dismisser_in, said_in
from instar.campaigns.plan import Plan, code_named_by, make_plan, uses_of
from instar.campaigns.run import read_totals
from instar.core.campaign import AnswerKey
from instar.core.errors import InstarError, RunError
from instar.core.outcome import ALL_HELD, NOT_JUDGED, VIOLATED
from instar.core.record import Record, Totals
from instar.core.system import Limits
from instar.report.by_scene import ByScene, FailureObject, is_in, list_keys
from instar.report.causes import Failure
from instar.report.comparison import Comparison, Side, compare_runs
from instar.report.document import summary_to_json
from instar.report.figures import Figures
from instar.report.gate import FailCondition, numbers_of
from instar.report.groups import Group, GroupMember, group_members
from instar.report.known import Against, Known, compare_with_known, dismisser
from instar.report.summary import Summary, summarise
from instar.report.text import render_text
from instar.report.text_style import PLAIN, TextStyle
from instar.report.words import counted
from instar.store import RunStore
from instar.user_file import parse_toml

ROUNDED = 10  # questions that may be left because no case fits into them any more


@dataclass(frozen=True, slots=True)
class Gate:
    """What makes a run count as failed: conditions, and what is known of its failures.

    Those of `known` are forgiven. What it, or a word in the run itself, calls no failure is none.
    """

    conditions: tuple[FailCondition, ...] = ()
    known: Known | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RunResult:
    """Everything that was counted in a run, and the exit status that follows."""

    summary: Summary
    figures: Figures
    scenes: ByScene
    groups: Sequence[Group]
    against: Against | None
    met: tuple[FailCondition, ...]
    status: int

    def text(self, look: TextStyle = PLAIN, *, brief: bool = False) -> str:
        parts = [render_text(self.summary, self.groups, look=look, brief=brief)]
        if self.against is not None:
            parts.append("\n".join(_told(self.against)))
        if self.met:
            parts.append(f"Failed by {', '.join(map(str, self.met))}")
        return "\n\n".join(part.rstrip("\n") for part in parts)

    def document(self) -> dict[str, Any]:
        document = summary_to_json(self.summary) | {"groups": [_group_json(group) for group in self.groups]}
        if self.against is not None:
            document["known"] = {
                name: [key._asdict() for key in getattr(self.against, name)]
                for name in ("new", "known", "fixed", "unseen", "untried")
            }
        return document | {"failed_by": [str(condition) for condition in self.met]}


def read_result(store: RunStore, gate: Gate | None = None) -> RunResult:
    """One pass over the records: there may be a million."""
    gate = gate or Gate()
    figures, scenes = Figures(), ByScene()
    totals = read_totals(store)
    dismiss = dismisser_in(store, () if gate.known is None else gate.known.dismissals)
    members: list[GroupMember] = []

    def watch() -> Iterator[Record]:
        for record, recipe in store.counted():
            record = dismiss(record)
            if record.role == "case" and record.verdict.failures:
                members.append(GroupMember.of(Failure(record, recipe)))
            yield record

    summary = summarise(scenes.watch(figures.watch(watch())), totals)
    figures.note_levels(store.levels(), {one.case for one in summary.findings if one.headline})
    summary = replace(summary, ended=_why_ended(store, summary), names_code=_names_code(store))
    if summary.scenes_judged > summary.totals.scenes:
        raise RunError(f"cannot read {store.folder}: it judged scenes that were never asked; it is damaged")
    groups = group_members(members, store.tried())
    against = None
    if gate.known is not None:
        left = gate.known.merge(said_in(store)).failures_left(totals.system)
        against = compare_with_known(scenes, left, partial(_is_seen, store))
    if against is not None and summary.why_not_judged:
        against = against.where_nothing_was_judged()
    numbers = numbers_of(summary, groups, against)
    met = tuple(condition for condition in gate.conditions if condition.met(numbers))
    status = VIOLATED if summary.counts.headline else ALL_HELD
    if summary.why_not_judged:
        status = NOT_JUDGED
    if status == VIOLATED and against is not None and not against.new:
        status = ALL_HELD
    if gate.conditions and status in (ALL_HELD, VIOLATED):
        status = VIOLATED if met else ALL_HELD
    return RunResult(summary, figures, scenes, groups, against, met, status)


def _is_seen(store: RunStore, source: str, thing: FailureObject) -> bool:
    """Whether the system finds in a source what a failure is about; True where its answer does not tell."""
    digest = store.source_digest(source)
    reply = None if digest is None else store.answer(AnswerKey(store.fingerprint(), digest, 0))
    return reply is None or is_in(reply.answer, thing)


def names_code(run: str) -> bool:
    """Whether the plan of a run names code of the user's own: then `--trust` lets it be imported."""
    with RunStore.read(run) as store:
        return _names_code(store)


def _names_code(store: RunStore) -> bool:
    plan = plan_of(store)
    return plan is not None and any(code_named_by(use) for _, use in uses_of(plan))


def plan_of(store: RunStore) -> Plan | None:
    """The plan of a run; None where it has none that can be read."""
    try:
        return make_plan(parse_toml(store.plan()), complete=False)
    except InstarError:
        return None


def _why_ended(store: RunStore, summary: Summary) -> str:
    """Why there are fewer questions than the plan allowed, or fewer scenes; empty where there are not."""
    plan, totals = plan_of(store), summary.totals
    limits = Limits() if plan is None else plan.limits
    spent = f"{totals.queries:,} questions"
    if limits.queries is not None:
        spent = f"{totals.queries:,} of {limits.queries:,} questions"
    if not totals.finished:
        if limits.seconds is not None and totals.seconds >= limits.seconds:
            return f"Ended after {spent}: its {limits.seconds:g} s were over"
        return (
            f"Not complete, after {spent}: it is under way, was interrupted, or the system failed too often"
        )
    if summary.is_failing:
        return ""  # more pictures would fail as well
    if limits.queries is not None and totals.queries < limits.queries - ROUNDED:
        return f"Ended after {spent}: nothing was left to try; more pictures or relations give more"
    return ""


def compare_folders(first: str, second: str, known: Known | None = None) -> Comparison:
    """What changed from one run to another. What was called no failure of either system is none of both: were
    it none of one only, the other would seem to have broken or mended it.
    """
    with RunStore.read(first) as before, RunStore.read(second) as after:
        totals = {store: read_totals(store) for store in (before, after)}
        stores = {store: one.system for store, one in totals.items()}
        said = (known or Known()).merge(said_in(before)).merge(said_in(after))
        ours = [replace(word, system="") for word in said.dismissals if word.system in stores.values()]
        dismiss = dismisser(ours, "")
        sides = [
            Side.of(system, ((dismiss(record), change) for record, change in store.judged()))
            for store, system in stores.items()
        ]
    return replace(compare_runs(*sides), remark=_who_judged(*totals.values()))


def _who_judged(before: Totals, after: Totals) -> str:
    """A warning where the runs had different referees: the difference may be theirs, not the systems'."""
    asked = [{name for name, why in one.referees.items() if not why} for one in (before, after)]
    told = [", ".join(sorted(names)) or "nobody" for names in asked]
    return "" if asked[0] == asked[1] else f"failures were judged by {told[0]} before, and by {told[1]} now"


def _group_json(group: Group) -> dict[str, Any]:
    return {
        "title": group.title,
        "relation": group.relation,
        "kind": group.kind,
        "violations": len(group.cases),
        "scenes": group.scenes,
        "representative": group.representative,
    }


def _told(against: Against) -> list[str]:
    new, known = counted(len(against.new), "new failure"), counted(len(against.known), "known failure")
    lines = [f"{new}, {known}, {len(against.fixed):,} fixed, {len(against.untried):,} not tried again"]
    if against.unseen:
        lines[0] += f", {len(against.unseen):,} about what is not found any more"
    return [
        *lines,
        *(
            line
            for keys, title in ((against.new, "new: "), (against.fixed, "fixed: "))
            for line in list_keys(keys, title, among=against.things)
        ),
    ]
