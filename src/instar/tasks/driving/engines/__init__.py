"""Engines that make the picture which a condition speaks of.

An engine has `plan`, which looks at the scene and decides, and `make`, which carries out what was decided.
What is decided is an edit: a flat mapping of JSON values that is everything needed to make the picture again.

An engine may have `alter(edit, comparative, view)`, which gives the edit that is closer, larger, more and so
on, or says why not; and `move(edit, distance, view)`, which brings what was added so many metres away (the
least and the most of them). It may have `less(edit, view)`, which yields lines of edits that do less, the
least first; without it what it does is not made smaller when a failing change is shrunk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from instar.core.change import Inapplicable
from instar.core.scene import Image, Mask
from instar.cutouts import CutOuts
from instar.imaging.labels import LabelMap
from instar.tasks.driving.gallery import Gallery
from instar.tasks.driving.ground import GroundPlane
from instar.tasks.driving.rules.model import Condition
from instar.tasks.driving.rules.ontology import Ontology
from instar.worlds.drive.plan import Drive

__all__ = ["SOURCE", "Edit", "Engine", "SceneView"]

Edit = Mapping[str, Any]

SOURCE = "source"
"""What an edit is of that paints the picture as it is."""


@dataclass(frozen=True, slots=True, eq=False)
class SceneView:
    """What an engine may look at to decide: the picture and what is known about it.

    `drive` is the description of a drawn drive. `least_lines` and `least_objects` are the shares of the
    picture that must be there to be removed or replaced: less cannot be expected to matter. `lens` is how
    many degrees wide a photograph's view is, where somebody knows. `repainted` is where earlier edits show
    something else than the picture, if they painted it as a whole.
    """

    scene: str
    image: Image
    labels: LabelMap
    ground: GroundPlane
    gallery: Gallery | None
    ontology: Ontology
    drive: Drive | None = None
    least_lines: float = 0.01
    least_objects: float = 0.05
    lens: float | None = None
    repainted: Mask | None = None

    @property
    def size(self) -> tuple[int, int]:
        return self.image.shape[0], self.image.shape[1]


class Engine(Protocol):
    """How a module or an object is used as an engine."""

    def plan(
        self, condition: Condition, view: SceneView, rng: np.random.Generator
    ) -> tuple[Edit, ...] | Inapplicable: ...

    def make(self, image: Image, edit: Edit, cutouts: CutOuts) -> Image: ...
