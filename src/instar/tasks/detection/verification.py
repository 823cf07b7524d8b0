"""What a finding is worth: is what was lost really there, and is what is new really not?

Annotations say so where the class is one of theirs; elsewhere other detectors do, the referees. Each says how
sure it is that the object is there, 0.5 where its score is just its own confidence. With that on average, or
more, it is there; clearly below it is not, and between the two nobody can say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from instar.core.scene import Observation, SceneObject
from instar.core.task import Opinion
from instar.core.verdict import Finding, Verdict
from instar.imaging.geometry import Box, Boxes, areas, intersections, iou
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.class_names import canonical_class

THERE = 0.5  # IoU from which on two boxes are about the same object
NEAR = 0.1  # IoU from which on a new box may be a loose one around something that is there
HINT = 0.15  # of the referees on average: then a new box may be about something that is there,
PROBABLE = 0.3  # and then it probably is
SURE = 0.48  # of the referees on average: then it is there
DOUBT = 0.44  # then it is not; docs/detection.md has how often that is right
AT_CONFIDENCE = 0.5  # how sure a referee is whose score is just its confidence
LITTLE = 0.2  # of a score: what changed by less has slipped over the line
STILL_ON_IT = 0.3  # IoU of a box that moved with where it was: people see no failure in it
ROUNDING = 1e-4  # of a score as evidence tells it
WITHIN = 0.7  # of the smaller box: then it is a second box on the same object

Thing: TypeAlias = Mapping[str, Any]
"""A label, a score and a box, as a finding tells them."""
Witness: TypeAlias = Callable[[Thing, float], float]
"""How sure it is, 0 to 1, that a thing is there, by an object that overlaps with it by so much (IoU)."""


def verify(
    source: Observation, follow_up: Observation, finding: Finding, opinions: Sequence[Opinion] = ()
) -> str:
    """What truth or referees say about a finding (see `Task.verify`)."""
    was, now = finding.evidence.get("was"), finding.evidence.get("is")
    thing = now if was is None else was
    if thing is None:
        return "unknown"
    witnesses = _witnesses(source, thing, opinions)
    if witnesses is None:
        return "unknown"
    if not _is_seen(finding.evidence.get("pasted"), opinions):
        return "unfair"
    before, after, seen = witnesses
    if was is None:
        return _judge_new(finding, thing, follow_up.answer, before, after)
    sure, is_right_now = before(was, THERE), now is not None and before(now, THERE) >= SURE
    if sure < DOUBT:
        return "now right" if is_right_now else "was false"
    if sure < SURE:
        return "disputed"
    if after(was, THERE) < SURE:
        return "unfair"
    label = canonical_class(was["label"])
    stronger = _boxes_of(source.answer, label, above=was["score"] + ROUNDING)
    still_found = _boxes_of(follow_up.answer, label)
    if _is_second_box(was, np.concatenate([stronger, still_found]), seen):
        return "slipped"
    is_near = now is not None and _overlap(was, now) >= STILL_ON_IT
    moved_little = finding.kind == "drifted" and (is_right_now or is_near)
    return "slipped" if moved_little or finding.margin > -LITTLE else "real"


def tell_pasted(verdict: Verdict, label: str, box: Box) -> Verdict:
    """The verdict with what was pasted in the evidence of every finding, for referees to look for."""
    pasted = {"label": label, "box": list(box)}
    told = [replace(one, evidence={**one.evidence, "pasted": pasted}) for one in verdict.findings]
    return replace(verdict, findings=tuple(told))


def _is_seen(pasted: Thing | None, opinions: Sequence[Opinion]) -> bool:
    """Whether anybody sees what was pasted; what nobody makes out where it stands was pasted badly."""
    if pasted is None:
        return True
    voters = _voters(opinions, canonical_class(pasted["label"]))
    return not voters or _mean([_sureness(one, one.after, pasted, THERE) for one in voters]) >= HINT


def _overlap(one: Thing, other: Thing) -> float:
    return float(iou(np.array([one["box"]], np.float32), np.array([other["box"]], np.float32))[0, 0])


def _is_second_box(was: Thing, others: Boxes, seen: Sequence[Boxes]) -> bool:
    """Whether most of those who see an object in a box see the very same one in one of the others.

    Such a box is none of its own: the object is still found, or its loss is told by its stronger box.
    """
    box, said = np.array([was["box"]], np.float32), []
    for things in seen:
        own = iou(box, things)[0]
        if own.max(initial=0.0) >= THERE:
            theirs = iou(others, things)
            same = (theirs.argmax(axis=1) == own.argmax()) & (theirs.max(axis=1) >= THERE)
            said.append(bool(same.any()))
    return sum(said) > len(said) / 2


def _boxes_of(
    answer: Detections, label: str, name: Callable[[str], str] = canonical_class, *, above: float = 0.0
) -> Boxes:
    """The found boxes of a class that score higher; `name` is what it is called here."""
    same = np.array([name(one) == label for one in answer.labels], bool)
    return answer.boxes[same & (answer.scores >= max(answer.confidence, above))]


def _judge_new(finding: Finding, now: Thing, answer: Detections, before: Witness, after: Witness) -> str:
    """A new box is a failure only where there is nothing of its class at all, not even loosely around."""
    sure = before(now, NEAR)
    if sure >= PROBABLE:
        return "now right"
    second = _second_label(now, answer)
    if second:
        return second
    if sure >= HINT:
        return "disputed"
    if after(now, NEAR) >= HINT:
        return "unfair"
    return "slipped" if finding.margin > -LITTLE else "real"


def _second_label(now: Thing, answer: Detections) -> str:
    """What a new box is that lies on an object which is still found; empty where it lies on none."""
    box = np.array([now["box"]], np.float32)
    found = answer.scores >= answer.confidence
    itself = iou(box, answer.boxes)[0] > 0.99
    same = np.array([label == now["label"] for label in answer.labels], bool)
    found &= ~(itself & same)
    common = intersections(box, answer.boxes)[0]
    inside = common >= WITHIN * np.minimum(areas(box)[0], areas(answer.boxes))
    if (found & same & inside).any():
        return "slipped"
    return "other label" if (found & ~same & (iou(box, answer.boxes)[0] >= THERE)).any() else ""


def _witnesses(
    source: Observation, thing: Thing, opinions: Sequence[Opinion]
) -> tuple[Witness, Witness, Sequence[Boxes]] | None:
    """Who can say what is in the source, and what is in the follow-up; None where nobody can.

    And where each of them sees things of its class in the source.
    """
    truth = source.scene.objects
    annotated = source.scene.knowledge.get("classes")
    label = canonical_class(thing["label"])
    if truth is not None and (annotated is None or label in map(canonical_class, annotated)):
        by_truth = _annotations(truth)
        same = [one.box for one in truth if canonical_class(one.label) == label and not one.crowd]
        return by_truth, by_truth, [np.array(same, np.float32).reshape(-1, 4)]
    voters = _voters(opinions, label)
    if not voters:
        return None

    def before(asked: Thing, overlap: float) -> float:
        return _mean([_sureness(one, one.before, asked, overlap) for one in voters])

    def after(asked: Thing, overlap: float) -> float:
        # Those who did not see it before would not see it now, whatever the change did.
        witnesses = [one for one in voters if _sureness(one, one.before, asked, overlap) >= AT_CONFIDENCE]
        return _mean([_sureness(one, one.after, asked, overlap) for one in witnesses or voters])

    return before, after, [_boxes_of(one.before, label, partial(_name, one)) for one in voters]


def mean_sureness(opinions: Sequence[Opinion], thing: Thing) -> float:
    """How sure referees are, 0 to 1, that a thing (a label and a box) is in the source."""
    voters = _voters(opinions, canonical_class(thing["label"]))
    return _mean([_sureness(one, one.before, thing, THERE) for one in voters]) if voters else 0.0


def _voters(opinions: Sequence[Opinion], label: str) -> list[Opinion]:
    """Those who know the class."""
    return [one for one in opinions if one.knows is None or label in map(partial(_name, one), one.knows)]


def _annotations(truth: Iterable[SceneObject]) -> Witness:
    """Sure either way; within a crowd, where single objects were not annotated, between the two."""

    def sureness(asked: Thing, overlap: float) -> float:
        label = canonical_class(asked["label"])
        same = [one for one in truth if canonical_class(one.label) == label]
        box = np.array([asked["box"]], np.float32)
        things, crowds = (
            np.array([one.box for one in same if one.crowd is crowd], np.float32).reshape(-1, 4)
            for crowd in (False, True)
        )
        if iou(box, things).max(initial=0.0) >= overlap:
            return 1.0
        in_crowd = (intersections(box, crowds) >= THERE * areas(box)[0]).any()
        return (DOUBT + SURE) / 2 if in_crowd else 0.0

    return sureness


def _sureness(opinion: Opinion, answer: Detections, thing: Thing, least: float) -> float:
    """How sure a referee is that it is there, 0 to 1, under whatever name it has for it."""
    label, sure = canonical_class(thing["label"]), answer.confidence
    own = [_name(opinion, name) == label for name in answer.labels]
    overlap = iou(np.array([thing["box"]], np.float32), answer.boxes)[0]
    score = float(answer.scores[(overlap >= least) & np.array(own, bool)].max(initial=0.0))
    if score < sure:
        return AT_CONFIDENCE * score / sure
    return AT_CONFIDENCE + (1 - AT_CONFIDENCE) * (score - sure) / (1 - sure) if sure < 1 else 1.0


def _name(opinion: Opinion, label: str) -> str:
    """What the system under test calls what a referee calls so."""
    return canonical_class(opinion.labels.get(label, label))


def _mean(sureness: Sequence[float]) -> float:
    return sum(sureness) / len(sureness)
