"""Test vision systems without labels: change the image in a way whose effect is known, ask again, compare."""

from instar.errors import InstarError, Temporary
from instar.record import Record
from instar.relation import Change, Inapplicable, Relation
from instar.running import run
from instar.scene import Observation, Scene, SceneObject
from instar.search import across_scenes, bisect, draws, shrink, sweep
from instar.system import Limits, System
from instar.verdict import Finding, Status, Verdict

__all__ = [
    "Change",
    "Finding",
    "Inapplicable",
    "InstarError",
    "Limits",
    "Observation",
    "Record",
    "Relation",
    "Scene",
    "SceneObject",
    "Status",
    "System",
    "Temporary",
    "Verdict",
    "across_scenes",
    "bisect",
    "draws",
    "run",
    "shrink",
    "sweep",
]
