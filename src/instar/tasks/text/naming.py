"""Findings by the text that they are about, where anybody knows or has read it: what a reader calls a box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from instar.core.scene import Observation
from instar.core.task import Opinion
from instar.core.verdict import Finding, Verdict
from instar.imaging.words import Word
from instar.tasks.text.answers import Quads, are_read
from instar.tasks.text.compare import FATE_WORDS
from instar.tasks.text.polygons import Corners, quad_areas
from instar.tasks.text.truth import IN_BOX, truth_of

LONGEST = 40  # letters of a text that are told
SENTENCES = {kind: f"{{}} {fate}" for kind, fate in FATE_WORDS.items()} | {
    "invented": "new box on {}",
    "masked text found": "{} is still found in its mask",
}


def with_names(verdict: Verdict, before: Observation, after: Observation) -> Verdict:
    """The verdict with findings that say, in the words of their `cause`, which text they are about."""
    words = before.scene.knowledge.get("words") or ()
    findings = [_named(finding, words, (before.answer, after.answer)) for finding in verdict.findings]
    return replace(verdict, findings=tuple(findings))


def name_finding(finding: Finding, opinions: Sequence[Opinion]) -> Finding:
    """The finding told by what referees have read there, where it is not told by a text already."""
    place = _place(finding)
    if place is None or '"' in finding.evidence.get("cause", {}).get("words", ""):
        return finding
    for answer in (answer for opinion in opinions for answer in (opinion.before, opinion.after)):
        read = [Word(answer.quads[k], answer.texts[k]) for k in np.flatnonzero(are_read(answer))]
        text, part = _known_text(place, read)
        if text:
            return _told(finding, text, part)
    is_bare = finding.known == "was false" and finding.subject.startswith("box ")
    return _told(finding, "", "") if is_bare else finding


def _named(finding: Finding, words: Sequence[Word], answers: tuple[Quads, Quads]) -> Finding:
    place = _place(finding)
    if place is None:
        return finding
    text, part = _known_text(place, words)
    text = text or next(filter(None, (_read_text(place, answer) for answer in answers)), "")
    if not text and not (words and finding.subject.startswith("box ")):
        return finding
    return _told(finding, text, part)


def _place(finding: Finding) -> Corners | None:
    """`float32 (1, 4, 2)`: the box that a finding is about; None where it is told in words of its own."""
    place = finding.evidence.get("was", finding.evidence.get("is"))
    return None if finding.kind not in SENTENCES or place is None else np.array([place], np.float32)


def _told(finding: Finding, text: str, part: str) -> Finding:
    """What is on no text that is known stays a box."""
    short = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    said = SENTENCES[finding.kind].format(f'{part}"{short}"' if text else finding.subject)
    cause = {**finding.evidence.get("cause", {}), "words": said}
    return replace(finding, evidence={**finding.evidence, "cause": cause})


def _known_text(box: Corners, words: Sequence[Word]) -> tuple[str, str]:
    """The annotated words in the box, from left to right, or the one that it is on "part of "."""
    legible = [word for word in words if word.text and not word.ignored]
    if not legible:
        return "", ""
    truth = truth_of(legible)
    common = truth.common(box)[:, 0]
    about = np.flatnonzero(common >= IN_BOX * np.minimum(truth.areas, quad_areas(box)[0]))
    if not truth.on_text(box)[0]:
        return "", ""  # most of it is something else, such as a word that nobody can read
    inside = sorted(about.tolist(), key=lambda k: float(legible[k].outline[:, 0].min()))
    is_part = bool(inside) and bool((common[inside] < IN_BOX * truth.areas[inside]).all())
    return " ".join(legible[k].text for k in inside), "part of " * is_part


def _read_text(box: Corners, answer: Quads) -> str:
    """What the system itself has read in just this box."""
    if answer.texts is None:
        return ""
    apart = np.abs(answer.quads - box).max(axis=(1, 2), initial=0.0)
    return next((answer.texts[k] for k in np.flatnonzero(apart < 0.1).tolist()), "")
