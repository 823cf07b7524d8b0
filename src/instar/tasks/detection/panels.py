"""A case of detection as panels: what was found before and after, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from instar.core.marks import Fate, Mark, Panel
from instar.core.scene import Observation
from instar.core.verdict import Finding, Verdict
from instar.imaging.nulls import Conditioned
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.changes import Insertion, carried_back

__all__ = ["panels"]


def panels(
    source: Observation, follow_ups: Sequence[Observation], change: Conditioned, verdict: Verdict
) -> list[Panel]:
    """Before and after; a box that is lost is also outlined where it should have been."""
    before: Detections = source.answer
    after = carried_back(follow_ups[0].answer, change)
    fates = {finding.subject: finding for finding in verdict.findings}
    left = [
        Mark.box(before.boxes[i], _fate(fates.get(f"object {i}")), _label(before, i))
        for i in np.flatnonzero(before.scores >= before.confidence).tolist()
    ]
    told = [finding.evidence["is"]["box"] for finding in verdict.findings if "is" in finding.evidence]
    right = [
        Mark.box(after.boxes[i], "matched", _label(after, i))
        for i in np.flatnonzero(after.scores >= after.confidence).tolist()
        if not any(np.allclose(after.boxes[i], box, atol=0.1) for box in told)
    ]
    if isinstance(change, Insertion):
        right.append(Mark.box(change.box, "change", f"pasted {change.label}"))
    right += [_found(finding) for finding in verdict.findings]
    return [Panel("before", source.input, tuple(left)), Panel("after", follow_ups[0].input, tuple(right))]


def _found(finding: Finding) -> Mark:
    seen = finding.evidence.get("is") or finding.evidence["was"]
    fate = _fate(finding)
    words = (
        f"{seen['label']} lost" if fate == "lost" else f"{_word(fate)} {seen['label']} {seen['score']:.2f}"
    )
    return Mark.box(seen["box"], fate, words)


def _word(fate: Fate) -> str:
    return {"renamed": "now", "new": "new", "moved": "moved"}.get(fate, "")


def _fate(finding: Finding | None) -> Fate:
    if finding is None:
        return "matched"
    if finding.kind == "recognition":
        return "lost" if "was" in finding.evidence else "new"
    return "renamed" if finding.kind == "classification" else "moved"


def _label(answer: Detections, i: int) -> str:
    return f"{answer.labels[i]} {answer.scores[i]:.2f}"
