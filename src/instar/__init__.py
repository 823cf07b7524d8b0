"""Test vision systems without labels: change the image in a way whose effect is known, ask again, compare.

The names below are imported when they are first used, so that `instar --help` need not wait for NumPy.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from instar.errors import InstarError, Temporary
    from instar.record import Record
    from instar.relation import Change, Inapplicable, Relation
    from instar.running import run
    from instar.scene import Observation, Scene, SceneObject
    from instar.scenes.folder import folder
    from instar.scenes.loading import load_scenes
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
    "folder",
    "load_scenes",
    "run",
    "shrink",
    "sweep",
]

_HOMES = {
    "errors": ("InstarError", "Temporary"),
    "record": ("Record",),
    "relation": ("Change", "Inapplicable", "Relation"),
    "running": ("run",),
    "scene": ("Observation", "Scene", "SceneObject"),
    "scenes.folder": ("folder",),
    "scenes.loading": ("load_scenes",),
    "search": ("across_scenes", "bisect", "draws", "shrink", "sweep"),
    "system": ("Limits", "System"),
    "verdict": ("Finding", "Status", "Verdict"),
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"instar.{home}"), name)
    raise AttributeError(f"module 'instar' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
