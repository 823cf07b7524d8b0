"""What a finding is worth: was there text in what was lost, and is any of it lost now?

Annotated words say so; elsewhere other locators do, the referees, above all those that read: a word that one
of them reads is there, and a place where none of them finds anything holds none. Words that nobody can read,
and places that are found and not read, count neither way. Where a change has taken the contrast of a text,
as darkening to black does, the loss is the change's and not the system's.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from instar.core.marks import region_of
from instar.core.scene import Image, Observation
from instar.core.task import Opinion
from instar.core.verdict import Finding
from instar.tasks.text.accuracy import HIDDEN
from instar.tasks.text.answers import Quads, are_read
from instar.tasks.text.compare import ON_WATERMARK
from instar.tasks.text.polygons import Corners, quad_areas, quad_intersections
from instar.tasks.text.truth import IN_BOX, LOCATED, Truth, truth_of

HIGH = 0.4  # of a text's height has a box that is a part of it; a lower one is a line beside the letters
LEFT = 0.6  # of its contrast must a change leave to a text; with less, the change is to blame


def verify(
    source: Observation, follow_up: Observation, finding: Finding, opinions: Sequence[Opinion] = ()
) -> str:
    """What truth or referees say about a finding (see `Task.verify`)."""
    if finding.kind == "watermark missed":
        return "real"  # the change wrote the word there
    if finding.subject == ON_WATERMARK:
        return "slipped"  # a second box on a word that is there
    place = region_of(finding.evidence.get("was", finding.evidence.get("is")))
    words = source.scene.knowledge.get("words")
    if place is None or (words is None and not opinions):
        return "unknown"
    truth = _told_by(opinions) if words is None else truth_of(words)
    box = np.array([place], np.float32)
    if finding.kind == "masked text found":
        return _judge_masked(box, source.answer, truth)
    about = _texts_in(box, truth.only(~truth.ignored))
    if not len(about):
        return "disputed" if len(_texts_in(box, truth)) else "was false"
    if "was" not in finding.evidence:
        return "slipped" if _are_located(about, source.answer.quads, truth) else "now right"
    if finding.kind in ("split", "merged"):
        known = "real"  # it was asked for that lines stay the same
    else:
        known = "slipped" if _are_located(about, follow_up.answer.quads, truth) else "real"
    if known == "real" and not _is_fair(box, source, follow_up):
        return "unfair"
    if known == "real" and words is None and not _is_seen(about, opinions, truth):
        return "unfair"
    return known


def _judge_masked(box: Corners, masked: Quads, truth: Truth) -> str:
    """A box in a mask: text that is no longer there, unless a part of it sticks out."""
    hidden = truth.covered(masked.quads) >= HIDDEN
    if len(_texts_in(box, truth.only(~hidden & ~truth.ignored))):
        return "now right"
    if len(_texts_in(box, truth.only(hidden & ~truth.ignored))):
        return "real"
    return "disputed" if len(_texts_in(box, truth)) else "was false"


def _texts_in(box: Corners, truth: Truth) -> Truth:
    """What a box `float (1, 4, 2)` is about: the words in it, or the box itself where it is part of one.

    Truth of a line, as a referee tells it, may hold more than the box of a word.
    """
    common = truth.common(box)[:, 0]
    inside = (common >= IN_BOX * truth.areas) & truth.on_text(box)[0]
    if not inside.any() and common.sum() >= IN_BOX * quad_areas(box)[0] and _is_as_high(box, truth):
        return Truth(np.asarray(box, np.float32), np.zeros(1, np.bool_), np.zeros(1, np.intp))
    return truth.only(inside)


def _is_as_high(box: Corners, truth: Truth) -> bool:
    """Whether a box reaches over enough of the height of the text that it shares most with."""
    text = truth.strips[int(quad_intersections(truth.strips, box)[:, 0].argmax())]
    sides = np.array([text[1] - text[0] + text[2] - text[3], text[3] - text[0] + text[2] - text[1]]) / 2
    lengths = np.linalg.norm(sides, axis=1)
    short = int(lengths.argmin())
    return bool(np.ptp(box[0] @ sides[short]) >= HIGH * lengths[short] ** 2)


def _are_located(texts: Truth, quads: Corners, truth: Truth) -> bool:
    """Whether all of these texts are located by quads that are about text."""
    return bool((texts.covered(quads[truth.on_text(quads)]) >= LOCATED).all())


def _told_by(opinions: Sequence[Opinion]) -> Truth:
    """What the referees find in the source; ignored is what is found, but neither read nor found by two."""
    answers = [opinion.before for opinion in opinions]
    quads = np.concatenate([answer.quads for answer in answers])
    sure = np.concatenate([are_read(answer) for answer in answers])
    whose = np.repeat(np.arange(len(answers)), [len(answer) for answer in answers])
    common = quad_intersections(quads, quads)
    alike = (common >= IN_BOX * np.minimum.outer(quad_areas(quads), quad_areas(quads))) & (
        whose[:, None] != whose
    )
    return Truth(quads, ~(sure | alike.any(axis=1)), np.arange(len(quads)))


def _is_fair(box: Corners, source: Observation, follow_up: Observation) -> bool:
    """Whether the change has left the text its contrast: in pure black or white nobody finds any."""
    there = box if follow_up.frame is None else follow_up.frame.to_follow_up(box)
    return _contrast(follow_up.input, there) >= LEFT * _contrast(source.input, box)


def _contrast(picture: Image, box: Corners) -> float:
    """How far light and dark are apart inside a box, in the channel where it is most."""
    inside = np.zeros(picture.shape[:2], np.uint8)
    cv2.fillPoly(inside, [np.rint(box[0]).astype(np.int32)], 1)
    pixels = picture[inside.view(np.bool_)]
    if not len(pixels):
        return 0.0
    dark, light = np.percentile(pixels, [5, 95], axis=0)
    return float((light - dark).max())


def _is_seen(texts: Truth, opinions: Sequence[Opinion], truth: Truth) -> bool:
    """Whether those who found the text in the source find it in the follow-up too: one that reads it there,
    or two.
    """
    still = [
        opinion.after
        for opinion in opinions
        if all(_are_located(texts, answer.quads, truth) for answer in (opinion.before, opinion.after))
    ]
    return len(still) > 1 or any(_are_located(texts, now.quads[are_read(now)], truth) for now in still)
