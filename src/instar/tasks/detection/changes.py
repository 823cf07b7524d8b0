"""An object pasted into a picture."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from instar.core.change import Change
from instar.core.scene import Image
from instar.cutouts import CutOuts
from instar.imaging.geometry import Box
from instar.imaging.harmony import blurred, grained, shaded, tinted
from instar.imaging.paste import BLENDS, Blend, pasted, resized, toned

__all__ = ["Insertion", "paste"]

SHADOW_FLAT = 0.16  # the shadow's height as a share of its width


@dataclass(frozen=True)
class Insertion(Change):
    """A cut-out pasted at (x, y). With `flat` only its silhouette is, in its mean colour: the placebo.

    `gain`, `offset`, `saturation` and `cast` (of red, green and blue) are its light; `blur` is the sigma in
    pixels and `grain` the grey levels that it lacked; `shadow` is how dark the ground at its feet becomes.
    What was relocated has `start`, the corner where it was violated first, and `travelled`, the share of its
    way to the goal.
    """

    cutout: str
    label: str
    x: int
    y: int
    width: int
    height: int
    blend: Blend
    gain: float
    offset: float
    saturation: float = 1.0
    anchor: int | None = None
    flat: bool = False
    cast: tuple[float, float, float] = (1.0, 1.0, 1.0)
    blur: float = 0.0
    grain: float = 0.0
    shadow: float = 0.0
    start: tuple[int, int] | None = None
    travelled: float = 0.0

    def __post_init__(self) -> None:
        if self.blend not in BLENDS:
            raise ValueError(f"blend is {self.blend!r}; it is one of {', '.join(BLENDS)}")

    @property
    def box(self) -> Box:
        return (self.x, self.y, self.x + self.width, self.y + self.height)

    @property
    def mark(self) -> str:
        """What is written beside its box."""
        return f"pasted {self.label}"

    def __str__(self) -> str:
        what = f"{'a flat blob like a' if self.flat else 'a'} {self.label}"
        return f"{what} of {self.width} x {self.height} px at ({self.x}, {self.y})"


def paste(image: Image, change: Insertion, cutouts: CutOuts) -> Image:
    """The picture with the object in it."""
    cutout = resized(cutouts.pixels(change.cutout), change.width, change.height)
    cutout = tinted(toned(cutout, change.gain, change.offset, change.saturation), change.cast)
    if change.flat:
        opaque = cutout[cutout[..., 3] > 127]
        cutout = cutout.copy()
        cutout[..., :3] = np.rint(opaque[:, :3].mean(axis=0)) if len(opaque) else 127
    cutout = grained(blurred(cutout, change.blur), change.grain, seed=zlib.crc32(change.cutout.encode()))
    ground = shaded(image, (change.x, change.y, *_end(change)), change.shadow, SHADOW_FLAT)
    return pasted(ground, cutout, change.x, change.y, change.blend)


def _end(change: Insertion) -> tuple[int, int]:
    return change.x + change.width, change.y + change.height
