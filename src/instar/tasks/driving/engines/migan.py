"""Removing with MI-GAN, an inpainting network from the zoo: it invents what could have been there.

Good on thin and small holes such as lane lines, signs and people far away; large ones get blobs.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from instar import zoo
from instar.core.change import Inapplicable
from instar.core.scene import Image
from instar.cutouts import CutOuts
from instar.imaging.mask_text import mask_from_text
from instar.tasks.driving.engines import Edit, SceneView
from instar.tasks.driving.engines.selection import plan_removal
from instar.tasks.driving.rules.model import Condition

__all__ = ["make", "plan"]

GROWN = 2  # pixels around a thing that still show its edge


def plan(condition: Condition, view: SceneView, rng: np.random.Generator) -> tuple[Edit, ...] | Inapplicable:
    return plan_removal("migan", condition, view)


def make(image: Image, edit: Edit, cutouts: CutOuts) -> Image:
    """The picture without the thing; only its pixels change."""
    import cv2

    mask = mask_from_text(edit["mask"])
    hole = cv2.dilate(mask.astype(np.uint8), np.ones((2 * GROWN + 1, 2 * GROWN + 1), np.uint8))
    keep = np.where(hole > 0, np.uint8(0), np.uint8(255))
    pixels = np.ascontiguousarray(np.asarray(image).transpose(2, 0, 1))[None]
    (guessed,) = _network().run(None, {"image": pixels, "mask": keep[None, None]})
    return np.where(mask[..., None], guessed[0].transpose(1, 2, 0).astype(np.uint8), image)


@lru_cache(maxsize=1)
def _network() -> Any:
    import onnxruntime  # type: ignore[import-untyped]  # it ships no types

    (path,) = zoo.fetch("mi-gan")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # the same picture, however busy the machine is
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
