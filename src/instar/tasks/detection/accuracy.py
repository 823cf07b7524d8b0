"""How accurate answers are where scenes are annotated: average precision, and the confidence that suits best.

A box is right when it overlaps an object of its class by half of their union that no stronger box has. Boxes
on a crowd of their class are left out. Classes go by one name, whatever their sources call them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.scene import Observation, SceneObject
from instar.imaging.geometry import iou
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.average_precision import area_under_curve
from instar.tasks.detection.class_names import canonical_class

LEAST_IOU = 0.5
ON_CROWD = 0.1
Hit = tuple[str, float, bool]
"""Label and score of a box, and whether it is right."""
Known = tuple[Detections, Sequence[SceneObject]]
"""What was found in a picture, and what is in it."""


def measure_accuracy(seen: Sequence[Observation]) -> dict[str, Any]:
    """AP50 over the labels that are annotated, and where F1 is best; empty where nothing is annotated.

    Weak boxes count as well, so that the best confidence may be below the system's own.
    """
    known = [(one.answer, one.scene.objects) for one in seen if one.scene.objects is not None]
    objects = _count(known)
    if not objects:
        return {}
    hits = _all_hits(known, LEAST_IOU)
    f1, confidence = best_f1([(score, right) for _, score, right in hits], sum(objects.values()))
    named = {name for name, _, _ in hits}
    return {
        "AP50": round(_mean_precision(hits, objects), 3),
        "best F1": round(f1, 3),
        "at confidence": round(confidence, 2),
        "pictures": len(known),
        "objects": sum(objects.values()),
        "labels never named": sorted(set(objects) - named),
    }


def mean_precision(known: Sequence[Known], least: float = LEAST_IOU) -> float:
    """Average precision, the mean over the labels that are annotated; a box is right from that IoU on."""
    return _mean_precision(_all_hits(known, least), _count(known))


def _count(known: Sequence[Known]) -> Counter[str]:
    return Counter(canonical_class(thing.label) for _, things in known for thing in things if not thing.crowd)


def _all_hits(known: Sequence[Known], least: float) -> list[Hit]:
    hits = [hit for answer, things in known for hit in find_hits(answer, things, least)]
    return sorted(hits, key=lambda hit: -hit[1])


def _mean_precision(hits: Sequence[Hit], objects: Counter[str]) -> float:
    own: dict[str, list[bool]] = {label: [] for label in objects}
    for name, _, right in hits:
        if name in own:
            own[name].append(right)
    return float(np.mean([area_under_curve(rights, objects[label]) for label, rights in own.items()]))


def find_hits(found: Detections, things: Sequence[SceneObject], least: float = LEAST_IOU) -> Iterator[Hit]:
    """Every box of a picture, strongest first, but those on crowds."""
    truth = [thing for thing in things if not thing.crowd]
    crowds = [thing for thing in things if thing.crowd]
    overlap, on_crowd = iou(found.boxes, _boxes(truth)), iou(found.boxes, _boxes(crowds)) > ON_CROWD
    names, of_crowds = ([canonical_class(thing.label) for thing in some] for some in (truth, crowds))
    taken: set[int] = set()
    for i in np.argsort(-found.scores, kind="stable").tolist():
        label = canonical_class(found.labels[i])
        fits = [
            j for j, name in enumerate(names) if j not in taken and name == label and overlap[i, j] >= least
        ]
        if fits:
            taken.add(max(fits, key=lambda j: overlap[i, j]))
        elif any(on and name == label for on, name in zip(on_crowd[i], of_crowds)):
            continue
        yield label, float(found.scores[i]), bool(fits)


def best_f1(scored: Sequence[tuple[float, bool]], objects: int) -> tuple[float, float]:
    """The best F1, and the score from which on boxes have to count for it; `scored` is strongest first."""
    if not scored:
        return 0.0, 0.0
    right = np.cumsum([hit for _, hit in scored])
    f1 = 2 * right / (np.arange(1, len(scored) + 1) + objects)
    best = int(f1.argmax())
    return float(f1[best]), scored[best][0]


def _boxes(things: Sequence[SceneObject]) -> npt.NDArray[np.float32]:
    return np.array([thing.box for thing in things], np.float32).reshape(-1, 4)
