"""Object detection: insert an object, and everything else must still be found (MetaOD)."""

from instar.detection.adaptive import adaptive
from instar.detection.answers import Detections
from instar.detection.insertion import insertion
from instar.detection.map_equal import map_equal
from instar.detection.same_objects import same_objects
from instar.detection.searches import guided, random, relocation

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
