"""The oracles: the same boxes, one box more where a word was written, no box where all was masked.

A box of the source without a partner is "lost", or what became of it is told: "split" into several boxes,
"merged" with others into one, "resized", or "drifted" to where it hardly overlaps. One of the follow-up that
tells of no box of the source is "invented". Findings are named by the boxes of the source ("box 3", "near
box 3"), so that a null change that shakes the same place shows the same finding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from instar.core.verdict import Finding, Verdict
from instar.tasks.text.answers import Quads
from instar.tasks.text.changes import Watermark
from instar.tasks.text.measures import EPS, Matching, delta, match
from instar.tasks.text.polygons import quad_areas, quad_intersections, quad_iou

Lines = Literal["any", "same"]
LINES: tuple[str, ...] = get_args(Lines)
"""Whether text may be cut into boxes in "any" way, or must be in the "same"."""

AIR = 0.3
"""Of a capital's height: locators leave about so much air around a word; with or without, it is the word."""
MOSTLY = 0.5  # of a found box lies in a mask: then it is about the masked text, or in the boxes it merges
WITHIN = 0.7  # of a box lies in another: then it is a part of it
NEAR = 0.1  # overlap from which on a box has drifted and is not lost
ON_WATERMARK = "on the watermark"
FATE_WORDS = {
    "lost": "is lost",
    "split": "is found in pieces",
    "merged": "is found as one with other text",
    "resized": "is found at another size",
    "drifted": "is found beside its place",
}


def same_text(
    before: Quads,
    after: Quads,
    *,
    eps: float = EPS,
    matching: Matching = "one-to-one",
    lines: Lines = "any",
) -> Verdict:
    """Compare two answers in the same frame; `stability` in the evidence is their delta."""
    both = _Pairing.of(before, after, eps)
    evidence = {"stability": both.delta(matching), "before": len(before), "after": len(after)}
    findings = both.differences(lines)
    if findings:
        return Verdict.violated(findings, **evidence)
    return Verdict.held(both.least_overlap() - (1 - eps), **evidence)


def word_found(
    before: Quads, after: Quads, word: Watermark, *, eps: float = EPS, lines: Lines = "any"
) -> Verdict:
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
    findings = both.differences(lines, word)
    if not found:
        cause = _cause("watermark missed") | {"words": f'the watermark "{word.text}" is missed'}
        missed = {"overlap": round(best, 4), "cause": cause}
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
        kind = "masked text found" if in_mask else "invented"
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

    def differences(self, lines: Lines, word: Watermark | None = None) -> list[Finding]:
        """What has no partner on the other side; margins tell how far the nearest one is from being it."""
        common = quad_intersections(self.before.quads, self.after.quads)
        in_after = common / quad_areas(self.before.quads)[:, None]
        in_before = common / quad_areas(self.after.quads)[None]
        findings, told = [], set(self.pairs.values())
        for k in (k for k in np.flatnonzero(self.of_before).tolist() if k not in self.pairs):
            kind, about = self._fate(k, in_after, in_before)
            told.update(about)
            findings.append(self._finding(kind, k, about))
        for j in (j for j in np.flatnonzero(self.of_after).tolist() if j not in told):
            whole = in_before[:, j] >= WITHIN
            if word is not None and quad_intersections(self.after.quads[j][None], word.quad(air=AIR)).any():
                findings.append(self._invented(j, ON_WATERMARK))
            elif whole.any():  # most of that box is still found, and this is the rest of it
                findings.append(self._finding("split", int(in_before[:, j].argmax()), [j]))
            else:
                findings.append(self._invented(j, _near(self.before, self.after.quads[j])))
        return [one for one in findings if lines == "same" or one.kind not in ("split", "merged")]

    def _fate(
        self, k: int, in_after: npt.NDArray[np.float64], in_before: npt.NDArray[np.float64]
    ) -> tuple[str, list[int]]:
        """What became of a box without a partner, and the boxes that tell so, the most alike first."""
        order = np.argsort(-self.overlap[k], kind="stable").tolist()
        parts = [j for j in order if in_before[k, j] >= WITHIN]
        wholes = [j for j in order if in_after[k, j] >= WITHIN]
        if len(parts) > 1 and in_after[k, parts].sum() >= WITHIN:
            return "split", parts
        within = in_after >= WITHIN
        made_of = (in_before * within).sum(axis=0)  # a box around everything is not made of what is in it
        if merged := [j for j in wholes if within[:, j].sum() > 1 and made_of[j] >= MOSTLY]:
            return "merged", merged
        if parts or wholes:
            return "resized", parts or wholes
        near = [j for j in order if self.overlap[k, j] >= NEAR and j not in self.pairs.values()]
        return ("drifted", near[:1]) if near else ("lost", [])

    def _finding(self, kind: str, k: int, about: list[int]) -> Finding:
        best = float(self.overlap[k].max(initial=0.0))
        evidence = {"was": _corners(self.before.quads[k]), "overlap": round(best, 4)}
        evidence["cause"] = {"words": f"the text in box {k} {FATE_WORDS[kind]}"}
        if about:
            evidence["is"] = _corners(self.after.quads[about[0]])
        return Finding(kind, f"box {k}", min(0.0, best - (1 - self.eps)), evidence)

    def _invented(self, j: int, subject: str) -> Finding:
        best = float(self.overlap[:, j].max(initial=0.0))
        quad, cause = self.after.quads[j], _cause("new box", subject)
        evidence = {"is": _corners(quad), "overlap": round(best, 4), "cause": cause}
        return Finding("invented", subject, min(0.0, best - (1 - self.eps)), evidence)


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
