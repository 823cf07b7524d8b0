"""Records as rows of the run file and back."""

from __future__ import annotations

import json
import math
from typing import Any, TypeVar

import numpy as np

from instar.core.change import change_from_json
from instar.core.record import Record, Skipped, Totals
from instar.core.verdict import Finding, Status, Verdict
from instar.store.evidence import readable_evidence

COLUMNS = (
    "case_id", "scene", "source", "relation", "ordinal", "role", "status", "kind", "margin", "reason",
    "queries", "naturalness", "change", "words", "findings", "evidence",
)  # fmt: skip

_TEXT, _WHOLE, _NUMBER = (str,), (int,), (float, int, type(None))
_TYPES: dict[str, tuple[type, ...]] = dict.fromkeys(COLUMNS, _TEXT) | {
    "ordinal": _WHOLE, "queries": _WHOLE, "margin": _NUMBER, "naturalness": _NUMBER,
    "change": (str, type(None)),
}  # fmt: skip
_TOTALS: dict[str, type] = {
    "run": str, "system": str, "task": str, "seed": int, "scenes": int, "queries": int, "asked": int,
    "seconds": float, "price_per_query": float, "finished": bool, "isolated": bool, "repeats": int,
    "differing": int, "contradicting": int, "pictures_left_out": int, "referees": dict,
    "referee_queries": int, "empty": int, "remark": str,
}  # fmt: skip
_seen: set[tuple[type, ...]] = set()

T = TypeVar("T")


def dump_json(value: Any) -> str:
    """Compact JSON, with Python's words for infinity and NaN: a run folder keeps what memory keeps.

    NumPy numbers in a verdict's evidence become plain ones.
    """
    return json.dumps(value, separators=(",", ":"), default=_plain)


def row_from_record(record: Record) -> tuple[Any, ...]:
    verdict = record.verdict
    return (
        record.case,
        record.scene,
        record.source,
        record.relation,
        record.ordinal,
        record.role,
        verdict.status.value,
        verdict.kind,
        float(verdict.margin),
        verdict.reason,
        record.queries,
        record.naturalness,
        dump_json(record.change.to_json()) if record.change is not None else None,
        str(record.change) if record.change is not None and _is_told(verdict) else "",
        dump_json([_finding(f) for f in verdict.findings]),
        dump_json(dict(verdict.evidence)),
    )


def _is_told(verdict: Verdict) -> bool:
    """Whether people will look at it: a finding, or one that was struck out."""
    return bool(verdict.findings or "struck" in verdict.evidence)


def _finding(finding: Finding) -> list[Any]:
    told = [finding.kind, finding.subject, float(finding.margin), dict(finding.evidence)]
    return told if finding.known == "unknown" else [*told, finding.known]


def record_from_row(row: tuple[Any, ...], *, change: bool = True, held_evidence: bool = True) -> Record:
    """The record in a row; ValueError where it is not what instar wrote."""
    _require_types(row)
    (case, scene, source, relation, ordinal, role, status, kind, margin, reason, queries, naturalness,
     recipe, _, findings, evidence) = row  # fmt: skip
    verdict = Verdict(
        Status(status),
        math.nan if margin is None else margin,
        kind,
        reason,
        read_findings(findings),
        readable_evidence(load_json(evidence, dict)) if held_evidence or status != Status.HELD.value else {},
    )
    if role not in ("case", "null"):
        raise ValueError(f"{role!r} is no role of a case")
    made = change_from_json(load_json(recipe, dict)) if change and recipe else None
    return Record(case, scene, source, relation, ordinal, made, verdict, role, queries, naturalness)


def totals_from_json(text: str, **now: Any) -> Totals:
    """The stored totals, with what is counted `now` in their place."""
    fields = load_json(text, dict)
    skipped, yields = fields.pop("skipped", []), fields.pop("yields", [])
    for name, value in fields.items():
        if type(value) not in (_TOTALS[name], int if _TOTALS[name] is float else _TOTALS[name]):
            raise ValueError(f"{name} of the account is {value!r}")
    totals = Totals(**fields | now, skipped=tuple(Skipped(**one) for one in skipped), yields=tuple(yields))
    counts = (totals.queries, totals.asked, totals.seconds, totals.price_per_query)
    if not all(math.isfinite(count) and count >= 0 for count in counts) or totals.asked > totals.queries:
        raise ValueError(
            f"the account has {totals.queries} queries, {totals.asked} asked, {totals.seconds} s"
        )
    if not all(
        isinstance(text, str)
        for text in (
            *totals.yields,
            *(part for one in totals.skipped for part in (one.scene, one.reason)),
            *(part for one in totals.referees.items() for part in one),
        )
    ):
        raise ValueError("the account names scenes, relations or referees by something else than text")
    return totals


def load_json(text: str, form: type[T]) -> T:
    """The value of a JSON column, which is of that form."""
    value = json.loads(text)
    if not isinstance(value, form):
        raise ValueError(f"a column holds {value!r}, not a {form.__name__}")
    return value


def read_findings(text: str) -> tuple[Finding, ...]:
    """The findings in a column."""
    return () if text == "[]" else tuple(map(_read_finding, load_json(text, list)))


def _read_finding(told: Any) -> Finding:
    kind, subject, margin, evidence, known = (*told, "unknown") if len(told) == 4 else told
    texts_fit = all(isinstance(text, str) for text in (kind, subject, known))
    if not (texts_fit and type(margin) in (int, float) and isinstance(evidence, dict)):
        raise ValueError(f"{told!r} is no finding")
    return Finding(kind, subject, float(margin), readable_evidence(evidence), known)


def _require_types(row: tuple[Any, ...]) -> None:
    types = tuple(map(type, row))
    if types in _seen:  # all but a few rows of a run are alike
        return
    for name, found in zip(COLUMNS, types):
        if found not in _TYPES[name]:
            raise ValueError(f"the {name} of a case is of {found.__name__}")
    _seen.add(types)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"evidence holds a {type(value).__qualname__}; it must be JSON")
