"""A summary as the JSON document that `--json` prints."""

from __future__ import annotations

import math
from dataclasses import asdict, fields
from typing import Any

from instar.report.summary import Summary, Violation

OBJECT = ("label", "score", "box")
"""What is told of a finding only where it is about an object."""
TOLD = [part.name for part in fields(Violation) if part.name not in ("plainness", "identity")]


def summary_to_json(summary: Summary) -> dict[str, Any]:
    """The summary as a JSON document; a number that JSON does not have becomes null."""
    totals = summary.totals
    return {
        "run": totals.run,
        "system": totals.system,
        "task": totals.task,
        "seed": totals.seed,
        "finished": totals.finished,
        "ended": summary.ended or None,
        "not_judged": summary.why_not_judged or None,
        **summary.numbers(),
        "interval": summary.drawn.interval,
        "unstable_interval": summary.unstable_interval,
        "headline_interval": summary.drawn.headline_interval,
        "isolated": totals.isolated,
        "remark": totals.remark,
        "pictures_left_out": totals.pictures_left_out,
        "empty": totals.empty,
        "repeats": {name: getattr(totals, name) for name in ("repeats", "differing", "contradicting")},
        "false_alarms": None if summary.false_alarms is None else asdict(summary.false_alarms),
        "placebo": None if summary.placebos is None else asdict(summary.placebos),
        "skipped": [asdict(skipped) for skipped in totals.skipped],
        "referees": dict(totals.referees),
        "known": dict(summary.known),
        "called_none": dict(zip(("said", "of"), summary.called_none)),
        "kinds": dict(summary.kinds),
        "reasons": dict(summary.reasons),
        "relations": {
            name: {
                **relation.counts.numbers(),
                "rate": relation.rate,
                "interval": relation.interval,
                "headline_rate": relation.headline_rate,
                "headline_interval": relation.headline_interval,
                "yield": relation.is_yield,
            }
            for name, relation in summary.relations.items()
        },
        **({"harms": dict(summary.harms)} if summary.harms else {}),
        "findings": [_violation_json(violation) for violation in summary.findings],
        "breaks": [asdict(one) for one in summary.breaks],
    }


def _violation_json(violation: Violation) -> dict[str, Any]:
    given = {name: getattr(violation, name) for name in TOLD}
    return {key: value for key, value in given.items() if value is not None or key not in OBJECT} | {
        "margin": _finite(violation.margin),
        "naturalness": _finite(violation.naturalness),
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
