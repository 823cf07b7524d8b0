"""The colour of a thing in a word, from its pixels."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Mask

HUES = ((8, "red"), (19, "orange"), (34, "yellow"), (88, "green"), (132, "blue"), (168, ""), (181, "red"))
"""Upper bounds of OpenCV's hues, of half a degree each; purple has no name here."""
GREYS = ((75, "black"), (125, "gray"), (185, "silver"), (256, "white"))
COLOURED, LEAST_COLOURED = 80, 0.3  # saturation, and the share of pixels that has it
PALE = 42  # saturation of what still is white, silver or gray
CLEAR = 0.6  # of them that have one colour
DARK, BLACK = 30, 40  # grey levels
BODY = ((0.45, 0.8), (0.15, 0.85))  # the rows and columns of doors and bonnet, as shares of a thing's box
BROWN = 120  # orange that is no lighter
LIT = (90, 170)  # saturation and light of a lamp that is lit
PAINTS = {
    "white": (236, 236, 234), "silver": (172, 174, 176), "gray": (108, 109, 111), "black": (44, 44, 46),
    "red": (178, 24, 26), "blue": (28, 62, 158), "green": (24, 104, 52), "yellow": (226, 186, 24),
    "orange": (222, 100, 16), "brown": (104, 60, 26),
}  # fmt: skip
NEAR_PAINT = 16  # in the plane of colours of Lab: paint, and no lamp
PAINT_LIGHT = (0.5, 1.6)  # of the usual light of the paint: neither tyres nor glare
GLASS, WHEELS, RIM = (
    0.42,
    0.84,
    0.06,
)  # rows with glass end, rows with wheels begin; of the height: roof and pillars
GLOSS = 0.5  # how much of what is brighter than usual is the sky's light and not the paint's


def colour_of(picture: npt.NDArray[np.uint8], mask: Mask) -> str:
    """The colour of a car where the mask is, going by its doors and bonnet: glass mirrors the sky; or "".

    >>> everywhere = np.ones((20, 20), np.bool_)
    >>> colour_of(np.full((20, 20, 3), (170, 30, 30), np.uint8), everywhere)
    'red'
    """
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return ""
    box = [slice(_at(span, low), _at(span, high) + 1) for span, (low, high) in zip((rows, columns), BODY)]
    pixels = picture[box[0], box[1]][mask[box[0], box[1]]]
    if not len(pixels):
        return ""
    hue, saturation, light = _hsv(pixels)
    coloured = (saturation >= COLOURED) & (light >= DARK)
    if coloured.mean() < LEAST_COLOURED:
        if np.median(saturation) > PALE:
            return ""  # a pale green is neither green nor white
        return next(name for bound, name in GREYS if np.percentile(light, 75) < bound)
    name, share = _name(hue[coloured])
    if share < CLEAR or np.median(light[coloured]) < BLACK:
        return "black" if np.percentile(light, 75) < GREYS[0][0] else ""
    return "brown" if name == "orange" and np.median(light[coloured]) <= BROWN else name


def repaint(pixels: npt.NDArray[np.uint8], colour: str) -> npt.NDArray[np.uint8] | None:
    """A cut-out of a car in another colour, with its own light and shade; None where that is not to be seen.

    Its paint is what has the colour of doors and bonnet; glass, inside of roof and pillars, may have it too.
    """
    picture, solid = np.ascontiguousarray(pixels[..., :3]), np.asarray(pixels[..., 3] >= 128)
    rows, columns = np.flatnonzero(solid.any(axis=1)), np.flatnonzero(solid.any(axis=0))
    if colour not in PAINTS or not len(rows):
        return None
    light = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32)
    plane = cv2.cvtColor(picture, cv2.COLOR_RGB2LAB)[..., 1:].astype(np.float32)
    body = np.zeros_like(solid)
    body[tuple(slice(_at(span, a), _at(span, b) + 1) for span, (a, b) in zip((rows, columns), BODY))] = True
    body &= solid
    usual = max(float(np.percentile(light[body], 75)), 1.0) if body.any() else 1.0
    bright = body & (light > PAINT_LIGHT[0] * usual)
    if not bright.any():
        return None
    apart = np.linalg.norm(plane - np.median(plane[bright], axis=0), axis=2)
    paint = (apart < NEAR_PAINT) & (light > PAINT_LIGHT[0] * usual) & (light < PAINT_LIGHT[1] * usual)
    inside = cv2.distanceTransform(np.pad(solid.astype(np.uint8), 1), cv2.DIST_L2, 3)[1:-1, 1:-1]
    paint[: _at(rows, GLASS)] &= inside[: _at(rows, GLASS)] <= max(1.0, RIM * len(rows))
    paint[_at(rows, WHEELS) :] = False
    share = cv2.GaussianBlur((paint & solid).astype(np.float32), (3, 3), 0)[..., None]
    lit = (light / usual)[..., None]
    paints = np.array(PAINTS[colour], np.float32)
    fresh = paints * np.minimum(lit, 1) + (255 - paints) * GLOSS * np.clip(lit - 1, 0, 1)
    mixed = np.clip(np.rint(picture + (fresh - picture) * share), 0, 255).astype(np.uint8)
    return np.dstack([mixed, pixels[..., 3]]) if colour_of(mixed, solid) == colour else None


def _at(span: npt.NDArray[np.int64], share: float) -> int:
    return int(span[0] + share * (span[-1] - span[0]))


def lamp_of(pixels: npt.NDArray[np.uint8]) -> str:
    """Which lamp of a traffic light is lit: the colour of what is bright and strong; "" for none."""
    if not len(pixels):
        return ""
    hue, saturation, light = _hsv(pixels)
    lit = (saturation >= LIT[0]) & (light >= LIT[1])
    name = _name(hue[lit])[0] if lit.any() else ""
    return {"orange": "yellow"}.get(name, name)


def _hsv(pixels: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.uint8], ...]:
    hsv = cv2.cvtColor(np.ascontiguousarray(pixels[None]), cv2.COLOR_RGB2HSV)[0]
    return tuple(np.asarray(hsv[:, channel], np.uint8) for channel in range(3))


def _name(hues: npt.NDArray[np.uint8]) -> tuple[str, float]:
    """The name that most hues have, and the share that has it."""
    names = [next(name for bound, name in HUES if hue < bound) for hue in hues.tolist()]
    most = max(sorted(set(names)), key=names.count)
    return most, names.count(most) / len(names)
