"""A pinhole camera that looks straight down a street."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = float | npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StreetCamera:
    """Metres of the world to pixels of the picture.

    `x` runs to the right of the viewer, `up` from the ground, `depth` along the street. `vanishing_x` and
    `horizon` are the vanishing point in pixels, `focal` the focal length in pixels, `height` how many
    metres above the ground the camera stands.
    """

    vanishing_x: float
    horizon: float
    focal: float
    height: float

    @classmethod
    def over(cls, size: tuple[int, int], sway: float = 0.0) -> StreetCamera:
        """The camera of a picture of `size`; `sway` moves the vanishing point sideways, in widths."""
        height, width = size
        return cls(width * (0.5 + sway), height * 0.42, height * 0.9, 4.6)

    def project(self, x: Numbers, up: Numbers, depth: Numbers) -> npt.NDArray[np.float64]:
        """Where points of the world appear: `float64 (..., 2)` pixels, over the shape of `x` and `depth`."""
        scale = self.focal / depth
        across = self.vanishing_x + x * scale
        pixels = np.empty((*np.shape(across), 2))
        pixels[..., 0] = across
        pixels[..., 1] = self.horizon + (self.height - up) * scale
        return pixels

    def scale(self, depth: float) -> float:
        """Pixels per metre at a depth."""
        return self.focal / depth

    def depth(self, row: float) -> float:
        """How far away the ground is that appears in a pixel row below the horizon.

        >>> camera = StreetCamera.over((480, 640))
        >>> round(camera.project(0, 0, camera.depth(400))[1], 6)
        np.float64(400.0)
        """
        return self.focal * self.height / (row - self.horizon)
