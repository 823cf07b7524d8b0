"""Failures that are known, and findings that users call no failure: a file that a team shares.

Both stand in one file, which `--known` takes. A known failure is forgiven and still counted; what was said to
be no failure is taken for one no more, in any run of the same system.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from instar.core.errors import BadInput
from instar.core.record import Record
from instar.core.verdict import NO_FAILURE, Finding, Status
from instar.report.by_scene import (
    ByScene,
    FailureKey,
    FailureObject,
    Failures,
    failure_key,
    failures_of,
    object_of,
    recogniser,
)  # fmt: skip
from instar.user_file import read_json

TITLE = "instar known failures"
FARTHEST = 1e9  # pixels; no box is that far out


@dataclass(frozen=True, slots=True)
class Dismissal:
    """A user's word that a finding of a system is no failure, and why."""

    key: FailureKey
    thing: FailureObject
    reason: str
    system: str


@dataclass(frozen=True, slots=True)
class Known:
    """What the file says."""

    failures: Failures = field(default_factory=dict)
    dismissals: Sequence[Dismissal] = ()

    def merge(self, other: Known) -> Known:
        """Both together; of two words about the same finding of a system the other one's is the last."""
        said = {(one.system, one.key): one for one in [*self.dismissals, *other.dismissals]}
        return Known({**self.failures, **other.failures}, tuple(said.values()))

    def failures_left(self, system: str) -> Failures:
        """Those that nobody has called no failure of this system."""
        find = recogniser({one.key: one.thing for one in self.dismissals if one.system == system})
        return {key: thing for key, thing in self.failures.items() if find(key, thing) is None}


@dataclass(frozen=True, slots=True)
class Against:
    """A run held against a baseline: `fixed` were tried again and are gone, `unseen` are gone because the
    system does not even find in the source what they are about, `untried` were not tried.

    `things` say what each of them is about.
    """

    new: tuple[FailureKey, ...]
    known: tuple[FailureKey, ...]
    fixed: tuple[FailureKey, ...]
    untried: tuple[FailureKey, ...]
    unseen: tuple[FailureKey, ...] = ()
    things: Failures = field(default_factory=dict)

    def where_nothing_was_judged(self) -> Against:
        """A system that cannot be judged has broken nothing and mended nothing."""
        rest = tuple(sorted((*self.fixed, *self.unseen, *self.untried)))
        return Against((), self.known, (), rest, (), self.things)


def entries_of(dismissals: Iterable[Dismissal]) -> list[dict[str, Any]]:
    """Words as the file has them."""
    return [
        _entry(one.key, one.thing) | {"no_failure": one.reason, "system": one.system}
        for one in sorted(dismissals, key=lambda one: (one.key, one.system))
    ]


def render_known(known: Known, *, system: str) -> str:
    """The file: one failure on each line, in an order that makes differences readable."""
    entries = [_entry(key, thing) for key, thing in sorted(known.failures.items())]
    entries += entries_of(known.dismissals)
    lines = ",\n".join(f"  {json.dumps(entry)}" for entry in entries)
    head = f'{{"what": "{TITLE}", "system": {json.dumps(system)}, "failures": ['
    return f"{head}\n{lines}\n]}}\n" if lines else f"{head}]}}\n"


def _entry(key: FailureKey, thing: FailureObject) -> dict[str, Any]:
    about = {"label": thing.label, "box": [round(x, 1) for x in thing.box]} if thing.box else {}
    return key._asdict() | about


def read_known(path: Path) -> Known:
    """The known failures and the words in a file."""
    document = read_json(path, "list of known failures")
    entries = document.get("failures") if isinstance(document, dict) else None
    if not isinstance(entries, list) or not all(map(_is_entry, entries)):
        raise BadInput(f"{path} is no list of known failures; instar known RUN writes one")
    failures, dismissals = {}, []
    for one in entries:
        key = FailureKey(**{field: one[field] for field in FailureKey._fields})
        thing = FailureObject(one.get("label", ""), tuple(one.get("box", ())))
        if "no_failure" in one:
            dismissals.append(Dismissal(key, thing, one["no_failure"], one["system"]))
        else:
            failures[key] = thing
    return Known(failures, tuple(dismissals))


def _is_entry(one: Any) -> bool:
    if not isinstance(one, dict):
        return False
    texts = [*FailureKey._fields, *(["no_failure", "system"] if "no_failure" in one else [])]
    box = one.get("box", [])
    return (
        all(isinstance(one.get(name), str) for name in texts)
        and isinstance(one.get("label", ""), str)
        and isinstance(box, list)
        and len(box) in (0, 4)
        and all(isinstance(x, (int, float)) and abs(x) < FARTHEST for x in box)
    )


def words_about(record: Record, reason: str, system: str) -> list[Dismissal]:
    """The word that none of the failures of a case is one."""
    return [Dismissal(key, thing, reason, system) for key, thing in failures_of(record).items()]


def dismisser(dismissals: Iterable[Dismissal], system: str) -> Callable[[Record], Record]:
    """What takes those findings of a system that were said to be no failure for none."""
    said = {one.key: one.thing for one in dismissals if one.system == system}
    if not said:
        return lambda record: record
    find = recogniser(said)

    def dismiss(record: Record) -> Record:
        verdict = record.verdict
        if verdict.status is not Status.VIOLATED:
            return record

        def known(one: Finding) -> str:
            is_none = one.is_failure and find(failure_key(record, one), object_of(one)) is not None
            return NO_FAILURE if is_none else one.known

        return dataclasses.replace(record, verdict=verdict.verified(known))

    return dismiss


def compare_with_known(
    found: ByScene, known: Failures, is_seen: Callable[[str, FailureObject], bool] = lambda *_: True
) -> Against:
    """Which failures of a run are new, known or fixed; `is_seen` says whether the system finds in a source
    what a failure is about."""
    find = recogniser(known)
    same = {key: find(key, thing) for key, thing in found.failures().items()}
    tried = {place for place, result in found.results.items() if result.judged}
    gone = known.keys() - set(same.values())
    tried_again = {key for key in gone if (key.relation, key.scene) in tried}
    unseen = {key for key in tried_again if key.kind != "invented" and not is_seen(key.scene, known[key])}
    broken = {key for key, before in same.items() if before is None}
    parts = (broken, same.keys() - broken, tried_again - unseen, gone - tried_again, unseen)
    new, old, fixed, untried, not_seen = (tuple(sorted(keys)) for keys in parts)
    return Against(new, old, fixed, untried, not_seen, {**known, **found.failures()})
