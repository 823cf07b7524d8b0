"""Object detection: what was found must still be found (MetaOD)."""

from typing import TYPE_CHECKING

from instar.core.lazy import lazy_names

if TYPE_CHECKING:
    from instar.tasks.detection.answers import Detections
    from instar.tasks.detection.average_precision import map_equal
    from instar.tasks.detection.compare import same_objects
    from instar.tasks.detection.relations.copied_object import copy
    from instar.tasks.detection.relations.insertion import insertion
    from instar.tasks.detection.relations.removed_object import removal
    from instar.tasks.detection.searches import guided, random, relocation
    from instar.tasks.detection.task import detection

__all__ = [
    "Detections",
    "copy",
    "detection",
    "guided",
    "insertion",
    "map_equal",
    "random",
    "relocation",
    "removal",
    "same_objects",
]

_HOMES = dict.fromkeys(__all__, "searches") | {
    "Detections": "answers",
    "copy": "relations.copied_object",
    "detection": "task",
    "insertion": "relations.insertion",
    "map_equal": "average_precision",
    "removal": "relations.removed_object",
    "same_objects": "compare",
}
__getattr__ = lazy_names(__name__, _HOMES)
