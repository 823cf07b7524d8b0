"""The colour of a thing in a word, from its pixels."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Mask

__all__ = ["colour_of", "lamp_of"]

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
