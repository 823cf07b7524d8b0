"""The colour of a thing in a word, from its pixels."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

__all__ = ["colour_of", "lamp_of"]

HUES = ((8, "red"), (19, "orange"), (34, "yellow"), (88, "green"), (132, "blue"), (168, ""), (181, "red"))
"""Upper bounds of OpenCV's hues, of half a degree each; purple has no name here."""
GREYS = ((75, "black"), (125, "gray"), (185, "silver"), (256, "white"))
COLOURED, LEAST_COLOURED = 80, 0.25  # saturation, and the share of pixels that has it
CLEAR = 0.6  # of them that have one colour
DARK, BLACK = 45, 58  # grey levels
BROWN = 120  # orange that is no lighter
LIT = (90, 170)  # saturation and light of a lamp that is lit


def colour_of(pixels: npt.NDArray[np.uint8]) -> str:
    """The colour of the body of a car, say, `uint8 (n, 3)`: tyres, shadows and windows are dark; "" for none.

    >>> colour_of(np.full((50, 3), (170, 30, 30), np.uint8)), colour_of(np.full((50, 3), 230, np.uint8))
    ('red', 'white')
    """
    if not len(pixels):
        return ""
    hue, saturation, light = _hsv(pixels)
    coloured = (saturation >= COLOURED) & (light >= DARK)
    if coloured.mean() < LEAST_COLOURED:
        return next(name for bound, name in GREYS if np.percentile(light, 80) < bound)
    name, share = _name(hue[coloured])
    if np.median(light[coloured]) < BLACK:
        return "black"  # whatever colour a dark car has is of the sky
    if share < CLEAR:
        return ""
    return "brown" if name == "orange" and np.median(light[coloured]) <= BROWN else name


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
