"""Street objects as pictograms: a vivid interior of the class's own hue inside a dark outline.

Three rules make them findable from pixels alone, whatever stands beside them:

- the interior is one connected piece (what a pale ring cuts off lies inside it), in tones of a hue that
  nothing else in the street has;
- the outline is `OUTLINE` pixels wide everywhere, dark and colourless, so two objects that touch still
  have twice that between their interiors;
- the interior reaches the outline on all four sides, so its extent tells the object's box.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image, Mask
from instar.user_file import load_resource

OUTLINE = 3
"""Width of the dark outline in pixels, the same at every size."""

_COLOURS = load_resource("instar.worlds", "sprites.toml")
SPRITE_COLOURS: Mapping[str, tuple[int, int, int]] = {
    label: tuple(colour) for label, colour in _COLOURS["body"].items()
}
"""The body colour of each class, RGB."""
_NEUTRAL: Mapping[str, list[int]] = _COLOURS["neutral"]
_TONES: Mapping[str, float] = _COLOURS["tone"]

# Sprites are drawn this many times larger and averaged down, which gives soft edges.
_OVERSAMPLING = 3
# fillPoly takes fixed-point coordinates with this many fractional bits.
_FRACTION_BITS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Sprite:
    """Pixels `uint8 (h, w, 3)` and coverage `uint8 (h, w)`, 255 where the object hides all behind it."""

    pixels: Image
    coverage: npt.NDArray[np.uint8]

    @property
    def mask(self) -> Mask:
        """`bool (h, w)`: at least half covered."""
        return self.coverage >= 128


@functools.cache
def _circle(points: int) -> npt.NDArray[np.float64]:
    """The unit circle as a polygon, from the right by way of the bottom."""
    angle = np.arange(points) * (2 * np.pi / points)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


class _Canvas:
    """Draws shapes in interior coordinates: (0, 0) top left to (width, height) bottom right, in pixels."""

    def __init__(self, colour: tuple[int, int, int], size: tuple[int, int], mirrored: bool) -> None:
        self.height, self.width = size[0] - 2 * OUTLINE, size[1] - 2 * OUTLINE
        self._colour = np.array(colour, np.float64)
        self._mirrored = mirrored
        large = (size[0] * _OVERSAMPLING, size[1] * _OVERSAMPLING)
        self._pixels = np.empty((*large, 3), np.uint8)
        cv2.rectangle(self._pixels, (0, 0), (large[1], large[0]), _NEUTRAL["ink"], cv2.FILLED)
        self._reach = np.zeros(large, np.uint8)
        self._size = size

    def shape(self, tone: str, outline: npt.ArrayLike) -> None:
        """Fill a polygon. Body tones belong to the interior and push the outline outwards."""
        points = np.array(outline, np.float64)
        if self._mirrored:
            points[:, 0] = self.width - points[:, 0]
        # Pixel centres lie at whole numbers, pixel edges half a pixel before them.
        large = (points + OUTLINE) * _OVERSAMPLING - 0.5
        fixed = np.round(large * (1 << _FRACTION_BITS)).astype(np.int32)
        if tone in _TONES:
            colour = np.minimum(self._colour * _TONES[tone], 240).round().tolist()
            cv2.fillPoly(self._reach, [fixed], 255, shift=_FRACTION_BITS)
            stroke = 2 * OUTLINE * _OVERSAMPLING
            cv2.polylines(self._reach, [fixed], True, 255, stroke, shift=_FRACTION_BITS)
        else:
            colour = _NEUTRAL[tone]
        cv2.fillPoly(self._pixels, [fixed], colour, shift=_FRACTION_BITS)

    def oval(self, tone: str, centre: tuple[float, float], radius_x: float, radius_y: float) -> None:
        self.shape(tone, _circle(32) * (radius_x, radius_y) + centre)

    def disc(self, tone: str, centre: tuple[float, float], radius: float) -> None:
        self.oval(tone, centre, radius, radius)

    def block(
        self, tone: str, left: float, top: float, right: float, bottom: float, rounding: float = 0.0
    ) -> None:
        """A rectangle whose corners are quarter circles of radius `rounding`."""
        r = min(rounding, (right - left) / 2, (bottom - top) / 2)
        corners = [[right - r, bottom - r], [left + r, bottom - r], [left + r, top + r], [right - r, top + r]]
        # A quarter of the circle at each corner, both its ends included: points 0 to 5, 5 to 10, ...
        arcs = _circle(20)[(np.arange(6) + 5 * np.arange(4)[:, None]) % 20]
        self.shape(tone, (arcs * r + np.array(corners)[:, None]).reshape(-1, 2))

    def limb(self, tone: str, points: Sequence[tuple[float, float]], thickness: float) -> None:
        """A bent bar: rounded joints along `points`."""
        for first, last in itertools.pairwise(np.array(points)):
            along = last - first
            across = np.array([-along[1], along[0]]) * (thickness / 2 / max(float(np.hypot(*along)), 1e-9))
            self.shape(tone, [first + across, last + across, last - across, first - across])
        for joint in points:
            self.disc(tone, joint, thickness / 2)

    def sprite(self) -> Sprite:
        height, width = self._size
        return Sprite(
            cv2.resize(self._pixels, (width, height), interpolation=cv2.INTER_AREA).astype(np.uint8),
            cv2.resize(self._reach, (width, height), interpolation=cv2.INTER_AREA).astype(np.uint8),
        )


def _person(c: _Canvas, w: float, h: float) -> None:
    head, limb = min(0.115 * h, 0.34 * w), 0.24 * w
    c.limb("shade", [(0.36 * w, 0.6 * h), (0.3 * w, 0.8 * h), (0.2 * w, h - limb / 2)], limb)
    c.limb("shade", [(0.6 * w, 0.6 * h), (0.7 * w, 0.8 * h), (0.78 * w, h - limb / 2)], limb)
    c.limb("body", [(0.26 * w, 0.3 * h), (0.1 * w, 0.45 * h), (0.1 * w, 0.58 * h)], 0.2 * w)
    c.limb("body", [(0.74 * w, 0.3 * h), (0.9 * w, 0.43 * h), (0.9 * w, 0.55 * h)], 0.2 * w)
    c.block("body", 0.18 * w, 0.21 * h, 0.82 * w, 0.64 * h, 0.18 * w)
    c.block("shade", 0.34 * w, 0.16 * h, 0.66 * w, 0.27 * h)
    c.disc("body", (0.5 * w, head), head)
    c.oval("skin", (0.56 * w, 1.08 * head), 0.5 * head, 0.5 * head)
    c.block("light", 0.32 * w, 0.34 * h, 0.68 * w, 0.4 * h)


def _car(c: _Canvas, w: float, h: float) -> None:
    """Seen from behind, as in a lane."""
    c.block("shade", 0.04 * w, 0.72 * h, 0.24 * w, h, 0.05 * w)
    c.block("shade", 0.76 * w, 0.72 * h, 0.96 * w, h, 0.05 * w)
    c.shape("body", [(0.24 * w, 0), (0.76 * w, 0), (0.92 * w, 0.46 * h), (0.08 * w, 0.46 * h)])
    c.shape("glass", [(0.31 * w, 0.1 * h), (0.69 * w, 0.1 * h), (0.78 * w, 0.38 * h), (0.22 * w, 0.38 * h)])
    c.shape("white", [(0.36 * w, 0.1 * h), (0.47 * w, 0.1 * h), (0.38 * w, 0.38 * h), (0.26 * w, 0.38 * h)])
    c.block("body", 0, 0.42 * h, w, 0.86 * h, 0.08 * w)
    c.block("shade", 0, 0.76 * h, w, 0.86 * h, 0.03 * w)
    c.block("stop", 0.07 * w, 0.5 * h, 0.22 * w, 0.62 * h, 0.03 * w)
    c.block("stop", 0.78 * w, 0.5 * h, 0.93 * w, 0.62 * h, 0.03 * w)
    c.block("white", 0.37 * w, 0.6 * h, 0.63 * w, 0.72 * h)


def _bus(c: _Canvas, w: float, h: float) -> None:
    """Coming towards the viewer."""
    c.block("shade", 0.08 * w, 0.84 * h, 0.26 * w, h, 0.04 * w)
    c.block("shade", 0.74 * w, 0.84 * h, 0.92 * w, h, 0.04 * w)
    c.block("body", 0, 0, w, 0.92 * h, 0.1 * w)
    c.block("white", 0.22 * w, 0.06 * h, 0.78 * w, 0.14 * h, 0.03 * w)
    c.block("glass", 0.1 * w, 0.21 * h, 0.9 * w, 0.54 * h, 0.05 * w)
    c.shape("white", [(0.24 * w, 0.21 * h), (0.4 * w, 0.21 * h), (0.26 * w, 0.54 * h), (0.14 * w, 0.54 * h)])
    c.block("shade", 0, 0.6 * h, w, 0.66 * h)
    c.disc("white", (0.17 * w, 0.76 * h), 0.075 * w)
    c.disc("white", (0.83 * w, 0.76 * h), 0.075 * w)
    c.block("grey", 0.36 * w, 0.72 * h, 0.64 * w, 0.79 * h, 0.02 * w)


def _truck(c: _Canvas, w: float, h: float) -> None:
    """Seen from behind: the doors of the box."""
    c.block("shade", 0.04 * w, 0.82 * h, 0.3 * w, h, 0.04 * w)
    c.block("shade", 0.7 * w, 0.82 * h, 0.96 * w, h, 0.04 * w)
    c.block("body", 0, 0, w, 0.82 * h, 0.03 * w)
    c.block("shade", 0.04 * w, 0.8 * h, 0.96 * w, 0.92 * h)
    c.block("light", 0.08 * w, 0.07 * h, 0.46 * w, 0.74 * h, 0.02 * w)
    c.block("light", 0.54 * w, 0.07 * h, 0.92 * w, 0.74 * h, 0.02 * w)
    c.block("grey", 0.41 * w, 0.3 * h, 0.45 * w, 0.52 * h)
    c.block("grey", 0.55 * w, 0.3 * h, 0.59 * w, 0.52 * h)
    c.block("white", 0.37 * w, 0.83 * h, 0.63 * w, 0.89 * h)


def _bicycle(c: _Canvas, w: float, h: float) -> None:
    wheel, bar = min(0.25 * w, 0.42 * h), 0.085 * w
    axle = h - wheel
    back, front = (wheel, axle), (w - wheel, axle)
    saddle, head, pedals = (0.37 * w, 0.24 * h), (0.67 * w, 0.24 * h), (0.49 * w, axle)
    for hub in (back, front):
        c.disc("body", hub, wheel)
        c.disc("glass", hub, 0.56 * wheel)
    c.limb("shade", [back, saddle], bar)
    c.limb("shade", [back, pedals], bar)
    c.limb("body", [saddle, head, pedals, (0.34 * w, bar / 2)], bar)
    c.limb("body", [front, (0.64 * w, bar / 2), (0.76 * w, bar / 2)], bar)
    c.limb("body", [(0.26 * w, bar / 2), (0.42 * w, bar / 2)], bar)


def _dog(c: _Canvas, w: float, h: float) -> None:
    leg = 0.13 * w
    for x in (0.2, 0.56):
        c.limb("shade", [((x + 0.09) * w, 0.62 * h), ((x + 0.09) * w, h - leg / 2)], leg)
        c.limb("body", [(x * w, 0.6 * h), (x * w, h - leg / 2)], leg)
    c.limb("body", [(0.18 * w, 0.46 * h), (0.055 * w, 0.3 * h), (0.055 * w, 0.16 * h)], 0.11 * w)
    c.block("body", 0.1 * w, 0.36 * h, 0.72 * w, 0.74 * h, 0.16 * h)
    c.limb("body", [(0.62 * w, 0.5 * h), (0.74 * w, 0.3 * h)], 0.22 * w)
    c.block("body", 0.62 * w, 0.08 * h, 0.9 * w, 0.42 * h, 0.1 * w)
    c.block("body", 0.78 * w, 0.22 * h, w, 0.42 * h, 0.07 * w)
    c.limb("shade", [(0.68 * w, 0.08 * w), (0.64 * w, 0.3 * h)], 0.13 * w)
    c.limb("shade", [(0.68 * w, 0.07 * w), (0.7 * w, 0.07 * w)], 0.14 * w)
    c.disc("ink", (0.82 * w, 0.2 * h), max(0.022 * w, 0.8))
    c.disc("ink", (0.965 * w, 0.28 * h), max(0.025 * w, 0.8))
    c.limb("shade", [(0.68 * w, 0.44 * h), (0.72 * w, 0.48 * h)], 0.05 * w)


def _traffic_light(c: _Canvas, w: float, h: float) -> None:
    lamp = min(0.3 * w, 0.12 * h)
    c.block("body", 0, 0, w, h, 0.25 * w)
    for share, tone in ((0.2, "stop"), (0.5, "ink"), (0.8, "ink")):
        c.disc("ink", (0.5 * w, share * h), lamp)
        c.disc(tone, (0.5 * w, share * h), 0.72 * lamp)


def _stop_sign(c: _Canvas, w: float, h: float) -> None:
    cut, rest = 0.293, 0.707  # where the corners of an octagon lie on the sides of its square
    octagon = np.array([(cut, 0), (rest, 0), (1, cut), (1, rest), (rest, 1), (cut, 1), (0, rest), (0, cut)])
    c.shape("body", octagon * (w, h))
    c.shape("white", (octagon * 0.8 + 0.1) * (w, h))
    c.shape("body", (octagon * 0.7 + 0.15) * (w, h))
    c.block("white", 0.24 * w, 0.43 * h, 0.76 * w, 0.57 * h)


_DRAW: Mapping[str, Callable[[_Canvas, float, float], None]] = {
    "person": _person,
    "car": _car,
    "bus": _bus,
    "truck": _truck,
    "bicycle": _bicycle,
    "dog": _dog,
    "traffic light": _traffic_light,
    "stop sign": _stop_sign,
}


def draw_sprite(label: str, size: tuple[int, int], *, mirrored: bool = False, glow: float = 1.0) -> Sprite:
    """An object of class `label` that fills `size` (height, width) exactly, outline included.

    `glow` multiplies the body colour, so that no two cars need be quite the same.
    """
    red, green, blue = (round(v * glow) for v in SPRITE_COLOURS[label])
    canvas = _Canvas((red, green, blue), size, mirrored)
    _DRAW[label](canvas, canvas.width, canvas.height)
    return canvas.sprite()
