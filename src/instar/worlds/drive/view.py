"""A pinhole camera behind the windscreen, looking along a road that bends."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from instar.worlds.drive.plan import Drive

__all__ = ["EYE", "Camera"]

EYE = 1.4
"""How high the camera is above the road."""

FOCAL = 0.85  # of the width: 61 degrees from left to right
HORIZON = 0.45  # of the height
NEAREST = 0.5

Floats = float | npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Camera:
    """How places in the street of a drive appear in a picture of `size` (height, width)."""

    size: tuple[int, int]
    focal: float
    middle: float
    horizon: float
    bend: float
    yaw: float
    ego: float

    @classmethod
    def of(cls, drive: Drive, size: tuple[int, int]) -> Camera:
        height, width = size
        horizon = height * HORIZON + math.tan(math.radians(drive.pitch)) * FOCAL * width
        yaw = math.tan(math.radians(drive.yaw))
        return cls(size, FOCAL * width, width / 2, horizon, drive.bend, yaw, drive.ego)

    def centre(self, distance: Floats) -> Floats:
        """Metres to the right of the camera's axis at which the middle of the road is."""
        return self.yaw * distance - 0.5 * self.bend * distance**2 - self.ego

    def slope(self, distance: Floats) -> Floats:
        """How steeply the middle of the road runs to the right."""
        return self.yaw - self.bend * distance

    def across(self, offset: Floats, distance: Floats) -> Floats:
        """Metres to the right of the camera's axis; offsets are measured square to the road."""
        slope = self.slope(distance)
        if isinstance(slope, float):
            return self.centre(distance) + offset * math.sqrt(1 + slope**2)
        return self.centre(distance) + offset * np.sqrt(1 + slope**2)

    def project(self, offset: Floats, up: Floats, distance: Floats) -> npt.NDArray[np.float64]:
        """Places as pixels, `float64 (..., 2)`."""
        return self.pixels(self.across(offset, distance), up, distance)

    def pixels(self, right: Floats, up: Floats, ahead: Floats) -> npt.NDArray[np.float64]:
        """Metres along the camera's own axes as pixels, `float64 (..., 2)`."""
        if isinstance(ahead, float) and isinstance(right, float) and isinstance(up, float):
            one = self.focal / max(ahead, NEAREST)  # a single place, as most are: without arrays
            return np.array([self.middle + right * one, self.horizon + (EYE - up) * one])
        scale = self.focal / np.maximum(ahead, NEAREST)
        found = np.empty((*np.shape(scale + right), 2))
        found[..., 0] = self.middle + right * scale
        found[..., 1] = self.horizon + (EYE - up) * scale
        return found

    def scale(self, distance: float) -> float:
        """Pixels per metre."""
        return self.focal / max(distance, NEAREST)

    def ground_at(self, column: float, row: float) -> tuple[float, float]:
        """Distance and offset of the ground that is seen in a pixel below the horizon.

        >>> view = Camera.of(Drive(0, bend=0.01), (160, 320))
        >>> x, y = view.project(4.0, 0.0, 20.0)
        >>> [round(value, 6) for value in view.ground_at(x, y)]
        [20.0, 4.0]
        """
        distance = self.focal * EYE / max(float(row) - self.horizon, 1e-3)
        right = (float(column) - self.middle) * distance / self.focal
        away = (right - float(self.centre(distance))) / math.sqrt(1 + float(self.slope(distance)) ** 2)
        return distance, away
