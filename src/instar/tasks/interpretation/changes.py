"""What is done to a picture: an object pasted or removed, or the background squeezed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import cv2
import numpy as np

from instar.core.change import Change
from instar.core.scene import Image, Mask
from instar.cutouts import CutOuts
from instar.imaging.by_identity import by_identity
from instar.imaging.geometry import Box
from instar.imaging.inpaint import Fill, Filling, migan, opencv
from instar.imaging.mask_text import mask_from_text
from instar.imaging.paste import Blend, pasted, resized, toned
from instar.zoo import fetch

Squeezing = Literal["depth", "median", "blur"]
SQUEEZES: dict[Squeezing, int] = {"depth": 5, "median": 5, "blur": 5}
"""Each way to squeeze with its usual strength: bits left of a colour, and the sides of the filters."""


@dataclass(frozen=True)
class Insert(Change):
    """A cut-out pasted at (x, y), clear of all that is known."""

    cutout: str
    label: str
    x: int
    y: int
    width: int
    height: int
    offset: float = 0.0
    blend: Blend = "feather"

    mark = "pasted"

    @property
    def box(self) -> Box:
        """Where the picture changes."""
        return (self.x, self.y, self.x + self.width, self.y + self.height)

    @property
    def part(self) -> tuple[slice, slice]:
        """Its rows and columns."""
        return slice(self.y, self.y + self.height), slice(self.x, self.x + self.width)

    def __str__(self) -> str:
        return f"a {self.label} of {self.width} x {self.height} px at ({self.x}, {self.y})"


@dataclass(frozen=True)
class PlaceboInsert(Insert):
    """The same silhouette at the same place, filled with the picture's own ground: nothing is there."""


@dataclass(frozen=True)
class Delete(Change):
    """The object in a box masked out and filled in. `hole` is its mask as text, less what others cover.

    With `part` (x1, y1, x2, y2) only what is inside of it.
    """

    label: str
    whole: Box
    hole: str
    filling: Filling
    part: tuple[int, int, int, int] | None = None

    mark = "removed"

    @property
    def box(self) -> Box:
        """Where the picture changes."""
        return self.whole if self.part is None else self.part

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
        x1, y1, x2, y2 = self.box
        if self.part is not None:
            return f"{x2 - x1:.0f} x {y2 - y1:.0f} px of the {self.label} removed, at ({x1:.0f}, {y1:.0f})"
        return f"without the {self.label} of {x2 - x1:.0f} x {y2 - y1:.0f} px at ({x1:.0f}, {y1:.0f})"


@dataclass(frozen=True)
class Squeeze(Change):
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
class Unchanged(Change):
    """The very question again."""

    def __str__(self) -> str:
        return "nothing changed"


def paste_object(image: Image, change: Insert, cutouts: CutOuts) -> Image:
    """The picture with the object in it."""
    result: Image = image.copy()
    result[change.part] = _pasted_part(image, change, cutouts)
    return result


@by_identity(8, each=64)  # what is judged by its looks is asked next
def _pasted_part(image: Image, change: Insert, cutouts: CutOuts) -> Image:
    ground = image[change.part]
    cutout = resized(cutouts.pixels(change.cutout), change.width, change.height)
    if isinstance(change, PlaceboInsert):
        cutout = np.dstack([ground[:, ::-1], cutout[..., 3]])  # mirrored, or else nothing would change
        return pasted(ground, cutout, 0, 0, change.blend)
    return pasted(ground, toned(cutout, 1.0, change.offset), 0, 0, change.blend)


def remove_object(image: Image, change: Delete) -> Image:
    return _fill(change.filling)(image, change.mask)


def squeeze_background(image: Image, change: Squeeze) -> Image:
    kept = mask_from_text(change.kept)
    squeezed = _squeeze(image, change.how, change.strength)
    return np.asarray(cv2.copyTo(image, kept.view(np.uint8), squeezed), np.uint8)


def _squeeze(image: Image, how: Squeezing, strength: int) -> Image:
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
