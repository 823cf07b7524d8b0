"""When an explanation contradicts itself, or the truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from instar.core.verdict import Finding, Verdict
from instar.imaging.geometry import Box
from instar.tasks.interpretation.answers import Explanation
from instar.tasks.interpretation.boxes import KEPT_SHARE, Location, agreement, locate, quality

__all__ = ["BETA", "CUTS", "THETA", "same_explanation", "true_explanation"]

BETA, THETA = 0.6, 0.5
SUBJECT = "explanation"  # of every finding: there is one
CUTS = (0.15, 0.3, 0.5)
"""The paper does not say where a heat map is cut, so that the truth is looked at with each of these."""
EVERYWHERE = 0.9  # of the picture is hot: then a map says nothing, whatever IoMin says
NOT_LARGE = 0.5  # of the picture: an object larger than this may well be explained by all of it


def same_explanation(
    before: Explanation,
    after: Explanation,
    size: tuple[int, int],
    *,
    split: Sequence[Box],
    beta: float = BETA,
    theta: float = THETA,
    kept: float = KEPT_SHARE,
    changed: bool = False,
) -> Verdict:
    """The explanation must be where it was, where the classifier is as sure as it was.

    `size` is that of the picture, `split` the boxes of the class where they are known. Where something was
    really `changed`, and beside the objects, an explanation that points everywhere is a contradiction as
    well: it says that what was changed mattered, and it did not.
    """
    sure = [round(before.confidence, 4), round(after.confidence, 4)]
    if before.confidence < beta:
        return Verdict.inapplicable("the classifier is not sure of the class", confidence=sure)
    if after.confidence < beta:
        return Verdict.inapplicable("the classifier is not sure of the class any more", confidence=sure)
    was = locate(before.heat, size, kept=kept, split=split)
    now = locate(after.heat, size, kept=kept, split=split)
    if was.whole is None or now.whole is None:
        return Verdict.inapplicable("an explanation is empty", confidence=sure)
    agreed = agreement(was, now)
    evidence: dict[str, Any] = {
        "iomin": round(agreed.io_min, 4),
        "iou": round(agreed.iou, 4),
        "covered": [round(was.covered, 4), round(now.covered, 4)],
        "confidence": sure,
    }
    findings = []
    if agreed.io_min < theta:
        findings.append(Finding("moved", SUBJECT, agreed.io_min - theta, {"was": was.whole, "is": now.whole}))
    if changed:
        findings += _everywhere([was, now], split, size)
    if findings:
        return Verdict.violated(findings, **evidence)
    return Verdict.held(agreed.io_min - theta, **evidence)


def true_explanation(
    found: Explanation,
    truth: Sequence[Box],
    size: tuple[int, int],
    *,
    beta: float = BETA,
    theta: float = THETA,
    kept: float = KEPT_SHARE,
) -> Verdict:
    """The explanation must be on the objects of its class."""
    sure = round(found.confidence, 4)
    if found.confidence < beta:
        return Verdict.inapplicable("the classifier is not sure of the class", confidence=sure)
    cuts = {}
    for cut in dict.fromkeys((*CUTS, kept)):
        here = locate(found.heat, size, kept=cut, split=truth)
        if here.whole is None:
            return Verdict.inapplicable("an explanation is empty", confidence=sure)
        cuts[cut] = (here, quality(here, truth))
    where, good = cuts[kept]
    evidence: dict[str, Any] = {
        "iomin": round(good.io_min, 4),
        "iou": round(good.iou, 4),
        "hit": good.hit,
        "covered": round(where.covered, 4),
        "confidence": sure,
        "cuts": {f"{cut:g}": round(one.io_min, 4) for cut, (_, one) in cuts.items()},
    }
    findings = []
    if good.io_min < theta:
        findings.append(Finding("beside the object", SUBJECT, good.io_min - theta, {"is": where.whole}))
    findings += _everywhere([where], truth, size)
    if findings:
        return Verdict.violated(findings, **evidence)
    return Verdict.held(good.io_min - theta, **evidence)


def _everywhere(maps: Sequence[Location], objects: Sequence[Box], size: tuple[int, int]) -> list[Finding]:
    """A finding where all the maps are hot nearly everywhere, and no known object is that large."""
    least = min(one.hot for one in maps)
    large = max(((x2 - x1) * (y2 - y1) for x1, y1, x2, y2 in objects), default=0.0) / (size[0] * size[1])
    if least < EVERYWHERE or large > NOT_LARGE:
        return []
    return [Finding("everywhere", SUBJECT, EVERYWHERE - least - 1e-6, {"hot": round(least, 4)})]
