"""Cars, vans, trucks and buses: a side view drawn out across the width, seen in true perspective."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from instar.user_file import load_resource
from instar.worlds.drive.canvas import EYE, Camera, Canvas, Paint, Points, in_shade
from instar.worlds.drive.plan import Thing

Corners = Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class _Shape:
    """A kind of vehicle, as `vehicles.toml` explains."""

    length: float
    width: float
    outline: Corners
    faces: Sequence[str]
    windows: Sequence[Corners]
    wheels: Sequence[float]
    wheel: float


_TABLES = load_resource("instar.worlds.drive", "vehicles.toml")
COLOURS: Mapping[str, Paint] = {name: tuple(colour) for name, colour in _TABLES["paint"].items()}
MATERIALS: Mapping[str, Paint] = {name: tuple(colour) for name, colour in _TABLES["material"].items()}
_SHAPES = {kind: _Shape(**fields) for kind, fields in _TABLES["shape"].items()}
SIZES = {
    kind: (shape.length, shape.width, max(y for _, y, _ in shape.outline)) for kind, shape in _SHAPES.items()
}
"""Length, width and height of each kind."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A polygon of (along, up, across) corners; it hides what is behind, or is a mark on what is there."""

    corners: Corners
    colour: str
    shade: float = 1.0
    own: bool = False
    face: bool = False  # left out where it looks away from the camera
    fine: bool = False  # left out where it could not be seen
    shines: bool = False


SHADES = {"roof": 1.08, "bumper": 0.78, "doors": 0.95, "cab": 0.9, "glass": 1.0}
SMALL = 22.0  # pixels wide: below, fine parts are left out


def paint_vehicle(canvas: Canvas, thing: Thing, view: Camera, owner: int) -> None:
    """Paint the shadow, what faces the camera from far to near, the side that is seen, and the lamps."""
    shape = _SHAPES[thing.kind]
    right = float(view.across(thing.offset, thing.distance))
    wide = shape.width * view.scale(thing.distance) * thing.scale
    parts = [p for p in _parts(thing.kind, thing.away, right > 0) if wide > SMALL or not p.fine]
    parts = [p for p in parts if not p.face or _is_seen(p, thing, shape)]
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
        [in_shade(MATERIALS.get(part.colour, body), part.shade) for part in parts],
        [owner if part.own else -1 for part in parts],
        1 / max(thing.distance, 0.5),
    )
    if canvas.glow is not None:
        colour = (255.0, 30.0, 22.0) if thing.away else (255.0, 250.0, 226.0)
        for part, end in zip(parts, np.cumsum(lengths).tolist()):
            if part.shines:
                canvas.shine(pixels[end - len(part.corners) : end], colour)


def _is_seen(part: _Part, thing: Thing, shape: _Shape) -> bool:
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
        shade = SHADES.get(what, 1.0 if steep else 1.1)
        parts.append(_Part(quad, what, shade, own=True, face=True))
        if what == "glass":
            glare = (quad[0], (a0, y0, -half * 0.2), (a1, y1, -half * 0.5), quad[3])
            parts.append(_Part(glare, what, 1.35, face=True, fine=True))
    outline = [(a, y, side * (half - n)) for a, y, n in shape.outline]
    parts.append(_Part(outline, "body", 0.86, own=True))
    low, end, flat = shape.outline[0][1], shape.length - 0.02, side * half
    sill = ((0.02, low, flat), (0.02, low + 0.14, flat), (end, low + 0.14, flat), (end, low, flat))
    parts.append(_Part(sill, "body", 0.5, fine=True))
    panes = [[(a, y, side * (half - n + 0.005)) for a, y, n in window] for window in shape.windows]
    parts += [_Part(pane, "glass", 0.9) for pane in panes]
    turns = [(math.cos(i * math.pi / 6), math.sin(i * math.pi / 6)) for i in range(12)]
    for wheel in shape.wheels:
        for size, colour in ((1.0, "rubber"), (0.55, "rim")):
            ring = [(wheel + shape.wheel * size * x, shape.wheel * (1 + size * y), flat) for x, y in turns]
            parts.append(_Part(ring, colour, own=size == 1.0, fine=size < 1.0))
    return (*parts, *_end(kind, shape, away))


def _end(kind: str, shape: _Shape, away: bool) -> list[_Part]:
    """The bumper, lamps and plate of the end that looks toward us."""
    half, along = shape.width / 2, (0.0 if away else shape.length)
    low = shape.outline[0][1] if away else shape.outline[-1][1]
    truck = kind == "truck" and away

    def block(x0: float, x1: float, y0: float, y1: float) -> Corners:
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
