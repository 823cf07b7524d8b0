"""The empty street: sky, buildings, pavements and road, in colours too pale to be an object.

Everything but the sky is drawn by projecting metres of the world, so that all lines meet in the vanishing
point and a thing put on the ground has the right size where it stands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image
from instar.worlds.perspective import Numbers, StreetCamera

BACKDROP_CLASSES = ("sky", "building", "sidewalk", "road", "line", "crosswalk", "vegetation")
"""What an empty street shows, in the order of the ids in its label map."""

TO_KERB = 4.0
"""Metres from the middle of the road to the kerb."""

WALL = 8.0
"""Metres from the middle of the road to the house fronts."""

_Colour = tuple[int, int, int]
_Labels = npt.NDArray[np.uint8]
_FAR = 70.0
_FRACTION_BITS = 4


@dataclass(frozen=True, slots=True)
class _Light:
    """The mood of a scene: the sky's colour at the top and at the horizon, and how strong the light is."""

    zenith: _Colour
    haze: _Colour
    strength: float


# No colour here has more than 50 levels between its strongest and weakest channel; objects have over 100.
_LIGHTS = (
    _Light((148, 180, 197), (226, 231, 228), 1.0),
    _Light((164, 178, 204), (240, 226, 210), 0.97),
    _Light((170, 176, 190), (222, 222, 220), 0.9),
    _Light((158, 160, 192), (240, 214, 200), 0.85),
)
_FACADES: tuple[_Colour, ...] = (
    (196, 178, 160), (182, 168, 156), (206, 194, 174), (172, 178, 182), (188, 172, 166), (164, 172, 164),
    (212, 202, 190), (176, 164, 172),
)  # fmt: skip
_PANE: _Colour = (112, 124, 136)
_PANE_LIT: _Colour = (232, 220, 190)
_ASPHALT: _Colour = (104, 106, 112)
_PAVING: _Colour = (172, 170, 166)
_LEAVES: _Colour = (122, 146, 114)


class _Easel:
    """A picture, and the camera through which world coordinates are painted onto it.

    `labels`, where there are any, get the class `now` wherever something is painted.
    """

    def __init__(self, pixels: Image, camera: StreetCamera, light: _Light, labels: _Labels | None) -> None:
        self.pixels, self.camera, self.light, self.labels = pixels, camera, light, labels
        self.now = "sky"

    def lit(self, colour: _Colour, depth: float, gain: float = 1.0) -> list[float]:
        """The colour under this light, fading into the haze with depth."""
        clear = math.exp(-depth / 110)
        strength = self.light.strength * gain * clear
        return [min(255.0, c * strength + h * (1 - clear)) for c, h in zip(colour, self.light.haze)]

    def fill(self, polygons: npt.NDArray[np.float64], colour: Sequence[float]) -> None:
        """Fill pixel polygons `float64 (n, k, 2)`."""
        fixed = (polygons * (1 << _FRACTION_BITS)).astype(np.int32)
        cv2.fillPoly(self.pixels, list(fixed), colour, cv2.LINE_AA, _FRACTION_BITS)
        if self.labels is not None:
            label = BACKDROP_CLASSES.index(self.now)
            cv2.fillPoly(self.labels, list(fixed), label, cv2.LINE_8, _FRACTION_BITS)

    def disc(self, centre: tuple[int, int], radius: int, colour: Sequence[float]) -> None:
        """Fill a circle in pixels."""
        cv2.circle(self.pixels, centre, radius, colour, cv2.FILLED, cv2.LINE_AA)
        if self.labels is not None:
            cv2.circle(self.labels, centre, radius, BACKDROP_CLASSES.index(self.now), cv2.FILLED)

    def ground(self, left: float, right: float, near: float, far: float, colour: Sequence[float]) -> None:
        """Fill a rectangle that lies on the ground."""
        x, depth = np.array([[left, right, right, left]]), np.array([[near, near, far, far]])
        self.fill(self.camera.project(x, 0.0, depth), colour)

    def front(self, x: float, end: float, top: float, depth: float, colour: Sequence[float]) -> None:
        """Fill an upright rectangle across the street."""
        across, up = np.array([[x, end, end, x]]), np.array([[0, 0, top, top]])
        self.fill(self.camera.project(across, up, depth), colour)

    def wall(
        self, x: float, near: Numbers, far: Numbers, bottom: Numbers, top: Numbers, colour: Sequence[float]
    ) -> None:
        """Fill upright rectangles parallel to the street, as many as there are values."""
        near, far, bottom, top = np.broadcast_arrays(*np.atleast_1d(near, far, bottom, top))
        up, depth = np.stack([bottom, bottom, top, top], axis=1), np.stack([near, far, far, near], axis=1)
        self.fill(self.camera.project(x, up, depth), colour)


def draw_backdrop(size: tuple[int, int], camera: StreetCamera, rng: np.random.Generator) -> Image:
    """An empty street of `size` (height, width) as `camera` sees it."""
    return _grained(_painted(size, camera, rng, None).pixels, rng)


def label_backdrop(size: tuple[int, int], camera: StreetCamera, rng: np.random.Generator) -> _Labels:
    """The label map, `uint8 (H, W)` indices of `CLASSES`, of the street drawn from the same generator."""
    labels = np.zeros(size, np.uint8)
    _painted(size, camera, rng, labels)
    return labels


def _painted(
    size: tuple[int, int], camera: StreetCamera, rng: np.random.Generator, labels: _Labels | None
) -> _Easel:
    light = _LIGHTS[int(rng.integers(len(_LIGHTS)))]
    easel = _Easel(_sky(size, camera, light, rng), camera, light, labels)
    nearest = camera.depth(size[0]) * 0.9
    easel.now = "building"
    _skyline(easel, rng)
    easel.now = "sidewalk"
    _pavements(easel, nearest)
    easel.now = "building"
    for side in (-1, 1):
        _houses(easel, side, nearest, rng)
    _road(easel, nearest, rng)
    easel.now = "vegetation"
    for side in (-1, 1):
        _trees(easel, side, nearest, rng)
    return easel


def _sky(size: tuple[int, int], camera: StreetCamera, light: _Light, rng: np.random.Generator) -> Image:
    """A picture that is sky above the horizon and haze below."""
    height, width = size
    rows = math.ceil(camera.horizon) + 1
    down = np.clip(np.arange(rows) / camera.horizon, 0, 1)[:, None] ** 1.2
    column = np.array(light.zenith) * (1 - down) + np.array(light.haze) * down
    sky = cv2.repeat(column[:, None].astype(np.uint8), 1, width)
    clouds = np.zeros((rows // 8, width // 8), np.uint8)
    for _ in range(int(rng.integers(2, 6))):
        x, y = rng.uniform(0.2, 0.8) * clouds.shape[1], rng.uniform(0.05, 0.65) * clouds.shape[0]
        for puff in range(4):
            centre = (round(x + 2.4 * puff), round(y + rng.uniform(-0.7, 0.7)))
            cv2.circle(clouds, centre, int(rng.integers(1, 3)), 150, cv2.FILLED)
    cover = cv2.resize(cv2.GaussianBlur(clouds, (0, 0), 0.8), (width, rows), interpolation=cv2.INTER_CUBIC)
    pixels = np.empty((height, width, 3), np.uint8)
    cv2.rectangle(pixels, (0, rows), (width, height), light.haze, cv2.FILLED)
    # White laid over the sky, as thick as `cover` says: what is left to white, times the cover.
    pixels[:rows] = cv2.add(sky, cv2.multiply(248 - sky, cv2.merge([cover] * 3), scale=1 / 255))
    return pixels


def _skyline(easel: _Easel, rng: np.random.Generator) -> None:
    """Towers at the end of the street, pale with distance."""
    x, depth = -70.0, _FAR * 2
    while x < 70:
        width, top = rng.uniform(6, 13), rng.uniform(16, 46)
        shade = easel.lit((170, 174, 182), depth * rng.uniform(0.55, 0.9))
        easel.front(x, x + width, top, depth, shade)
        x += width + rng.uniform(0, 4)


def _houses(easel: _Easel, side: int, nearest: float, rng: np.random.Generator) -> None:
    """A row of house fronts on one side, the farthest first so that nearer ones hide them."""
    starts = [nearest * 0.5]
    while starts[-1] < _FAR:
        starts.append(starts[-1] + rng.uniform(7, 15))
    facade = rng.permutation(len(_FACADES))
    for i in reversed(range(len(starts) - 1)):
        near, far = starts[i], starts[i + 1]
        colour = _FACADES[facade[i % len(facade)]]
        _house(easel, side, near, far, float(rng.uniform(9, 21)), colour, rng)


def _house(
    easel: _Easel, side: int, near: float, far: float, top: float, colour: _Colour, rng: np.random.Generator
) -> None:
    # The sun stands on the left: fronts on the right-hand side are lit, those on the left in shade.
    gain = 1.0 if side > 0 else 0.86
    x, middle = side * WALL, (near + far) / 2
    easel.front(x, x + side * 12, top, near, easel.lit(colour, near, gain * 0.82))
    easel.wall(x, near, far, 0, top, easel.lit(colour, middle, gain))
    easel.wall(x, near, far, top - 0.7, top, easel.lit(colour, middle, gain * 1.1))
    easel.wall(x, near, far, 3.6, 3.9, easel.lit(colour, middle, gain * 0.88))
    if near > 36:
        return
    columns = np.linspace(near, far, max(2, int((far - near) / 2.6)) + 1)
    floors = np.arange(4.8, top - 2.4, 3.0)
    begin, base = (v.ravel() for v in np.meshgrid(columns[:-1] + 0.7, floors))
    span = columns[1] - columns[0] - 1.4
    frame = easel.lit(colour, middle, gain * 1.13)
    easel.wall(x, begin - 0.15, begin + span + 0.15, base - 0.2, base + 1.85, frame)
    lit = rng.random(begin.size) < 0.16
    for chosen, pane in ((~lit, _PANE), (lit, _PANE_LIT)):
        near, sill = begin[chosen], base[chosen]
        easel.wall(x, near, near + span, sill, sill + 1.7, easel.lit(pane, middle))
    shop = rng.integers(0, 3, columns.size - 1)
    low = np.where(shop == 0, 0.0, 0.7)
    easel.wall(x, columns[:-1] + 0.4, columns[1:] - 0.4, low, 2.9, easel.lit(_PANE, middle, gain * 0.85))
    awning = columns[:-1][shop == 2]
    easel.wall(x, awning + 0.2, awning + span + 1.2, 2.7, 3.5, easel.lit((190, 160, 150), middle, gain))


def _pavements(easel: _Easel, nearest: float) -> None:
    easel.ground(-80, 80, nearest, _FAR * 4, easel.lit(_PAVING, 20))
    for depth in np.geomspace(nearest, _FAR, 18):
        easel.ground(-WALL, WALL, depth, depth * 1.012, easel.lit(_PAVING, depth, 0.9))


def _road(easel: _Easel, nearest: float, rng: np.random.Generator) -> None:
    far = _FAR * 4
    easel.now = "sidewalk"
    for side in (-1, 1):
        easel.ground(side * WALL, side * (WALL - 0.6), nearest, far, easel.lit(_PAVING, 14, 0.84))
        easel.ground(side * (TO_KERB + 0.35), side * TO_KERB, nearest, far, easel.lit((206, 204, 198), 10))
    easel.now = "road"
    for side in (-1, 1):
        easel.ground(side * TO_KERB, side * (TO_KERB - 0.2), nearest, far, easel.lit(_ASPHALT, 10, 0.75))
    easel.ground(-TO_KERB + 0.15, TO_KERB - 0.15, nearest, far, easel.lit(_ASPHALT, 12))
    # Far asphalt fades into the haze, in steps too small to see.
    for depth in np.geomspace(14, _FAR, 9):
        easel.ground(-TO_KERB + 0.15, TO_KERB - 0.15, depth, far, easel.lit(_ASPHALT, depth))
    paint = (232, 231, 226)
    easel.now = "line"
    for side in (-1, 1):
        easel.ground(side * 3.55, side * 3.42, nearest, far, easel.lit(paint, 12))
    start = float(rng.uniform(0, 5))
    for depth in np.arange(nearest - 5 + start, _FAR, 5.0):
        if depth + 2.4 > nearest:
            easel.ground(-0.09, 0.09, max(depth, nearest), depth + 2.4, easel.lit(paint, depth))
    if rng.random() < 0.6:
        easel.now = "crosswalk"
        begin = float(rng.uniform(10, 22))
        for x in np.arange(-3.2, 3.0, 0.9):
            easel.ground(x, x + 0.5, begin, begin + 2.6, easel.lit(paint, begin))


def _trees(easel: _Easel, side: int, nearest: float, rng: np.random.Generator) -> None:
    spacing = float(rng.uniform(9, 14))
    for depth in np.arange(_FAR * 0.7, nearest + 3, -spacing):
        x, scale = side * (WALL - 0.9), easel.camera.scale(float(depth))
        foot, crown = easel.camera.project(x, 0, depth), easel.camera.project(x, 4.4, depth)
        trunk = np.array([0.16 * scale, 0])
        sides = np.array([[crown - trunk, crown + trunk, foot + trunk, foot - trunk]])
        easel.fill(sides, easel.lit((112, 102, 92), depth))
        for puff in range(7):
            angle, reach = puff * 2 * np.pi / 6, 0.0 if puff == 6 else 0.8
            centre = crown + np.array([np.cos(angle), np.sin(angle) * 0.8]) * reach * scale
            gain = 0.86 + 0.1 * (np.sin(angle) < 0) + 0.06 * float(rng.random()) + 0.06 * (puff == 6)
            radius = round(max(1.0, 0.85 * scale))
            where = (round(float(centre[0])), round(float(centre[1])))
            easel.disc(where, radius, easel.lit(_LEAVES, depth, gain))


def _grained(pixels: Image, rng: np.random.Generator) -> Image:
    """Fine and coarse grain, a few grey levels of each, the same in all channels."""
    height, width = pixels.shape[:2]
    fine = rng.integers(0, 9, (height, width), np.uint8)
    coarse = rng.integers(0, 9, (height // 6 + 1, width // 6 + 1), np.uint8)
    grain = cv2.add(fine, cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR))
    return np.asarray(cv2.addWeighted(pixels, 1, cv2.merge([grain] * 3), 1, -8), np.uint8)
