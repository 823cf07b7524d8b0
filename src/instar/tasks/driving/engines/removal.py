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
from instar.tasks.driving.engines.selection import select_pixels
from instar.tasks.driving.rules.model import Condition

__all__ = ["fill", "migan"]


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
        return ({"engine": self.name, "of": condition.element, "mask": mask_to_text(mask)},)

    def make(self, image: Image, edit: Edit, cutouts: CutOuts) -> Image:
        """The picture without the thing; only its pixels change."""
        return self.without(image, mask_from_text(edit["mask"]))

    def without(self, image: Image, mask: Mask) -> Image:
        """The picture with the mask filled in."""
        hole = cv2.dilate(mask.astype(np.uint8), np.ones((self.margin, self.margin), np.uint8))
        return np.where(mask[..., None], self.inpaint()(np.asarray(image), hole > 0), image)


fill = Removal("fill", 3, opencv)
migan = Removal("migan", 5, lambda: migan_fill(*zoo.fetch("mi-gan")))
