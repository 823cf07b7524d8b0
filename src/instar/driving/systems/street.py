"""Drivers for the drawn street: one that is careful, and the same with a fault."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from instar.driving.answers import Control
from instar.errors import UnknownName
from instar.scene import Image, Mask
from instar.worlds.sprites import COLOURS

__all__ = ["FAULTS", "StreetDriver", "street_driver"]

FAULTS = ("ignores people", "ignores distance", "brakes a tenth", "steers by lines", "hurries at night")
"""What can be wrong with a driver; each is caught by the rules that speak of it."""

CRUISING = 50.0  # km/h, on an empty road in good light
VIVID = 0.36  # of the strongest channel: how far the weakest is below it in an object's body
HUE = 9  # half degrees around the hue of a class
LEAST_AREA = 0.0004  # of the picture
PULL = 60.0  # degrees, if all of the road were white
DARK, BRIGHT = 60.0, 120.0  # mean grey levels: below, night; above, day


class StreetDriver:
    """Looks for people, signs and darkness in the drawn street, and slows down for each of them.

    The nearer someone stands, the slower; two things slow down more than one.
    """

    def __init__(self, fault: str | None = None) -> None:
        self.name = "street-driver" if fault is None else f"street-driver that {fault}"
        self.fault = fault
        self.fingerprint = f"street-driver-1 {fault}"

    def predict(self, images: Sequence[Image]) -> list[Control]:
        steer = _steering_by_lines if self.fault == "steers by lines" else _steering
        return [Control(self._speed(image), steer(image)) for image in images]

    def _speed(self, image: Image) -> float:
        share = 1.0
        seen = _Colours(image)
        if self.fault != "ignores people":
            for nearness in seen.near("person"):
                near = 0.5 if self.fault == "ignores distance" else nearness
                share *= 1 - (0.05 + 0.1 * near if self.fault == "brakes a tenth" else 0.35 + 0.35 * near)
        for nearness in seen.near("stop sign"):  # and whatever else has a red rim
            share *= 1 - (0.08 + 0.2 * nearness)
        for label in ("car", "bus", "truck", "bicycle"):
            for nearness in seen.near(label):
                share *= 1 - (0.05 + 0.15 * nearness)
        light = float(image[::4, ::4].mean())
        dark = float(np.clip((BRIGHT - light) / (BRIGHT - DARK), 0, 1))
        share *= 1 + 0.3 * dark if self.fault == "hurries at night" else 1 - 0.35 * dark
        return CRUISING * share


def street_driver(*, fault: str | None = None) -> StreetDriver:
    """A careful driver for the drawn street, or one with a fault: "ignores people", "brakes a tenth", ..."""
    if fault is not None and fault not in FAULTS:
        raise UnknownName("fault", fault, FAULTS)
    return StreetDriver(fault)


class _Colours:
    """Where a picture is vivid, and in which hue."""

    def __init__(self, image: Image) -> None:
        red, green, blue = cv2.split(image)  # channel by channel: NumPy is slow along an axis of three
        strongest = np.maximum(np.maximum(red, green), blue)
        spread = strongest - np.minimum(np.minimum(red, green), blue)
        self._vivid = spread >= np.maximum(VIVID * strongest.astype(np.float32), 12)
        self._hue = cv2.split(cv2.cvtColor(image, cv2.COLOR_RGB2HSV))[0].astype(np.int16)

    def near(self, label: str) -> list[float]:
        """How near each thing of a class is: 0 at the horizon, 1 at the lower edge."""
        colour = np.array([[COLOURS[label]]], np.uint8)
        away = np.abs(self._hue - int(cv2.cvtColor(colour, cv2.COLOR_RGB2HSV)[0, 0, 0]))
        return _nearness((np.minimum(away, 180 - away) <= HUE) & self._vivid)


def _nearness(mask: Mask) -> list[float]:
    height, width = mask.shape
    closed = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    _, _, stats, _ = cv2.connectedComponentsWithStats(closed)
    horizon = 0.42 * height
    return [
        float(np.clip((top + tall - horizon) / (height - horizon), 0, 1))
        for _, top, _, tall, area in stats[1:].tolist()
        if area >= LEAST_AREA * height * width
    ]


def _steering(image: Image) -> float:
    """Degrees toward where the road goes: the middle of the asphalt against the middle of the picture."""
    return _toward(_asphalt(image))


def _steering_by_lines(image: Image) -> float:
    """The same, pulled to the left by all that is white on the road."""
    top, bottom = _band(image)
    road = _asphalt(image)
    grey = image[top:bottom].mean(axis=2)[road]
    white = float((grey > np.median(grey) + 40).mean()) if len(grey) else 0.0
    return _toward(road) + PULL * white


def _band(image: Image) -> tuple[int, int]:
    """The rows in which the road ahead is looked at."""
    return round(0.60 * image.shape[0]), round(0.75 * image.shape[0])


def _asphalt(image: Image) -> Mask:
    """Pixels in the band that look like the ground right before the car."""
    height, width = image.shape[:2]
    calm = cv2.medianBlur(image, 5)  # without drops of rain
    near = calm[round(0.9 * height) :, round(0.3 * width) : round(0.7 * width)]
    colour = np.median(near.reshape(-1, 3), axis=0)
    top, bottom = _band(image)
    alike = (np.abs(calm[top:bottom].astype(np.float32) - colour) < 24).all(axis=2).astype(np.uint8)
    whole = cv2.erode(alike, np.ones((3, 3), np.uint8))
    whole = cv2.morphologyEx(whole, cv2.MORPH_CLOSE, np.ones((3, width // 16), np.uint8))  # over the lines
    count, pieces, stats, _ = cv2.connectedComponentsWithStats(whole)
    return np.asarray(pieces == 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))) if count > 1 else alike > 0


def _toward(road: Mask) -> float:
    width = road.shape[1]
    middle = float((road.sum(axis=0) * np.arange(width)).sum() / max(1, road.sum()))
    return (width / 2 - middle) / width * 40 if road.any() else 0.0
