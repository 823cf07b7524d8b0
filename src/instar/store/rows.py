"""Records as rows of the run file and back."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from instar.core.change import change_from_json
from instar.core.record import Record
from instar.core.verdict import Finding, Status, Verdict

__all__ = ["COLUMNS", "dump_json", "record_from_row", "row_from_record"]

COLUMNS = (
    "case_id", "scene", "source", "relation", "ordinal", "role", "status", "kind", "margin", "reason",
    "queries", "naturalness", "change", "words", "findings", "evidence",
)  # fmt: skip


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
    (case, scene, source, relation, ordinal, role, status, kind, margin, reason, queries, naturalness,
     recipe, _, findings, evidence) = row  # fmt: skip
    verdict = Verdict(
        Status(status),
        math.nan if margin is None else margin,
        kind,
        reason,
        () if findings == "[]" else tuple(Finding(*finding) for finding in json.loads(findings)),
        json.loads(evidence) if held_evidence or status != Status.HELD.value else {},
    )
    made = change_from_json(json.loads(recipe)) if change and recipe else None
    return Record(case, scene, source, relation, ordinal, made, verdict, role, queries, naturalness)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"evidence holds a {type(value).__qualname__}; it must be JSON")
