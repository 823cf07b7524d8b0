"""Changes after which a picture shows what it showed, each in the range where nobody would disagree."""

from __future__ import annotations

from types import SimpleNamespace

from instar.core.relation import Range, Relation
from instar.imaging.camera import turn
from instar.imaging.whole_picture import whole_picture_relations
from instar.tasks.classification.task import TASK

RELATIONS = SimpleNamespace(
    **whole_picture_relations(TASK),
    rotated=Relation("rotated", TASK, turn, severity=Range(2, 10, "degrees")),
)
