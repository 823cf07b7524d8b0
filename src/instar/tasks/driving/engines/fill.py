"""Removing by filling a thing's pixels from what is around them."""

from __future__ import annotations

import cv2
import numpy as np

from instar.core.change import Inapplicable
from instar.core.scene import Image, Mask
from instar.cutouts import CutOuts
from instar.imaging.mask_text import mask_from_text
from instar.tasks.driving.engines import Edit, SceneView
from instar.tasks.driving.engines.selection import plan_removal
from instar.tasks.driving.rules.model import Condition

__all__ = ["fill_in", "make", "plan"]

RADIUS = 4  # pixels around a hole that it is filled from
MARGIN = 3  # pixels around a thing that still show its edge: they are not used to fill it


def plan(condition: Condition, view: SceneView, rng: np.random.Generator) -> tuple[Edit, ...] | Inapplicable:
    return plan_removal("fill", condition, view)


def make(image: Image, edit: Edit, cutouts: CutOuts) -> Image:
    """The picture without the thing; only its pixels change."""
    return fill_in(image, mask_from_text(edit["mask"]))


def fill_in(image: Image, mask: Mask) -> Image:
    """The picture with the mask filled in; a little around it is not used, as it shows the thing's edge."""
    hole = cv2.dilate(mask.astype(np.uint8), np.ones((MARGIN, MARGIN), np.uint8))
    guessed = cv2.inpaint(image, hole, RADIUS, cv2.INPAINT_TELEA)
    return np.where(mask[..., None], guessed, image)
