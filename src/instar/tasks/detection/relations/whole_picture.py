"""The whole picture changes, as cameras and weather change it: everything found must be found again."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from instar.core.change import Inapplicable
from instar.core.relation import Relation
from instar.core.scene import Observation
from instar.imaging.whole_picture import whole_picture_relations
from instar.tasks.detection.class_names import canonical_class
from instar.tasks.detection.task import TASK

OUTDOORS = frozenset({
    "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat", "traffic light",
    "fire hydrant", "stop sign", "parking meter", "bench", "horse", "sheep", "cow", "elephant", "bear",
    "zebra", "giraffe", "skis", "snowboard", "kite", "baseball bat", "surfboard",
})  # fmt: skip
INDOORS = frozenset({
    "couch", "bed", "toilet", "tv", "microwave", "oven", "toaster", "sink", "refrigerator",
})  # fmt: skip


def _only_outdoors(relation: Relation) -> Relation:
    """Weather is for scenes in which something is found that stands outdoors, and nothing of a room."""
    assert relation.severity is not None

    def at(source: Observation, level: float) -> float | Inapplicable:
        found = {canonical_class(label) for label in source.answer.confident().labels}
        outdoors = found & OUTDOORS and not found & INDOORS
        return level if outdoors else Inapplicable("nothing shows that it is outdoors")

    return replace(relation, severity=replace(relation.severity, at=at))


_made = whole_picture_relations(TASK)
RELATIONS = SimpleNamespace(**_made | {name: _only_outdoors(_made[name]) for name in ("hazy", "rainy")})
