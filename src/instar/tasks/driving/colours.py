"""The colour of a thing in a word, from its pixels."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

__all__ = ["colour_of", "lamp_of"]

HUES = ((8, "red"), (19, "orange"), (34, "yellow"), (88, "green"), (132, "blue"), (168, ""), (181, "red"))
"""Upper bounds of OpenCV's hues, of half a degree each; purple has no name here."""
GREYS = ((62, "black"), (112, "gray"), (162, "silver"), (256, "white"))
COLOURED, LEAST_COLOURED = 75, 0.3  # saturation, and the share of pixels that has it
DARK = 36
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
        return next(name for bound, name in GREYS if np.percentile(light, 70) < bound)
    name = _name(hue[coloured])
    return "brown" if name == "orange" and np.median(light[coloured]) <= BROWN else name


def lamp_of(pixels: npt.NDArray[np.uint8]) -> str:
    """Which lamp of a traffic light is lit: the colour of what is bright and strong in colour; "" for none."""
    if not len(pixels):
        return ""
    hue, saturation, light = _hsv(pixels)
    lit = (saturation >= LIT[0]) & (light >= LIT[1])
    name = _name(hue[lit]) if lit.any() else ""
    return {"orange": "yellow"}.get(name, name)


def _hsv(pixels: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.uint8], ...]:
    hsv = cv2.cvtColor(np.ascontiguousarray(pixels[None]), cv2.COLOR_RGB2HSV)[0]
    return tuple(np.asarray(hsv[:, channel], np.uint8) for channel in range(3))


def _name(hues: npt.NDArray[np.uint8]) -> str:
    """The name that most hues have."""
    names = [next(name for bound, name in HUES if hue < bound) for hue in hues.tolist()]
    return max(sorted(set(names)), key=names.count)
