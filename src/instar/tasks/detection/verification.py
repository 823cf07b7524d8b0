"""What a finding is worth: is what was lost really there, and is what is new really not?

Annotations say so where the class is one of theirs; elsewhere other detectors do, the referees. Each says how
sure it is that the object is there, 0.5 where its score is just its own confidence. With that on average, or
more, it is there; clearly below it is not, and between the two nobody can say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from instar.core.scene import Observation, SceneObject
from instar.core.task import Opinion
from instar.core.verdict import Finding
from instar.imaging.geometry import areas, intersections, iou
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.class_names import canonical_class

__all__ = ["verify"]

THERE = 0.5  # IoU from which on two boxes are about the same object
SURE = 0.5  # of the referees on average: then it is there
DOUBT = 0.4  # then it is not; docs/detection.md has how often that is right
AT_CONFIDENCE = 0.5  # how sure a referee is whose score is just its confidence
LITTLE = 0.2  # of a score: what changed by less has slipped over the line
WITHIN = 0.7  # of the smaller box: then it is a second box on the same object

Thing: TypeAlias = Mapping[str, Any]
"""A label, a score and a box, as a finding tells them."""
Witness: TypeAlias = Callable[[Thing], "bool | None"]
"""Whether a thing is in a picture; None where nobody can say."""


def verify(
    source: Observation, follow_up: Observation, finding: Finding, opinions: Sequence[Opinion] = ()
) -> str:
    """What truth or referees say about a finding (see `Task.verify`)."""
    was, now = finding.evidence.get("was"), finding.evidence.get("is")
    thing = now if was is None else was
    if thing is None:
        return "unknown"
    before, after = _witnesses(source, thing, opinions)
    if was is None:
        return _judge_new(finding, thing, follow_up.answer, before, after)
    is_there = before(was)
    if is_there is None:
        return "unknown"
    if not is_there:
        return "now right" if now is not None and before(now) else "was false"
    if after(was) is False:
        return "unfair"
    moved_little = finding.kind == "drifted" and now is not None and before(now)
    return "slipped" if moved_little or finding.margin > -LITTLE else "real"


def _judge_new(finding: Finding, now: Thing, answer: Detections, before: Witness, after: Witness) -> str:
    was_there = before(now)
    if was_there:
        return "now right"
    second = _second_label(now, answer)
    if second:
        return second
    if was_there is None:
        return "unknown"
    if after(now):
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


def _witnesses(source: Observation, thing: Thing, opinions: Sequence[Opinion]) -> tuple[Witness, Witness]:
    """Who can say what is in the source, and what is in the follow-up."""
    truth = source.scene.objects
    annotated = source.scene.knowledge.get("classes")
    label = canonical_class(thing["label"])
    if truth is not None and (annotated is None or label in map(canonical_class, annotated)):
        by_truth = _annotations(truth)
        return by_truth, by_truth
    voters = [one for one in opinions if one.knows is None or label in map(canonical_class, one.knows)]

    def before(asked: Thing) -> bool | None:
        return _verdict_of([_sureness(one, one.before, asked) for one in voters])

    def after(asked: Thing) -> bool | None:
        # Those who did not see it before would not see it now, whatever the change did.
        witnesses = [one for one in voters if _sureness(one, one.before, asked) >= AT_CONFIDENCE]
        votes = [_sureness(one, one.after, asked) >= AT_CONFIDENCE for one in witnesses or voters]
        return sum(votes) * 2 >= len(votes) if votes else None

    return before, after


def _annotations(truth: Iterable[SceneObject]) -> Witness:
    things = [(canonical_class(one.label), one.box) for one in truth if not one.crowd]
    crowds = [(canonical_class(one.label), one.box) for one in truth if one.crowd]

    def is_there(asked: Thing) -> bool | None:
        label = canonical_class(asked["label"])
        if _overlaps(asked, [box for own, box in things if own == label]):
            return True
        # Within a crowd single objects were not annotated.
        box = np.array([asked["box"]], np.float32)
        around = np.array([box for own, box in crowds if own == label], np.float32).reshape(-1, 4)
        in_crowd = (intersections(box, around) >= THERE * areas(box)[0]).any()
        return None if in_crowd else False

    return is_there


def _sureness(opinion: Opinion, answer: Detections, thing: Thing) -> float:
    """How sure a referee is that it is there, 0 to 1, under whatever name it has for it."""
    label, sure = canonical_class(thing["label"]), answer.confidence
    own = [canonical_class(opinion.labels.get(name, name)) == label for name in answer.labels]
    overlap = iou(np.array([thing["box"]], np.float32), answer.boxes)[0]
    score = float(answer.scores[(overlap >= THERE) & np.array(own, bool)].max(initial=0.0))
    if score < sure:
        return AT_CONFIDENCE * score / sure
    return AT_CONFIDENCE + (1 - AT_CONFIDENCE) * (score - sure) / (1 - sure) if sure < 1 else 1.0


def _verdict_of(sureness: Sequence[float]) -> bool | None:
    mean = sum(sureness) / len(sureness) if sureness else None
    if mean is None or DOUBT <= mean < SURE:
        return None
    return mean >= SURE


def _overlaps(thing: Thing, boxes: Sequence[npt.ArrayLike]) -> bool:
    others = np.array(boxes, np.float32).reshape(-1, 4)
    return bool(iou(np.array([thing["box"]], np.float32), others).max(initial=0.0) >= THERE)
