"""A run as SARIF 2.1.0: a rule for each relation and kind, a result for each different failure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from instar.report.by_scene import FailureKey, Result
from instar.report.summary import Summary
from instar.report.words import kind_words, readable, replay_command, when_words

SCHEMA = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"
MOST_RESULTS = 5000
"""Servers refuse files with many more; the worst are kept and the message of the run says so."""


def render_sarif(
    summary: Summary, results: Sequence[Result], *, version: str, known: frozenset[FailureKey] = frozenset()
) -> str:
    """The JSON; failures in `known` are marked as unchanged and suppressed."""
    failing = sorted((r for r in results if r.violated), key=lambda r: (r.margin, r.relation, r.source))
    rules: dict[str, dict[str, Any]] = {}
    reported: list[dict[str, Any]] = []
    for result in failing:
        for key in sorted(result.failures):
            if len(reported) == MOST_RESULTS:
                break
            rule = _rule_id(key)
            told = readable(f"{kind_words(key.kind) or 'violated'} {when_words(key.relation)}")
            level = {"level": "warning"}
            rules.setdefault(
                rule, {"id": rule, "shortDescription": {"text": told}, "defaultConfiguration": level}
            )
            reported.append(_result(key, result, summary, list(rules).index(rule), known))
    different = sum(len(result.failures) for result in failing)
    told = f"{len(reported):,} of {different:,} different failures are listed"
    invocation = {
        "executionSuccessful": summary.totals.finished,
        "toolExecutionNotifications": [{"level": "note", "message": {"text": told}}],
    }
    driver = {
        "name": "instar",
        "semanticVersion": version,
        "rules": list(rules.values()),
        "shortDescription": {"text": "Contradictions between the answers of a vision system"},
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "results": reported,
        "columnKind": "unicodeCodePoints",
        "properties": {"system": readable(summary.totals.system), "run": readable(summary.totals.run)},
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


def _rule_id(key: FailureKey) -> str:
    return f"{readable(key.relation, 80)}/{readable(key.kind or 'violated', 80)}"


def _result(
    key: FailureKey, result: Result, summary: Summary, rule: int, known: frozenset[FailureKey]
) -> dict[str, Any]:
    told = f"{readable(key.what)} in {readable(key.scene)}: {readable(result.told, 300)}"
    command = readable(replay_command(summary.totals.run, result.case, trust=summary.names_code), 300)
    found: dict[str, Any] = {
        "ruleId": _rule_id(key),
        "ruleIndex": rule,
        "level": "warning",
        "message": {"text": f"{told}. See it again: {command}"},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": _uri(key.scene)}}}],
        "partialFingerprints": {"instar/v1": hashlib.sha256("\0".join(key).encode()).hexdigest()},
        "baselineState": "unchanged" if key in known else "new",
    }
    if key in known:
        found["suppressions"] = [{"kind": "external", "justification": "a known failure"}]
    return found


def _uri(scene: str) -> str:
    """A relative address that stays below where it is opened: steps upward are spelt out."""
    parts = ["%2E%2E" if part == ".." else quote(part, safe="") for part in PurePosixPath(scene).parts]
    return "/".join(part for part in parts if part not in ("%2F", "/"))[:2000] or "scene"
