"""The ground: asphalt, lines, kerbs, sidewalks and grass.

In every row of the picture the ground is a sequence of stretches, each of one colour. The step of colour
from one to the next is put where the edge falls, shared between the two pixels that it cuts, and summed up
along the row: this paints any number of stretches at once, with soft edges, and a line far away as faint
as it is thin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from instar.worlds.drive.canvas import EYE, SURFACES, Camera, Canvas
from instar.worlds.drive.plan import Drive
from instar.worlds.drive.textures import grain, stains

Plane = npt.NDArray[np.float32]

KERB = 0.18  # metres wide
LINE = 0.13
DASH, GAP = 3.0, 5.0
FARTHEST = 300.0
PAINT = {"white": (226, 226, 220), "yellow": (226, 178, 52)}
CROSSWALK_DEPTH, STOP_LINE_DEPTH = 3.2, 0.45
STRIPE = 0.5  # of a crosswalk, as wide as the gap to the next
REACH, FINE = 60, 20  # metres to each side, and steps per metre, of what is kept as a table over the offset


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """For each row below the horizon: how far the ground is, how the road runs, how deep a pixel is."""

    ahead: Plane
    lean: Plane
    centre: Plane
    deep: Plane


def paint_ground(canvas: Canvas, drive: Drive, view: Camera) -> None:
    """Paint all below the horizon."""
    height, width = view.size
    first = max(0, math.floor(view.horizon) + 1)
    down = np.arange(first, height) + 0.5 - view.horizon
    ahead = np.minimum(view.focal * EYE / np.maximum(down, 0.05), FARTHEST)
    lean = np.sqrt(1 + view.slope(ahead) ** 2)
    deep = ahead**2 / (view.focal * EYE)
    rows = _Rows(*(np.asarray(v, np.float32) for v in (ahead, lean, view.centre(ahead), deep)))
    colour, owner = _stretches(drive, rows, view)
    columns = (np.arange(width, dtype=np.float32) + np.float32(0.5 - view.middle)) / np.float32(view.focal)
    across = columns * (rows.ahead / rows.lean)[:, None] - (rows.centre / rows.lean)[:, None]
    colour *= _texture(drive, rows, across)[..., None]
    canvas.pixels[first:] = np.clip(colour, 0, 255, out=colour)
    canvas.owner[first:] = owner
    if canvas.near is not None:
        canvas.near[first:] = (1 / rows.ahead)[:, None]


def _stretches(drive: Drive, rows: _Rows, view: Camera) -> tuple[Plane, npt.NDArray[np.uint8]]:
    """Colour and class of each pixel, from the edges between stretches."""
    number, width = len(rows.ahead), view.size[1]
    beyond, surfaces = _surfaces(drive)
    steps: list[tuple[float, float | Plane, Plane, int]] = [
        (edge, 1.0, paint - before, SURFACES[name] - SURFACES[old])
        for edge, paint, before, old, name in surfaces
    ]
    road = surfaces[3][1]
    for left, right, share, paint, name in _markings(drive, rows):
        step, kind = np.asarray(paint, np.float32) * 0.93 - road, SURFACES[name] - SURFACES["road"]
        steps += [(left, share, step, kind), (right, share, -step, -kind)]
    edges = np.array([edge for edge, _, _, _ in steps], np.float32)[:, None]
    shares = np.stack([np.broadcast_to(np.asarray(share, np.float32), number) for _, share, _, _ in steps])
    # Beyond the picture they count at its border.
    x = np.clip(view.middle + view.focal * (rows.centre + edges * rows.lean) / rows.ahead, 0, width + 0.99)
    whole = x.astype(np.int32)
    part = ((x - whole) * shares).ravel()
    at = (np.arange(number, dtype=np.int32) * (width + 2) + whole).ravel()
    places = np.concatenate([at, np.minimum(at + 1, (number * (width + 2)) - 1)])
    weights = np.concatenate([shares.ravel() - part, part])
    changes = np.stack([step for _, _, step, _ in steps], axis=1).repeat(number, axis=1)
    colour = np.empty((number, width, 3), np.float32)
    for channel, change in enumerate(changes):
        summed = np.bincount(places, np.concatenate([change, change]) * weights, number * (width + 2))
        sums = summed.reshape(number, width + 2).astype(np.float32)
        sums[:, 0] += beyond[channel]
        colour[..., channel] = np.cumsum(sums, axis=1)[:, :width]
    turns = np.where(shares > 0.5, np.array([kind for *_, kind in steps])[:, None], 0)
    nearest = np.minimum(np.rint(x).astype(np.int32), width + 1)
    at = (np.arange(number, dtype=np.int32) * (width + 2) + nearest).ravel()
    kinds = np.bincount(at, turns.ravel(), number * (width + 2)).reshape(number, width + 2)
    kinds[:, 0] += SURFACES["terrain"]
    return colour, np.rint(np.cumsum(kinds, axis=1)[:, :width]).astype(np.uint8)


def _surfaces(drive: Drive) -> tuple[Plane, list[tuple[float, Plane, Plane, str, str]]]:
    """What lies at the far left, then from left to right each edge with what begins and what ends there."""
    road, rng = drive.road, np.random.default_rng([21, drive.road.look])
    asphalt = np.array([92, 93, 96], np.float32) * np.float32(rng.uniform(0.78, 1.15))
    paving = np.array([158, 154, 146], np.float32) * np.float32(rng.uniform(0.85, 1.1))
    kerb = np.array([178, 176, 170], np.float32)
    gutter = asphalt * np.float32(0.72)
    beyond = np.array([96, 112, 62], np.float32) if rng.random() < 0.45 else paving * np.float32(0.88)
    parts = (
        (road.left - KERB - road.sidewalk, paving, "sidewalk"),
        (road.left - KERB, kerb, "sidewalk"),
        (road.left, gutter, "road"),
        (road.left + 0.25, asphalt, "road"),
        (road.right - 0.25, gutter, "road"),
        (road.right, kerb, "sidewalk"),
        (road.right + KERB, paving, "sidewalk"),
        (road.right + KERB + road.sidewalk, beyond, "terrain"),
    )
    before = [(beyond, "terrain"), *((paint, name) for _, paint, name in parts)]
    return beyond, [(edge, paint, *old, name) for (edge, paint, name), old in zip(parts, before)]


_Marking = tuple[float, float, float | Plane, tuple[int, int, int], str]


def _markings(drive: Drive, rows: _Rows) -> list[_Marking]:
    """Painted stretches: from, to, how much of it each row shows, in which colour, and what it is."""
    road = drive.road
    found: list[_Marking] = []
    for where, kind in ((0.0, road.centre), (-road.lane, road.edges), (road.lane, road.edges)):
        if not kind:
            continue
        style, paint = kind.split()
        beside_kerb = where in (road.left, road.right)
        where *= 0.93 if beside_kerb else 1.0  # not in the gutter
        for middle in (where - 0.12, where + 0.12) if style == "double" else (where,):
            share = _dashes(rows.ahead + np.float32(road.look % 8), rows.deep) if style == "dash" else 1.0
            found.append((middle - LINE / 2, middle + LINE / 2, share, PAINT[paint], "line"))
    if road.crosswalk is not None:
        share = _within(rows.ahead, road.crosswalk + CROSSWALK_DEPTH / 2, CROSSWALK_DEPTH / 2, rows.deep)
        stripes = np.arange(road.left + 0.4, road.right - 0.4 - STRIPE, 2 * STRIPE).tolist()
        found += [(left, left + STRIPE, share, PAINT["white"], "crosswalk") for left in stripes]
    if road.stop_line is not None:
        share = _within(rows.ahead, road.stop_line, STOP_LINE_DEPTH / 2, rows.deep)
        found.append((0.15, road.right - 0.3, share, PAINT["white"], "stop line"))
    return found


def _within(place: Plane, centre: float, half: float, pixel: Plane) -> Plane:
    """The share of each pixel that lies at most `half` from the centre."""
    share = np.clip((np.float32(half) - np.abs(place - np.float32(centre))) / pixel + np.float32(0.5), 0, 1)
    return np.asarray(share * np.minimum(1, 2 * half / pixel), np.float32)


def _dashes(place: Plane, pixel: Plane) -> Plane:
    """The share of each pixel that lies on a dash; far away, where a pixel shows many, their mean."""
    period = np.float32(DASH + GAP)
    around = np.abs((place % period) - np.float32(DASH / 2))
    around = np.minimum(around, period - around)
    sharp = np.clip((np.float32(DASH / 2) - around) / pixel + np.float32(0.5), 0, 1)
    blurred = np.clip(pixel / period - np.float32(0.3), 0, 1)
    return np.asarray(sharp * (1 - blurred) + np.float32(DASH / period) * blurred, np.float32)


def _texture(drive: Drive, rows: _Rows, across: Plane) -> Plane:
    """How bright each place is beside its neighbours: grain, stains, wheel tracks, joints of paving."""
    shift = drive.road.look * 37
    clear = (np.float32(0.055) * np.clip(0.22 / rows.deep, 0, 1))[:, None]  # finer than a pixel would flicker
    wide = (np.float32(0.05) * np.clip(2.0 / rows.deep, 0.2, 1))[:, None]
    fine_row = (((rows.ahead * 22).astype(np.int32) + shift & 511) << 9)[:, None]
    wide_row = (((rows.ahead * 5).astype(np.int32) & 511) << 9)[:, None]
    x = (across * 22).astype(np.int32)
    light = grain().reshape(-1).take(fine_row + (x & 511))
    light *= clear
    light += stains().reshape(-1).take(wide_row + ((x >> 1) + shift & 511)) * wide
    place = across * np.float32(FINE) + np.float32(REACH * FINE)
    offset = np.clip(place, 0, 2 * REACH * FINE - 1).astype(np.int32)
    road = drive.road
    tracks, paved = _tables(*(round(v, 2) for v in (road.lane, road.left, road.right, road.sidewalk)))
    light += tracks.take(offset)
    joint = (rows.ahead % 0.9) < np.maximum(0.07, rows.deep / 2)
    crossing = np.clip(0.3 / rows.deep, 0, 1) * np.where(joint, 0.12, 0.0)
    light -= paved.take(offset) * crossing.astype(np.float32)[:, None]
    light += 1
    return light


@lru_cache(maxsize=256)
def _tables(lane: float, left: float, right: float, sidewalk: float) -> tuple[Plane, Plane]:
    """Over the offset: how dark wheel tracks and joints along the street are, and where the paving is."""
    offset = (np.arange(2 * REACH * FINE) / FINE - REACH + 0.5 / FINE).astype(np.float32)
    tracks = np.zeros_like(offset)
    for middle in (-lane / 2, lane / 2):
        for wheel in (-0.75, 0.75):
            tracks -= np.float32(0.05) * np.exp(-(((offset - np.float32(middle + wheel)) / 0.28) ** 2))
    beyond = np.maximum(offset - right, left - offset)
    paved = ((beyond > KERB) & (beyond < KERB + sidewalk)).astype(np.float32)
    tracks -= np.float32(0.10) * paved * ((offset % 0.6) < 1 / FINE)
    return tracks.astype(np.float32), paved
