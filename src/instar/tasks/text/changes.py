"""What is done to a picture of text: light, colour, perspective, a word more, no word left, or nothing."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image
from instar.imaging.lettering import drawn_word, with_word
from instar.imaging.nulls import Conditioned, displacement, null_made, under
from instar.imaging.photometric import permuted, relit
from instar.imaging.warp import Homography, carried, corners_of, homography, warped

__all__ = [
    "Light",
    "Masks",
    "Permutation",
    "Perspective",
    "Watermark",
    "carried_along",
    "made",
]

Quad = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Light(Conditioned):
    """Every value x becomes gain * x + levels, ending at 0 and 255 (Eq. 5)."""

    levels: float
    gain: float = 1.0

    def __str__(self) -> str:
        return f"brightness {self.levels:+g}" + ("" if self.gain == 1 else f", contrast x {self.gain:g}")


@dataclass(frozen=True)
class Permutation(Conditioned):
    """The colour channels in another order: "gbr" puts green into red, blue into green, red into blue."""

    order: str

    def __str__(self) -> str:
        return f"channels {self.order.upper()}"


@dataclass(frozen=True)
class Perspective(Conditioned):
    """Each corner of a picture of `width` x `height` pushed outward by (x, y) pixels, on a black canvas that
    is `reach` pixels larger on every side. `pushed` goes clockwise from the top left.
    """

    width: int
    height: int
    reach: int
    pushed: tuple[tuple[float, float], ...]

    @property
    def size(self) -> tuple[int, int]:
        """(height, width) of the canvas."""
        return self.height + 2 * self.reach, self.width + 2 * self.reach

    @property
    def matrix(self) -> Homography:
        corners = corners_of((self.height, self.width))
        outward = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], np.float32)
        return homography(corners, corners + self.reach + outward * np.array(self.pushed, np.float32))

    def __str__(self) -> str:
        return "corners out by " + ", ".join(f"({x:g}, {y:g})" for x, y in self.pushed)


@dataclass(frozen=True)
class Watermark(Conditioned):
    """A word in grey `ink`, capitals `size` pixels high; x, y, width and height are where its ink is."""

    text: str
    x: int
    y: int
    width: int
    height: int
    size: int
    ink: int
    font: str

    def quad(self, *, air: float = 0.0) -> npt.NDArray[np.float32]:
        """`float32 (1, 4, 2)`: the box of the ink with so many capital heights of air around it."""
        around = air * self.size
        x1, y1 = self.x - around, self.y - around
        x2, y2 = self.x + self.width + around, self.y + self.height + around
        return np.array([[[x1, y1], [x2, y1], [x2, y2], [x1, y2]]], np.float32)

    def __str__(self) -> str:
        return f"the word {self.text} of {self.size} px at ({self.x}, {self.y})"


@dataclass(frozen=True)
class Masks(Conditioned):
    """Quads filled, each with the colour that is at its first corner (Eq. 13)."""

    quads: tuple[Quad, ...]

    def __str__(self) -> str:
        return f"{len(self.quads)} masked"


def made(image: Image, change: Conditioned) -> Image:
    """The picture after the change, and under its condition."""
    match change:
        case Light():
            result = relit(image, change.gain, change.levels)
        case Permutation():
            result = permuted(image, change.order)
        case Perspective():
            result = warped(image, change.matrix, change.size)
        case Watermark():
            word = drawn_word(change.text, change.size, font=change.font)
            result = with_word(image, word, change.x, change.y, (change.ink,) * 3)
        case Masks():
            result = _masked(image, change)
        case _:
            result = null_made(image, change)
    return under(result, change.condition)


def carried_along(quads: npt.NDArray[np.float32], change: Conditioned) -> npt.NDArray[np.float32]:
    """`float32 (n, 4, 2)`: where quads of the source are in the follow-up."""
    if isinstance(change, Perspective):
        quads = carried(quads, change.matrix)
    return quads + np.array(displacement(change), np.float32)


def _masked(image: Image, change: Masks) -> Image:
    height, width = image.shape[:2]
    result: Image = image.copy()
    for quad in change.quads:
        x, y = (int(np.clip(np.floor(at), 0, side - 1)) for at, side in zip(quad[0], (width, height)))
        # OpenCV counts from the centres of pixels, in whole 256ths; it paints every pixel it touches.
        corners = np.rint((np.array(quad, np.float64) - 0.5) * 256).astype(np.int32)
        cv2.fillPoly(result, [corners], image[y, x].tolist(), shift=8)
    return result
