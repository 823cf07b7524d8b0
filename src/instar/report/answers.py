"""Answers and verdicts for reading: as JSON, and as text."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from instar.core.verdict import Verdict
from instar.report.causes import finding_words
from instar.report.text import table

MOST_NUMBERS = 10_000  # larger arrays are described, not printed
WIDEST = 8  # numbers in a row of a table; more are a map, which nobody reads as numbers


def answer_to_json(answer: Any) -> Any:
    """An answer as JSON values; a large array by its shape, a number JSON does not have as null."""
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        return {f.name: answer_to_json(getattr(answer, f.name)) for f in dataclasses.fields(answer)}
    if isinstance(answer, Mapping):
        return {str(key): answer_to_json(value) for key, value in answer.items()}
    if isinstance(answer, np.ndarray):
        is_map = answer.ndim == 2 and answer.shape[1] > WIDEST
        if answer.size > MOST_NUMBERS or is_map:
            return f"{answer.dtype} {answer.shape}"
        return answer_to_json(answer.tolist())
    if isinstance(answer, (list, tuple)):
        return [answer_to_json(value) for value in answer]
    if isinstance(answer, np.generic):
        return answer_to_json(answer.item())
    if isinstance(answer, float):
        return answer if math.isfinite(answer) else None
    return answer if answer is None or isinstance(answer, (bool, int, str)) else str(answer)


def answer_text(answer: Any, *, most: int | None = None) -> str:
    """An answer as lines: by its own `str`, else its fields; lists of one length become a table.

    Of a long table the first `most` rows are told.
    """
    if dataclasses.is_dataclass(answer) and type(answer).__str__ is not object.__str__:
        return str(answer)
    plain = answer_to_json(answer)
    if not isinstance(plain, dict):
        return _short(plain)
    lengths = {len(value) for value in plain.values() if isinstance(value, list)}
    columns = [key for key, value in plain.items() if isinstance(value, list)] if len(lengths) == 1 else []
    lines = [
        f"{key}: {_short(value)}" for key, value in plain.items() if key not in columns and value is not None
    ]
    if columns:
        rows = [list(row) for row in zip(*(map(_short, plain[key]) for key in columns))]
        lines.append(table([columns, *rows[:most]]))
        if rows[:most] != rows:
            lines.append(f"and {len(rows) - len(rows[:most]):,} more, all of them with --json")
    return "\n".join(lines)


def verdict_to_json(verdict: Verdict) -> dict[str, Any]:
    return {
        "status": verdict.status.value,
        "kind": verdict.kind,
        "margin": answer_to_json(verdict.margin),
        "reason": verdict.reason,
        "findings": [
            {"kind": f.kind, "subject": f.subject, "margin": answer_to_json(f.margin)}
            for f in verdict.findings
        ],
    }


def verdict_text(verdict: Verdict) -> str:
    if verdict.findings:
        named = ", ".join(map(finding_words, verdict.findings))
        return f"{verdict.status.value} by {abs(verdict.margin):.3f} ({named})"
    return f"{verdict.status.value}: {verdict.reason}" if verdict.reason else verdict.status.value


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return " ".join(map(_short, value))
    return str(value)
