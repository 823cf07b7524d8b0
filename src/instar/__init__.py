"""Test vision systems without labels: change the image in a way whose effect is known, ask again, compare.

The names below are imported when they are first used, so that `instar --help` need not wait for NumPy.
"""

from typing import TYPE_CHECKING

from instar.core.lazy import lazy_names

if TYPE_CHECKING:
    from instar.campaigns.run import run
    from instar.core.change import Change, Inapplicable
    from instar.core.errors import InstarError, Temporary
    from instar.core.frame import Frame, Moved, Variant
    from instar.core.marks import Dial, Mark, Panel
    from instar.core.recipe import recorded
    from instar.core.record import Record
    from instar.core.relation import Range, Relation
    from instar.core.scene import Observation, Scene, SceneObject
    from instar.core.search import across_scenes, bisect, draws, representative, shrink, sweep
    from instar.core.system import Limits, System
    from instar.core.task import Null, Nulls, Task
    from instar.core.verdict import Finding, Status, Verdict
    from instar.imaging.nulls import USUAL_NULLS
    from instar.notebook import Run
    from instar.scenes.folder import folder
    from instar.scenes.load import load_scenes

__all__ = [
    "USUAL_NULLS",
    "Change",
    "Dial",
    "Finding",
    "Frame",
    "Inapplicable",
    "InstarError",
    "Limits",
    "Mark",
    "Moved",
    "Null",
    "Nulls",
    "Observation",
    "Panel",
    "Range",
    "Record",
    "Relation",
    "Run",
    "Scene",
    "SceneObject",
    "Status",
    "System",
    "Task",
    "Temporary",
    "Variant",
    "Verdict",
    "across_scenes",
    "bisect",
    "draws",
    "folder",
    "load_scenes",
    "recorded",
    "representative",
    "run",
    "shrink",
    "sweep",
]

_HOMES = {
    "campaigns.run": ("run",),
    "core.change": ("Change", "Inapplicable"),
    "core.errors": ("InstarError", "Temporary"),
    "core.frame": ("Frame", "Moved", "Variant"),
    "core.marks": ("Dial", "Mark", "Panel"),
    "core.recipe": ("recorded",),
    "core.record": ("Record",),
    "core.relation": ("Range", "Relation"),
    "core.scene": ("Observation", "Scene", "SceneObject"),
    "core.search": ("across_scenes", "bisect", "draws", "representative", "shrink", "sweep"),
    "core.system": ("Limits", "System"),
    "core.task": ("Null", "Nulls", "Task"),
    "core.verdict": ("Finding", "Status", "Verdict"),
    "imaging.nulls": ("USUAL_NULLS",),
    "notebook": ("Run",),
    "scenes.folder": ("folder",),
    "scenes.load": ("load_scenes",),
}


__getattr__ = lazy_names("instar", {name: home for home, names in _HOMES.items() for name in names})


def __dir__() -> list[str]:
    return sorted(__all__)
