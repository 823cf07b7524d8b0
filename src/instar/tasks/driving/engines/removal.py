"""Removing by filling a thing's pixels in: from what is around them, or with a network that invents.

MI-GAN, of the zoo, is good on thin and small holes such as lane lines, signs and people far away; large ones
get blobs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from instar import zoo
from instar.core.change import Inapplicable
from instar.core.scene import Image, Mask
from instar.cutouts import CutOuts
from instar.imaging.inpaint import Fill, opencv
from instar.imaging.inpaint import migan as migan_fill
from instar.imaging.mask_text import mask_from_text, mask_to_text
from instar.tasks.driving.engines import Edit, SceneView
from instar.tasks.driving.engines.selection import LINES, select_pixels
from instar.tasks.driving.engines.target_map import hole_around
from instar.tasks.driving.ground import STANDING
from instar.tasks.driving.maps import find_lines
from instar.tasks.driving.rules.model import Condition

BESIDE = 15  # pixels
LEFT = 0.3  # of the bright pixels of lines: as much may still be there


@dataclass(frozen=True, slots=True)
class Removal:
    """The engine of that name. A hole is `margin` pixels wide at least: a thing's edge shows around it."""

    name: str
    margin: int
    inpaint: Callable[[], Fill]

    def plan(
        self, condition: Condition, view: SceneView, rng: np.random.Generator
    ) -> tuple[Edit, ...] | Inapplicable:
        mask = select_pixels(condition, view)
        if isinstance(mask, Inapplicable):
            return mask
        edit = {"engine": self.name, "of": condition.element, "mask": mask_to_text(mask)}
        if condition.element not in LINES:
            stands = bool(set(view.ontology.elements[condition.element].classes) & set(STANDING))
            hole = hole_around(mask, view.labels.mask(STANDING) & ~mask, stands=stands)
            return ({**edit, "hole": mask_to_text(hole)},)
        # Asphalt comes from the road: what is beside a line at the kerb must not run into it.
        around = cv2.dilate(mask.astype(np.uint8), np.ones((BESIDE, BESIDE), np.uint8)) > 0
        beside = around & ~view.ground.road & ~mask
        if _is_every_line(condition) and view.drive is None:
            after = self.without(view.image, mask, beside)
            if _left(view, mask, after) > LEFT:
                return Inapplicable("not all of the lines would be gone")
        return ({**edit, "beside": mask_to_text(beside)},)

    def make(self, image: Image, edit: Edit, cutouts: CutOuts) -> Image:
        """The picture without the thing; only its pixels change, its edge and its shadow."""
        beside = mask_from_text(edit["beside"]) if "beside" in edit else None
        return self.without(image, mask_from_text(edit.get("hole", edit["mask"])), beside)

    def without(self, image: Image, mask: Mask, beside: Mask | None = None) -> Image:
        """The picture with the mask filled in, from anything but what is `beside`."""
        hole = cv2.dilate(mask.astype(np.uint8), np.ones((self.margin, self.margin), np.uint8)) > 0
        hole = hole if beside is None else hole | beside
        return np.where(mask[..., None], self.inpaint()(np.asarray(image), hole), image)


def _is_every_line(condition: Condition) -> bool:
    everywhere = condition.reference in (None, "road", "scene")
    return condition.element == "line" and everywhere and condition.count is None and not condition.properties


def _left(view: SceneView, lines: Mask, after: Image) -> float:
    """How much of the picture of the lines still shows strokes as bright as they were, as a share of them."""
    light, then = (cv2.cvtColor(np.asarray(one), cv2.COLOR_RGB2GRAY) for one in (view.image, after))
    bright = (np.quantile(light[lines], 0.75) + np.median(light[view.ground.road])) / 2
    left = find_lines(view.labels, after) & (then > bright)
    return float(left.sum() / max(1, np.count_nonzero(lines & (light > bright))))


fill = Removal("fill", 3, opencv)
migan = Removal("migan", 5, lambda: migan_fill(*zoo.fetch("mi-gan")))
