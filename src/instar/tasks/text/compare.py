"""The oracles: the same boxes, one box more where a word was written, no box where all was masked.

A box of the source without a partner is "lost", one of the follow-up without a partner is "new". Findings
are named by the boxes of the source ("box 3", "near box 3"), so that a null change that shakes the same
place shows the same finding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from instar.core.verdict import Finding, Verdict
from instar.tasks.text.answers import Quads
from instar.tasks.text.changes import Watermark
from instar.tasks.text.measures import EPS, Matching, delta, match
from instar.tasks.text.polygons import quad_areas, quad_intersections, quad_iou

__all__ = ["nothing_left", "same_text", "word_found"]

AIR = 0.3
"""Of a capital's height: locators leave about so much air around a word; with or without, it is the word."""
MOSTLY = 0.5  # of a found box lies in a mask: then it is about the masked text


def same_text(before: Quads, after: Quads, *, eps: float = EPS, matching: Matching = "one-to-one") -> Verdict:
    """Compare two answers in the same frame; `stability` in the evidence is their delta."""
    both = _Pairing.of(before, after, eps)
    evidence = {"stability": both.delta(matching), "before": len(before), "after": len(after)}
    findings = both.differences()
    if findings:
        return Verdict.violated(findings, **evidence)
    return Verdict.held(both.least_overlap() - (1 - eps), **evidence)


def word_found(before: Quads, after: Quads, word: Watermark, *, eps: float = EPS) -> Verdict:
    """Nothing lost and exactly one box more, around a word; `stability` is 1 when the word was found.

    A box that is like that of the word's ink, or like that with some air, is the word's.
    """
    tight, loose = (quad_iou(after.quads, word.quad(air=air)) for air in (0.0, AIR))
    on_word = np.maximum(tight, loose)[:, 0]
    best = float(on_word.max(initial=0.0))
    found = best > 1 - eps
    rest = np.ones(len(after), np.bool_)
    if found:
        rest[int(on_word.argmax())] = False
    others = Quads(after.quads[rest], aside=~after.shown[rest])
    both = _Pairing.of(before, others, eps)
    findings = both.differences(word)
    if not found:
        missed = {"overlap": round(best, 4), "cause": _cause("watermark missed")}
        findings.append(Finding("watermark missed", "watermark", best - (1 - eps), missed))
    counts = {"before": len(before), "after": len(after)}
    evidence = {"stability": float(found), **counts, "similarity": both.delta()}
    if findings:
        return Verdict.violated(findings, **evidence)
    return Verdict.held(min(best, both.least_overlap()) - (1 - eps), **evidence)


def nothing_left(masked: Quads, after: Quads) -> Verdict:
    """Nothing may be found once all text is masked; `stability` is 1 when nothing was."""
    found = np.flatnonzero(after.shown).tolist()
    evidence = {"stability": float(not found), "before": len(masked), "after": len(after)}
    if not found:
        return Verdict.held(1.0, **evidence)
    inside = quad_intersections(after.quads, masked.quads) / quad_areas(after.quads)[:, None]
    findings = []
    for j in found:
        strength = 1.0 if after.scores is None else float(after.scores[j])
        in_mask = len(masked) > 0 and bool(inside[j].max() >= MOSTLY)
        kind = "masked text found" if in_mask else "new"
        subject = f"box {int(inside[j].argmax())}" if in_mask else _near(masked, after.quads[j])
        cause = _cause(kind, f"in {subject}") if in_mask else _cause("new box", subject)
        findings.append(Finding(kind, subject, -strength, {"is": _corners(after.quads[j]), "cause": cause}))
    return Verdict.violated(findings, **evidence)


@dataclass(frozen=True, slots=True, eq=False)
class _Pairing:
    """Two answers matched one to one.

    `overlap` is `float64 (len(before), len(after))`. `of_before` and `of_after` are the boxes that count:
    those with a partner, and those that are not set aside.
    """

    before: Quads
    after: Quads
    eps: float
    overlap: npt.NDArray[np.float64]
    pairs: dict[int, int]
    of_before: npt.NDArray[np.bool_]
    of_after: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, before: Quads, after: Quads, eps: float) -> _Pairing:
        overlap = quad_iou(before.quads, after.quads)
        pairs = match(overlap, eps)
        of_before, of_after = before.shown, after.shown
        of_before[list(pairs)] = of_after[list(pairs.values())] = True
        return cls(before, after, eps, overlap, pairs, of_before, of_after)

    def delta(self, matching: Matching = "one-to-one") -> float:
        return delta(self.overlap[np.ix_(self.of_before, self.of_after)], eps=self.eps, matching=matching)

    def least_overlap(self) -> float:
        """Of all pairs; 1 without any."""
        return min((float(self.overlap[k, j]) for k, j in self.pairs.items()), default=1.0)

    def differences(self, word: Watermark | None = None) -> list[Finding]:
        """What has no partner on the other side; margins tell how far the nearest one is from being it."""
        findings = []
        for k in (k for k in np.flatnonzero(self.of_before).tolist() if k not in self.pairs):
            best, quad = float(self.overlap[k].max(initial=0.0)), self.before.quads[k]
            evidence = {"was": _corners(quad), "overlap": round(best, 4)}
            findings.append(Finding("lost", f"box {k}", min(0.0, best - (1 - self.eps)), evidence))
        taken = set(self.pairs.values())
        for j in (j for j in np.flatnonzero(self.of_after).tolist() if j not in taken):
            best, quad = float(self.overlap[:, j].max(initial=0.0)), self.after.quads[j]
            on_word = word is not None and quad_intersections(quad[None], word.quad(air=AIR)).any()
            subject = "on the watermark" if on_word else _near(self.before, quad)
            evidence = {"is": _corners(quad), "overlap": round(best, 4), "cause": _cause("new box", subject)}
            findings.append(Finding("new", subject, min(0.0, best - (1 - self.eps)), evidence))
        return findings


def _cause(what: str, where: str = "") -> dict[str, str]:
    """How reports name and group a finding that is about no box of the source."""
    return {"what": what, "label": "", "words": f"{what} {where}".strip()}


def _near(known: Quads, quad: npt.NDArray[np.float32]) -> str:
    """A place in words: which box of the source is nearest."""
    if not len(known):
        return "where nothing was"
    apart = np.linalg.norm(known.quads.mean(axis=1) - quad.mean(axis=0), axis=1)
    return f"near box {int(apart.argmin())}"


def _corners(quad: npt.NDArray[np.float32]) -> list[list[float]]:
    return [[round(float(value), 1) for value in corner] for corner in quad]
