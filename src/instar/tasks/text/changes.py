"""What is done to a picture of text: light, colour, perspective, one word more, or no word left."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.change import Change
from instar.core.frame import Moved
from instar.core.scene import Image
from instar.imaging.geometry import Box
from instar.imaging.lettering import drawn_word, with_word
from instar.imaging.photometric import permuted, relit
from instar.imaging.warp import Homography, corners_of, homography, warped

Quad = tuple[tuple[float, float], ...]


class TextChange(Change, ABC):
    """A change that makes the follow-up itself."""

    @abstractmethod
    def apply(self, picture: Image) -> Image | Moved:
        """The follow-up; `Moved` where the frame moves."""


@dataclass(frozen=True)
class Brightness(TextChange):
    """Every value x becomes gain * x + levels, ending at 0 and 255 (Eq. 5)."""

    levels: float
    gain: float = 1.0

    def apply(self, picture: Image) -> Image:
        return relit(picture, self.gain, self.levels)

    def __str__(self) -> str:
        return f"brightness {self.levels:+g}" + ("" if self.gain == 1 else f", contrast x {self.gain:g}")


@dataclass(frozen=True)
class Permutation(TextChange):
    """The colour channels in another order: "gbr" puts green into red, blue into green, red into blue."""

    order: str

    def apply(self, picture: Image) -> Image:
        return permuted(picture, self.order)

    def __str__(self) -> str:
        return f"channels {self.order.upper()}"


@dataclass(frozen=True)
class Perspective(TextChange):
    """Each corner of a picture of `width` x `height` pushed outward by (x, y) pixels, on a black canvas that
    is `reach` pixels larger on every side. `pushed` goes clockwise from the top left.
    """

    width: int
    height: int
    reach: int
    pushed: tuple[tuple[float, float], ...]

    @property
    def matrix(self) -> Homography:
        """From the source to the canvas."""
        corners = corners_of((self.height, self.width))
        outward = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], np.float32)
        return homography(corners, corners + self.reach + outward * np.array(self.pushed, np.float32))

    def apply(self, picture: Image) -> Moved:
        canvas = self.height + 2 * self.reach, self.width + 2 * self.reach
        return Moved(warped(picture, self.matrix, canvas), self.matrix)

    def __str__(self) -> str:
        return "seen at an angle, corners out by " + ", ".join(f"({x:g}, {y:g})" for x, y in self.pushed)


@dataclass(frozen=True)
class Watermark(TextChange):
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

    @property
    def box(self) -> Box:
        """What is outlined in pictures of a case: the word with some air."""
        (x1, y1), _, (x2, y2), _ = self.quad(air=0.5)[0].tolist()
        return x1, y1, x2, y2

    @property
    def mark(self) -> str:
        """What is written beside its box."""
        return self.text

    def apply(self, picture: Image) -> Image:
        word = drawn_word(self.text, self.size, font=self.font)
        return with_word(picture, word, self.x, self.y, (self.ink,) * 3)

    def __str__(self) -> str:
        return f"the word {self.text} of {self.size} px at ({self.x}, {self.y})"


@dataclass(frozen=True)
class Masks(TextChange):
    """Quads filled, each with the colour that is at its first corner (Eq. 13)."""

    quads: tuple[Quad, ...]

    @property
    def corners(self) -> npt.NDArray[np.float32]:
        """`float32 (n, 4, 2)`."""
        return np.array(self.quads, np.float32).reshape(-1, 4, 2)

    def apply(self, picture: Image) -> Image:
        height, width = picture.shape[:2]
        result: Image = picture.copy()
        for quad in self.quads:
            x, y = (int(np.clip(np.floor(at), 0, side - 1)) for at, side in zip(quad[0], (width, height)))
            # OpenCV counts from the centres of pixels, in whole 256ths; it paints every pixel it touches.
            corners = np.rint((np.array(quad, np.float64) - 0.5) * 256).astype(np.int32)
            cv2.fillPoly(result, [corners], picture[y, x].tolist(), shift=8)
        return result

    def __str__(self) -> str:
        return f"{len(self.quads)} masked"
