"""Removing and replacing as in the paper: a network paints the whole picture anew from the wanted label map.

Every pixel changes, also where the map does not, so that a driver may react to the paint alone. What the
driver does is therefore compared with what it does when shown the source painted from its own map (`source`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from instar.core.change import Inapplicable
from instar.core.scene import Image, Mask
from instar.cutouts import CutOuts
from instar.imaging.painter import paint_whole
from instar.imaging.street_classes import STREET
from instar.tasks.driving.engines import SOURCE, Edit, SceneView
from instar.tasks.driving.engines.label_painter import (
    ELSEWHERE,
    house_and_crumbs,
    ids_of,
    keep_patch,
    lay_patch,
    outlines_for,
    without,
)
from instar.tasks.driving.engines.selection import select_pixels
from instar.tasks.driving.engines.target_map import Ids, hole_around, planted
from instar.tasks.driving.ground import STANDING
from instar.tasks.driving.rules.model import Condition

HIGH = 0.6  # of the width: trees may be so high above the horizon
TREE = np.uint8(STREET.index("vegetation"))


@dataclass(frozen=True, slots=True)
class WholePainting:
    """The engine of that name, with the weights of that painter."""

    name: str
    painter: str

    def plan(
        self, condition: Condition, view: SceneView, rng: np.random.Generator
    ) -> tuple[Edit, ...] | Inapplicable:
        mask = select_pixels(condition, view)
        if isinstance(mask, Inapplicable):
            return mask
        told = {"of": condition.element}
        if condition.op == "remove":
            changed, wanted = without(mask, view, of=condition.element)
        else:
            outlines = outlines_for(condition, view)
            if isinstance(outlines, Inapplicable):
                return outlines
            told["becomes"] = "vegetation"
            house, crumbs = house_and_crumbs(mask, view)
            others = view.labels.mask((*STANDING, "vegetation")) & ~mask
            changed = hole_around(house, others, stands=False) | crumbs
            wanted = planted(ids_of(view), house, outlines, view.ground.horizon, rng, low=HIGH)
            wanted = np.where(crumbs, TREE, wanted).astype(np.uint8)
        return (self._edit(view, changed, wanted, told),)

    def source(self, view: SceneView) -> Edit:
        """The edit that paints the picture from the map that it has."""
        return self._edit(view, np.zeros(view.size, np.bool_), ids_of(view), {"of": SOURCE})

    def _edit(self, view: SceneView, changed: Mask, wanted: Ids, told: dict[str, str]) -> Edit:
        lost = changed if view.repainted is None else changed | view.repainted
        picture = paint_whole(view.image, lost, wanted, painter=self.painter)
        ids = np.where(changed, wanted, np.uint8(ELSEWHERE))
        patch = keep_patch(picture, np.ones(view.size, np.bool_), ids, STREET, view)
        return {"engine": self.name, "whole": True, **told, **patch}

    def make(self, image: Image, edit: Edit, cutouts: CutOuts) -> Image:
        """The picture that was painted."""
        return lay_patch(image, edit, cutouts)


camvid = WholePainting("whole", "camvid")
