"""What is done to a picture: an object pasted or removed, or the background squeezed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import cv2
import numpy as np

from instar.core.scene import Image, Mask
from instar.cutouts import CutOuts
from instar.imaging.inpaint import Fill, Filling, migan, opencv
from instar.imaging.mask_text import mask_from_text
from instar.imaging.nulls import Conditioned, null_made, under
from instar.imaging.paste import Blend, pasted, resized, toned
from instar.tasks.interpretation.answers import Asked, Box
from instar.zoo import fetch

__all__ = ["SQUEEZES", "Delete", "Insert", "Reseed", "Squeeze", "Squeezing", "Unchanged", "made"]

Squeezing = Literal["depth", "median", "blur"]
SQUEEZES: dict[Squeezing, int] = {"depth": 5, "median": 5, "blur": 5}
"""Each way to squeeze with its usual strength: bits left of a colour, and the sides of the filters."""


@dataclass(frozen=True)
class Insert(Conditioned):
    """A cut-out pasted at (x, y), clear of all that is known."""

    cutout: str
    label: str
    x: int
    y: int
    width: int
    height: int
    offset: float = 0.0
    blend: Blend = "feather"

    @property
    def box(self) -> Box:
        return (self.x, self.y, self.x + self.width, self.y + self.height)

    @property
    def touched(self) -> Box:
        """Where the picture changes."""
        return self.box

    def __str__(self) -> str:
        return f"a {self.label} of {self.width} x {self.height} px at ({self.x}, {self.y})"


@dataclass(frozen=True)
class Delete(Conditioned):
    """An object masked out and filled in. `hole` is its mask as text, less what other objects cover.

    With `part` (x1, y1, x2, y2) only what is inside of it.
    """

    label: str
    box: tuple[float, float, float, float]
    hole: str
    filling: Filling
    part: tuple[int, int, int, int] | None = None

    @property
    def touched(self) -> Box:
        """Where the picture changes."""
        return self.box if self.part is None else self.part

    @property
    def mask(self) -> Mask:
        """What is filled in."""
        hole = mask_from_text(self.hole)
        if self.part is None:
            return hole
        x1, y1, x2, y2 = self.part
        inside: Mask = np.zeros_like(hole)
        inside[y1:y2, x1:x2] = hole[y1:y2, x1:x2]
        return inside

    def __str__(self) -> str:
        x1, y1, x2, y2 = self.touched
        if self.part is not None:
            return f"{x2 - x1:.0f} x {y2 - y1:.0f} px of the {self.label} removed, at ({x1:.0f}, {y1:.0f})"
        return f"without the {self.label} of {x2 - x1:.0f} x {y2 - y1:.0f} px at ({x1:.0f}, {y1:.0f})"


@dataclass(frozen=True)
class Squeeze(Conditioned):
    """The background with fewer colours ("depth"), or without detail. `kept` is the mask of what stays."""

    how: Squeezing
    strength: int
    kept: str

    def __str__(self) -> str:
        return {
            "depth": f"background in {self.strength} bits a colour",
            "median": f"background through a median of {self.strength} x {self.strength}",
            "blur": f"background blurred by {self.strength} x {self.strength}",
        }[self.how]


@dataclass(frozen=True)
class Unchanged(Conditioned):
    """The very question again."""

    def __str__(self) -> str:
        return "nothing changed"


@dataclass(frozen=True)
class Reseed(Conditioned):
    """The same picture, with other lots drawn by an interpreter that draws some."""

    seed: int

    def __str__(self) -> str:
        return f"lots drawn anew ({self.seed})"


def made(asked: Asked, change: Conditioned, cutouts: Callable[[], CutOuts]) -> Asked:
    """The question after the change, and under its condition."""
    image = asked.image
    match change:
        case Insert():
            cutout = resized(cutouts().pixels(change.cutout), change.width, change.height)
            result = pasted(image, toned(cutout, 1.0, change.offset), change.x, change.y, change.blend)
        case Delete():
            result = _fill(change.filling)(image, change.mask)
        case Squeeze():
            kept = mask_from_text(change.kept)
            result = np.where(kept[..., None], image, squeezed(image, change.how, change.strength))
        case Unchanged():
            result = image
        case Reseed():
            return replace(asked, image=under(image, change.condition), seed=change.seed)
        case _:
            result = null_made(image, change)
    return replace(asked, image=under(np.ascontiguousarray(result), change.condition))


def squeezed(image: Image, how: Squeezing, strength: int) -> Image:
    """The whole picture with so many bits a colour, or through a filter of so many pixels."""
    if how == "depth":
        # As in feature squeezing: the nearest of the levels that are left, from black to white.
        most = 2**strength - 1
        table = np.rint(np.rint(np.arange(256) * (most / 255)) * (255 / most)).astype(np.uint8)
        return np.asarray(cv2.LUT(image, table), np.uint8)
    if how == "median":
        return np.asarray(cv2.medianBlur(image, strength), np.uint8)
    return np.asarray(cv2.GaussianBlur(image, (strength, strength), 0), np.uint8)


@lru_cache(maxsize=4)
def _fill(filling: Filling) -> Fill:
    return migan(fetch("mi-gan")[0]) if filling == "mi-gan" else opencv(filling)
