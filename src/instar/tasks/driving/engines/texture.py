"""Replacing what covers a large part of the picture: its pixels are painted over with a texture."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.change import Inapplicable
from instar.core.scene import Image
from instar.cutouts import CutOuts
from instar.imaging.mask_text import mask_from_text, mask_to_text
from instar.tasks.driving.engines import Edit, SceneView
from instar.tasks.driving.engines.selection import select_pixels
from instar.tasks.driving.engines.words import unshown
from instar.tasks.driving.rules.model import Condition

__all__ = ["make", "plan"]

LEAVES = np.array([[28, 44, 22], [52, 78, 38], [86, 112, 58], [132, 150, 92]], np.float32)
"""Foliage from its shade to its light, RGB."""


def plan(condition: Condition, view: SceneView, rng: np.random.Generator) -> tuple[Edit, ...] | Inapplicable:
    assert condition.new is not None, "what is replaced is replaced by something"
    if condition.new.element != "tree":
        return Inapplicable(f"no texture of a {condition.new.element!r}")
    unsaid = unshown(condition, own=tuple(condition.properties), reference=("position",))
    if unsaid is not None:
        return unsaid
    mask = select_pixels(condition, view)
    if isinstance(mask, Inapplicable):
        return mask
    light = float(view.image[mask].mean()) / 128
    return (
        {
            "engine": "texture",
            "of": condition.element,
            "becomes": "vegetation",
            "mask": mask_to_text(mask),
            "light": round(float(np.clip(light, 0.2, 1.3)), 3),
            "seed": int(rng.integers(2**31)),
        },
    )


def make(image: Image, edit: Edit, cutouts: CutOuts) -> Image:
    """The picture with foliage where the mask is, softened along its edge but never beyond."""
    mask = mask_from_text(edit["mask"])
    leaves = _foliage(mask.shape, np.random.default_rng(edit["seed"])) * np.float32(edit["light"])
    soft = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), 1.2)
    cover = (np.clip(soft * 2 - 1, 0, 1) * mask)[..., None]
    mixed = image * (1 - cover) + np.clip(leaves, 0, 255) * cover
    return np.where(mask[..., None], np.rint(mixed).astype(np.uint8), image)


def _foliage(shape: tuple[int, ...], rng: np.random.Generator) -> npt.NDArray[np.float32]:
    """Leaves, twigs and crowns: noise of several sizes, shaded from dark to light."""
    height, width = shape[0], shape[1]
    noise = np.zeros((height, width), np.float32)
    for share, weight in ((0.14, 0.25), (0.05, 0.25), (0.02, 0.25), (0.008, 0.25)):
        size = max(2, round(share * height))
        coarse = rng.random((height // size + 3, width // size + 3)).astype(np.float32)
        grown = cv2.resize(coarse, (width + 2 * size, height + 2 * size), interpolation=cv2.INTER_CUBIC)
        noise += np.float32(weight) * grown[size : size + height, size : size + width]
    spread = np.clip((noise - 0.28) / 0.44, 0, 0.999) * (len(LEAVES) - 1)
    low = spread.astype(np.int32)
    part = (spread - low)[..., None]
    return np.asarray(LEAVES[low] * (1 - part) + LEAVES[low + 1] * part, np.float32)
