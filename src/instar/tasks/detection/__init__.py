"""Object detection: insert an object, and everything else must still be found (MetaOD)."""

from instar.tasks.detection.adaptive import adaptive
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.average_precision import map_equal
from instar.tasks.detection.compare import same_objects
from instar.tasks.detection.relations import insertion
from instar.tasks.detection.searches import guided, random, relocation

__all__ = [
    "Detections",
    "adaptive",
    "guided",
    "insertion",
    "map_equal",
    "random",
    "relocation",
    "same_objects",
]
