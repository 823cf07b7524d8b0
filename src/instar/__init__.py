"""Test vision systems without labels: change the image in a way whose effect is known, ask again, compare.

The names below are imported when they are first used, so that `instar --help` need not wait for NumPy.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from instar.core.change import Change, Inapplicable
    from instar.core.errors import InstarError, Temporary
    from instar.core.record import Record
    from instar.core.relation import Relation
    from instar.core.run import run
    from instar.core.scene import Observation, Scene, SceneObject
    from instar.core.search import across_scenes, bisect, draws, shrink, sweep
    from instar.core.system import Limits, System
    from instar.core.verdict import Finding, Status, Verdict
    from instar.scenes.folder import folder
    from instar.scenes.load import load_scenes

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
    "folder",
    "load_scenes",
    "run",
    "shrink",
    "sweep",
]

_HOMES = {
    "core.errors": ("InstarError", "Temporary"),
    "core.record": ("Record",),
    "core.relation": ("Change", "Inapplicable", "Relation"),
    "core.run": ("run",),
    "core.scene": ("Observation", "Scene", "SceneObject"),
    "core.search": ("across_scenes", "bisect", "draws", "shrink", "sweep"),
    "core.system": ("Limits", "System"),
    "core.verdict": ("Finding", "Status", "Verdict"),
    "scenes.folder": ("folder",),
    "scenes.load": ("load_scenes",),
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"instar.{home}"), name)
    raise AttributeError(f"module 'instar' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
