"""The colour of a thing in a word, from its pixels."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

__all__ = ["PAINTS", "colour_of", "lamp_of", "painted"]

HUES = ((8, "red"), (19, "orange"), (34, "yellow"), (88, "green"), (132, "blue"), (168, ""), (181, "red"))
"""Upper bounds of OpenCV's hues, of half a degree each; purple has no name here."""
GREYS = ((62, "black"), (112, "gray"), (162, "silver"), (256, "white"))
COLOURED, LEAST_COLOURED = 75, 0.3  # saturation, and the share of pixels that has it
DARK = 36
BROWN = 120  # orange that is no lighter
PAINTS = {
    "red": (1, 200, 0.8), "orange": (13, 215, 0.95), "yellow": (27, 190, 1.0), "green": (62, 140, 0.6),
    "blue": (112, 180, 0.7), "brown": (13, 130, 0.5), "white": (0, 6, 1.1), "silver": (0, 6, 0.74),
    "gray": (0, 8, 0.5), "black": (0, 10, 0.26),
}  # fmt: skip
"""Hue, saturation and share of the light of a white car that is painted so."""
BODY = 0.62  # of the light of the body: what is darker is glass, rubber or shadow
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


def painted(pixels: npt.NDArray[np.uint8], colour: str) -> npt.NDArray[np.uint8]:
    """A cut-out of a light car, `uint8 (h, w, 4)`, in another colour; glass and tyres stay as they are."""
    hue, saturation, share = PAINTS[colour]
    hsv = cv2.cvtColor(np.ascontiguousarray(pixels[..., :3]), cv2.COLOR_RGB2HSV).astype(np.float32)
    light = hsv[..., 2]
    usual = float(np.percentile(light[pixels[..., 3] >= 128], 70))
    body = np.clip((light / max(usual, 1.0) - BODY + 0.08) / 0.16, 0, 1)[..., None]
    target = np.stack(
        [
            np.full_like(light, hue),
            np.full_like(light, saturation),
            np.clip(light * (225 / usual) * share, 0, 255),
        ],
        axis=2,
    ).astype(np.uint8)
    coat = cv2.cvtColor(target, cv2.COLOR_HSV2RGB).astype(np.float32)
    mixed = pixels[..., :3] * (1 - body) + coat * body
    return np.dstack([np.rint(mixed).astype(np.uint8), pixels[..., 3]])


def lamp_of(pixels: npt.NDArray[np.uint8]) -> str:
    """Which lamp of a traffic light is lit: the colour of what is bright and strong; "" for none."""
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
