"""An object pasted into a picture, copied within it, or removed from it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from instar.core.change import Change
from instar.core.scene import Image
from instar.cutouts import CutOuts
from instar.imaging.by_identity import by_identity
from instar.imaging.geometry import Box, Boxes, areas, intersections
from instar.imaging.harmony import blurred, grained, shaded, tinted
from instar.imaging.paste import BLENDS, Blend, pasted, resized, toned

WITHIN = 0.5  # of a box within the hole of a removal: then it is about what was removed

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
    def part(self) -> tuple[slice, slice]:
        """Its rows and columns."""
        return slice(self.y, self.y + self.height), slice(self.x, self.x + self.width)

    @property
    def mark(self) -> str:
        """What is written beside its box."""
        return f"pasted {self.label}"

    def __str__(self) -> str:
        what = f"{'a flat blob like a' if self.flat else 'a'} {self.label}"
        return f"{what} of {self.width} x {self.height} px at ({self.x}, {self.y})"


def paste(image: Image, change: Insertion, cutouts: CutOuts) -> Image:
    """The picture with the object in it."""
    result: Image = image.copy()
    result[change.part] = paste_part(image, change, cutouts)
    return result


@by_identity(8, each=64)  # what is judged by its looks is asked next
def paste_part(image: Image, change: Insertion, cutouts: CutOuts) -> Image:
    """The box of the object with the object in it: nothing else of the picture changes."""
    place = image[change.part]
    if place.shape[:2] != (change.height, change.width):
        raise ValueError(f"{change} does not lie inside the picture")
    cutout = resized(cutouts.pixels(change.cutout), change.width, change.height)
    cutout = tinted(toned(cutout, change.gain, change.offset, change.saturation), change.cast)
    if change.flat:
        opaque = cutout[cutout[..., 3] > 127]
        cutout = cutout.copy()
        cutout[..., :3] = np.rint(opaque[:, :3].mean(axis=0)) if len(opaque) else 127
    cutout = grained(blurred(cutout, change.blur), change.grain, seed=zlib.crc32(change.cutout.encode()))
    ground = shaded(place, (0, 0, change.width, change.height), change.shadow, SHADOW_FLAT)
    return pasted(ground, cutout, 0, 0, change.blend)


@dataclass(frozen=True)
class Copy(Change):
    """An object of the picture itself, shown once more in `box`.

    The cut-out has its shadow around it, so it is larger: `x`, `y`, `width` and `height` are its own.
    Whatever stands in front is put back over it: `behind` has the cut-outs and boxes of these things.
    """

    cutout: str
    label: str
    x: int
    y: int
    width: int
    height: int
    box: tuple[int, int, int, int]
    mirrored: bool = False
    behind: tuple[tuple[str, int, int, int, int], ...] = ()

    @property
    def mark(self) -> str:
        """What is written beside its box."""
        return f"copied {self.label}"

    def __str__(self) -> str:
        x1, y1, x2, y2 = self.box
        where = f"a second {self.label} of {x2 - x1} x {y2 - y1} px at ({x1}, {y1})"
        return where + (", mirrored" if self.mirrored else "") + (", behind something" if self.behind else "")


def paste_copy(image: Image, change: Copy, cutouts: CutOuts) -> Image:
    """The picture with the copy in it, behind what stands in front; cut off at the picture's edge."""
    cutout = resized(cutouts.pixels(change.cutout), change.width, change.height)
    if change.mirrored:
        cutout = np.ascontiguousarray(cutout[:, ::-1])
    left, top = max(0, -change.x), max(0, -change.y)
    cutout = cutout[top : image.shape[0] - change.y, left : image.shape[1] - change.x]
    result = pasted(image, cutout, change.x + left, change.y + top, "hard")
    for front, x, y, _, _ in change.behind:
        result = pasted(result, cutouts.pixels(front), x, y, "hard")
    return result


@dataclass(frozen=True)
class Removal(Change):
    """An object that is gone: what a network imagines behind it is pasted over it at (x, y)."""

    patch: str
    label: str
    x: int
    y: int
    box: tuple[int, int, int, int]

    @property
    def mark(self) -> str:
        """What is written beside its box."""
        return f"removed {self.label}"

    def __str__(self) -> str:
        x1, y1, x2, y2 = self.box
        return f"without the {self.label} of {x2 - x1} x {y2 - y1} px at ({x1}, {y1})"


def paste_removal(image: Image, change: Removal, patches: CutOuts) -> Image:
    """The picture with the object covered."""
    return pasted(image, patches.pixels(change.patch), change.x, change.y, "hard")


def is_removed(boxes: Boxes, hole: Box) -> npt.NDArray[np.bool_]:
    """`bool (n,)`: which boxes lie mostly within the box of a removal."""
    common = intersections(boxes, np.array([hole], np.float32))[:, 0]
    return np.asarray(common >= WITHIN * areas(boxes))
