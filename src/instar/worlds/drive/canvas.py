"""The camera behind the windscreen, which looks along a road that bends, and the sheet for what it sees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image
from instar.worlds.drive.plan import Drive

Paint = tuple[float, float, float]
Points = npt.NDArray[np.float64]

CLASSES = (
    "sky", "vegetation", "terrain", "sidewalk", "road", "line", "crosswalk", "stop line", "building", "pole",
    "bicycle", "person", "rider", "car", "van", "truck", "bus", "traffic sign", "traffic light",
)  # fmt: skip
"""What a label map of this world shows, in the order of its ids."""
SURFACES = {name: index for index, name in enumerate(CLASSES)}

EYE = 1.4
"""How high the camera is above the road."""

FOCAL = 0.85  # of the width: 61 degrees from left to right
HORIZON = 0.45  # of the height
NEAREST = 0.5

Floats = float | npt.NDArray[np.float64]

FRACTION_BITS = 4  # fillPoly takes fixed-point coordinates
FAR = 32000.0


@dataclass(frozen=True, slots=True)
class Camera:
    """A pinhole camera: how places in the street of a drive appear in a picture of `size` (height, width)."""

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

    def project(self, offset: Floats, up: Floats, distance: Floats) -> Points:
        """Places as pixels, `float64 (..., 2)`."""
        return self.pixels(self.across(offset, distance), up, distance)

    def pixels(self, right: Floats, up: Floats, ahead: Floats) -> Points:
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


class Canvas:
    """`pixels` uint8 (H, W, 3); `owner` uint8 (H, W) says which thing is seen; `near` float32 (H, W) is one
    over the distance; `glow` uint8 (H, W, 3) is light that a pixel gives off by itself.

    By clear day neither distance nor glow shows: then they are None, which saves a third of the work.
    """

    def __init__(self, size: tuple[int, int], *, deep: bool, dark: bool) -> None:
        self.size = size
        self.pixels: Image = np.zeros((*size, 3), np.uint8)
        self.owner: npt.NDArray[np.uint8] = np.zeros(size, np.uint8)
        self.near = np.zeros(size, np.float32) if deep else None
        self.glow = np.zeros((*size, 3), np.uint8) if dark else None

    def polygon(self, points: Points, colour: Paint, owner: int = -1, near: float = 0.0) -> None:
        """Fill a polygon; without an owner it is a mark on what is there already."""
        self.polygons(points, [len(points)], [colour], [owner], near)

    def polygons(
        self,
        points: Points,
        lengths: Sequence[int],
        colours: Sequence[Paint],
        owners: Sequence[int],
        near: float,
    ) -> None:
        """Fill polygons one after the other; their corners follow each other in `points`."""
        fixed = _fixed(points)
        if fixed is None:
            return
        start = 0
        for length, colour, owner in zip(lengths, colours, owners):
            part = [fixed[start : start + length]]
            start += length
            cv2.fillPoly(self.pixels, part, colour, cv2.LINE_AA, FRACTION_BITS)
            if owner >= 0:
                self.own(part, owner, near)

    def own(self, fixed: list[npt.NDArray[np.int32]], owner: int, near: float) -> None:
        cv2.fillPoly(self.owner, fixed, owner, cv2.LINE_8, FRACTION_BITS)
        if self.near is not None:
            cv2.fillPoly(self.near, fixed, near, cv2.LINE_8, FRACTION_BITS)
        if self.glow is not None:
            cv2.fillPoly(self.glow, fixed, (0, 0, 0), cv2.LINE_8, FRACTION_BITS)

    def shine(self, points: Points, colour: Paint) -> None:
        """Let a polygon give off light."""
        fixed = _fixed(points)
        if fixed is not None and self.glow is not None:
            cv2.fillPoly(self.glow, [fixed], colour, cv2.LINE_AA, FRACTION_BITS)

    def shade(self, points: Points, strength: float) -> None:
        """Darken what lies under a polygon, softly."""
        left, top = np.floor(points.min(axis=0)).astype(int).tolist()
        right, bottom = np.ceil(points.max(axis=0)).astype(int).tolist()
        if bottom - top < 2 or right - left < 2:
            return
        left, top, right, bottom = max(0, left - 2), max(0, top - 2), right + 3, bottom + 3
        if right <= left or bottom <= top:
            return
        place = self.pixels[top:bottom, left:right]
        fixed = _fixed(points - (left, top))
        if place.size == 0 or fixed is None:
            return
        mask = np.full(place.shape[:2], 255, np.uint8)
        cv2.fillPoly(mask, [fixed], 255 * (1 - strength), cv2.LINE_AA, FRACTION_BITS)
        reach = max(1, (bottom - top) // 8) * 2 + 1
        share = cv2.cvtColor(cv2.blur(mask, (reach * 2 + 1, reach)), cv2.COLOR_GRAY2RGB)
        place[:] = cv2.multiply(place, share, scale=1 / 255)

    def sprite(
        self,
        rgba: npt.NDArray[np.uint8],
        left: float,
        top: float,
        width: float,
        height: float,
        owner: int,
        near: float,
    ) -> None:
        """Lay a picture with coverage over the rectangle."""
        x, y = round(left), round(top)
        w, h = max(1, round(left + width) - x), max(1, round(top + height) - y)
        rows, columns = self.size
        x0, y0, x1, y1 = max(0, x), max(0, y), min(columns, x + w), min(rows, y + h)
        if x0 >= x1 or y0 >= y1:
            return
        small = cv2.resize(rgba, (w, h), interpolation=cv2.INTER_AREA)[y0 - y : y1 - y, x0 - x : x1 - x]
        cover = np.asarray(cv2.extractChannel(small, 3), np.uint8)
        self.blend(np.asarray(cv2.cvtColor(small, cv2.COLOR_RGBA2RGB), np.uint8), cover, x0, y0)
        seen = cover >= 128
        np.copyto(self.owner[y0:y1, x0:x1], owner, where=seen)
        if self.near is not None:
            np.copyto(self.near[y0:y1, x0:x1], near, where=seen)
        if self.glow is not None:
            np.copyto(self.glow[y0:y1, x0:x1], 0, where=seen[..., None])

    def blend(
        self, over: Image, cover: npt.NDArray[np.uint8], left: int, top: int, gain: float = 1.0
    ) -> None:
        """Lay a picture over the place at (left, top), as far as it covers."""
        height, width = cover.shape
        place = self.pixels[top : top + height, left : left + width]
        share = cv2.cvtColor(cover, cv2.COLOR_GRAY2RGB)
        upper = cv2.multiply(over, share, scale=gain / 255)
        place[:] = cv2.add(upper, cv2.multiply(place, cv2.bitwise_not(share), scale=1 / 255))


@cache
def in_shade(colour: Paint, factor: float) -> Paint:
    """The colour that many times as light."""
    red, green, blue = (min(255.0, c * factor) for c in colour)
    return red, green, blue


def _fixed(points: Points) -> npt.NDArray[np.int32] | None:
    if not abs(points).max() < FAR:  # not a number, or out of what the coordinates can hold
        return None
    # Pixel centres lie at whole numbers, pixel edges half a pixel before them.
    return np.rint((points - 0.5) * (1 << FRACTION_BITS)).astype(np.int32)
