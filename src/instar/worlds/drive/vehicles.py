"""Cars, vans, trucks and buses: a side view drawn out across the width, seen in true perspective."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from instar.worlds.drive.canvas import Canvas, Colour, Points, shaded
from instar.worlds.drive.plan import Thing
from instar.worlds.drive.view import EYE, Camera

__all__ = ["COLOURS", "SIZES", "paint_vehicle"]

COLOURS: Mapping[str, Colour] = {
    "white": (222, 222, 218),
    "black": (38, 39, 43),
    "blue": (42, 74, 140),
    "red": (164, 36, 34),
    "green": (44, 92, 60),
    "yellow": (218, 178, 44),
    "gray": (112, 115, 120),
    "silver": (172, 176, 180),
    "orange": (204, 104, 36),
    "brown": (94, 66, 48),
}


@dataclass(frozen=True, slots=True)
class _Shape:
    """The side view from the tail (along 0) to the nose, as (along, up, inset) corners, clockwise.

    `faces` says what the stretch from each corner to the next is made of. `windows` lie on the side. All in
    metres; `inset` is how much narrower it is there on each side.
    """

    length: float
    width: float
    outline: tuple[tuple[float, float, float], ...]
    faces: tuple[str, ...]
    windows: tuple[tuple[tuple[float, float, float], ...], ...]
    wheels: tuple[float, ...]
    wheel: float = 0.32


_CAR = _Shape(
    4.3,
    1.78,
    (
        (0.0, 0.28, 0.0), (0.03, 0.62, 0.0), (0.10, 0.92, 0.05), (0.42, 0.97, 0.08), (0.85, 1.44, 0.26),
        (2.35, 1.46, 0.26), (3.1, 0.98, 0.08), (4.12, 0.82, 0.06), (4.28, 0.55, 0.0), (4.3, 0.28, 0.0),
    ),
    ("bumper", "body", "body", "glass", "roof", "glass", "body", "body", "bumper", "under"),
    (((0.72, 1.0, 0.09), (1.02, 1.36, 0.24), (1.6, 1.38, 0.24), (1.6, 1.0, 0.09)),
     ((1.68, 1.0, 0.09), (1.68, 1.38, 0.24), (2.28, 1.38, 0.24), (2.86, 1.0, 0.09))),
    (0.8, 3.45),
)  # fmt: skip
_VAN = _Shape(
    5.2,
    1.98,
    (
        (0.0, 0.35, 0.0), (0.0, 1.1, 0.0), (0.06, 1.9, 0.1), (0.12, 2.25, 0.16), (3.7, 2.28, 0.18),
        (4.5, 1.35, 0.06), (5.1, 1.1, 0.04), (5.2, 0.7, 0.0), (5.2, 0.32, 0.0),
    ),
    ("body", "glass", "body", "roof", "glass", "body", "body", "bumper", "under"),
    (((3.1, 1.35, 0.06), (3.1, 2.0, 0.14), (3.6, 2.0, 0.14), (4.15, 1.35, 0.06)),),
    (0.95, 4.2),
    0.34,
)  # fmt: skip
_TRUCK = _Shape(
    8.4,
    2.45,
    (
        (0.0, 0.9, 0.0), (0.0, 3.3, 0.0), (6.2, 3.3, 0.0), (6.2, 2.5, 0.06), (7.2, 2.6, 0.1),
        (8.2, 1.9, 0.08), (8.35, 1.0, 0.02), (8.4, 0.4, 0.0),
    ),
    ("doors", "roof", "body", "roof", "glass", "cab", "bumper", "under"),
    (((6.9, 1.7, 0.05), (6.9, 2.35, 0.08), (7.5, 2.35, 0.08), (7.95, 1.7, 0.05)),),
    (1.2, 2.3, 7.0),
    0.5,
)  # fmt: skip
_BUS = _Shape(
    11.0,
    2.5,
    (
        (0.0, 0.4, 0.0), (0.0, 1.3, 0.0), (0.05, 2.5, 0.05), (0.1, 3.05, 0.08), (10.8, 3.05, 0.08),
        (10.95, 2.7, 0.05), (11.0, 1.15, 0.0), (11.0, 0.4, 0.0),
    ),
    ("body", "glass", "body", "roof", "body", "glass", "body", "under"),
    tuple(
        ((a, 1.4, 0.02), (a, 2.4, 0.05), (a + 1.55, 2.4, 0.05), (a + 1.55, 1.4, 0.02))
        for a in (0.5, 2.2, 3.9, 5.6, 7.3, 9.0)
    ),
    (2.6, 8.4),
    0.48,
)  # fmt: skip
_SHAPES = {"car": _CAR, "van": _VAN, "truck": _TRUCK, "bus": _BUS}
SIZES = {
    kind: (shape.length, shape.width, max(y for _, y, _ in shape.outline)) for kind, shape in _SHAPES.items()
}
"""Length, width and height of each kind."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A polygon of (along, up, across) corners; it hides what is behind, or is a mark on what is there."""

    corners: tuple[tuple[float, float, float], ...]
    colour: str
    shade: float = 1.0
    own: bool = False
    fine: bool = False  # left out where it could not be seen
    shines: bool = False


FIXED: Mapping[str, Colour] = {
    "glass": (58, 70, 82),
    "rubber": (30, 30, 32),
    "rim": (128, 130, 134),
    "plate": (214, 212, 196),
    "grille": (34, 34, 38),
    "steel": (62, 62, 64),
    "red lamp": (168, 22, 24),
    "white lamp": (236, 236, 224),
}
SHADES = {"roof": 1.08, "bumper": 0.78, "doors": 0.95, "cab": 0.9}
SMALL = 22.0  # pixels wide: below, fine parts are left out


def paint_vehicle(canvas: Canvas, thing: Thing, view: Camera, owner: int) -> None:
    """Paint the shadow, what faces the camera from far to near, the side that is seen, and the lamps."""
    shape = _SHAPES[thing.kind]
    right = float(view.across(thing.offset, thing.distance))
    wide = shape.width * view.scale(thing.distance) * thing.scale
    parts = [p for p in _parts(thing.kind, thing.away, right > 0) if wide > SMALL or not p.fine]
    parts = [p for p in parts if p.colour not in _FACES or _faces(p, thing, shape)]
    corners = np.array([corner for part in parts for corner in part.corners])
    pixels = _placed(corners, thing, shape, right, view)
    half = shape.width / 2 + 0.12
    ground = np.array(
        [[-0.15, 0, -half], [-0.15, 0, half], [shape.length, 0, half], [shape.length, 0, -half]]
    )
    canvas.shade(_placed(ground, thing, shape, right, view), 0.62)
    body = COLOURS.get(thing.variant, COLOURS["silver"])
    lengths = [len(part.corners) for part in parts]
    canvas.polygons(
        pixels,
        lengths,
        [shaded(FIXED.get(part.colour.removesuffix(" face"), body), part.shade) for part in parts],
        [owner if part.own else -1 for part in parts],
        1 / max(thing.distance, 0.5),
    )
    if canvas.glow is not None:
        colour = (255.0, 30.0, 22.0) if thing.away else (255.0, 250.0, 226.0)
        for part, end in zip(parts, np.cumsum(lengths).tolist()):
            if part.shines:
                canvas.shine(pixels[end - len(part.corners) : end], colour)


_FACES = ("body face", "glass face")


def _faces(part: _Part, thing: Thing, shape: _Shape) -> bool:
    """Whether a stretch of the outline looks toward the camera."""
    (a0, y0, _), (a1, y1, _) = part.corners[0], part.corners[2]
    ahead = thing.distance / thing.scale
    camera = -ahead if thing.away else shape.length + ahead
    return -(y1 - y0) * (camera - a0) + (a1 - a0) * (EYE / thing.scale - y0) > 0


def _placed(points: Points, thing: Thing, shape: _Shape, right: float, view: Camera) -> Points:
    """Corners as pixels; the near end stands where the thing does, in the direction of the road there."""
    angle = math.atan(float(view.slope(thing.distance)))
    sine, cosine = math.sin(angle), math.cos(angle)
    along = (points[:, 0] if thing.away else shape.length - points[:, 0]) * thing.scale
    across = points[:, 2] * thing.scale
    return view.pixels(
        right + along * sine + across * cosine,
        points[:, 1] * thing.scale,
        thing.distance + along * cosine - across * sine,
    )


@cache
def _parts(kind: str, away: bool, seen_left: bool) -> tuple[_Part, ...]:
    """All parts of a vehicle in the order of painting, with the side that is seen."""
    shape = _SHAPES[kind]
    half = shape.width / 2
    side = -1.0 if seen_left else 1.0
    parts = []
    stretches = list(zip(shape.outline, shape.outline[1:], shape.faces))
    for (a0, y0, n0), (a1, y1, n1), what in reversed(stretches) if away else stretches:
        quad = ((a0, y0, -half + n0), (a0, y0, half - n0), (a1, y1, half - n1), (a1, y1, -half + n1))
        steep = abs(y1 - y0) > abs(a1 - a0)
        shade = SHADES.get(what, 1.0 if steep else 1.1) if what != "glass" else 1.0
        parts.append(_Part(quad, "glass face" if what == "glass" else "body face", shade, own=True))
        if what == "glass":
            glare = (quad[0], (a0, y0, -half * 0.2), (a1, y1, -half * 0.5), quad[3])
            parts.append(_Part(glare, "glass face", 1.35, fine=True))
    outline = tuple((a, y, side * (half - n)) for a, y, n in shape.outline)
    parts.append(_Part(outline, "body", 0.86, own=True))
    low = shape.outline[0][1]
    end = shape.length - 0.02
    flat = side * half
    parts.append(
        _Part(
            ((0.02, low, flat), (0.02, low + 0.14, flat), (end, low + 0.14, flat), (end, low, flat)),
            "body",
            0.5,
            fine=True,
        )
    )
    panes = [tuple((a, y, side * (half - n + 0.005)) for a, y, n in window) for window in shape.windows]
    parts += [_Part(pane, "glass", 0.9) for pane in panes]
    for wheel in shape.wheels:
        for size, colour in ((1.0, "rubber"), (0.55, "rim")):
            ring = tuple(
                (
                    wheel + shape.wheel * size * math.cos(i * math.pi / 6),
                    shape.wheel * (1 + size * math.sin(i * math.pi / 6)),
                    flat,
                )
                for i in range(12)
            )
            parts.append(_Part(ring, colour, own=size == 1.0, fine=size < 1.0))
    return (*parts, *_end(kind, shape, away))


def _end(kind: str, shape: _Shape, away: bool) -> list[_Part]:
    """The bumper, lamps and plate of the end that looks toward us."""
    half, along = shape.width / 2, (0.0 if away else shape.length)
    low = shape.outline[0][1] if away else shape.outline[-1][1]
    truck = kind == "truck" and away

    def block(x0: float, x1: float, y0: float, y1: float) -> tuple[tuple[float, float, float], ...]:
        return (along, y0, x0), (along, y0, x1), (along, y1, x1), (along, y1, x0)

    parts = [_Part(block(-half, half, low, low + 0.26), "body", 0.62)]
    wheels = [block(wheel, wheel + 0.22, 0.0, low + 0.02) for wheel in (-half + 0.12, half - 0.34)]
    parts += [_Part(wheel, "rubber", own=True) for wheel in wheels]
    if truck:
        parts.append(_Part(block(-half, half, 0.9, 3.25), "body", 0.97))
        parts.append(_Part(block(-0.02, 0.02, 0.95, 3.2), "body", 0.7, fine=True))
        parts.append(_Part(block(-half + 0.1, half - 0.1, 0.45, 0.85), "steel", own=True))
    parts.append(_Part(block(-0.26, 0.26, low + 0.12, low + 0.24), "plate", fine=True))
    bottom, top = {"car": (0.62, 0.8)}.get(kind, (0.55, 0.75) if truck else (0.95, 1.2))
    for x0, x1 in ((-half + 0.08, -half + 0.42), (half - 0.42, half - 0.08)):
        parts.append(_Part(block(x0, x1, bottom, top), "red lamp" if away else "white lamp", shines=True))
    if not away:
        parts.append(_Part(block(-half + 0.5, half - 0.5, low + 0.26, low + 0.44), "grille", fine=True))
    return parts
