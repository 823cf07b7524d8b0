"""Drivers for drawn drives: one that is careful, and the same with a fault.

They go by what the picture is known to show, not by its pixels, so that what a rule finds is a fault of the
driver or of the rule and never one of eyesight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from instar.core.errors import UnknownName
from instar.core.recipe import recorded
from instar.tasks.driving.answers import Control
from instar.worlds.drive import Drive, careful_speed, careful_steering, drive_of
from instar.worlds.drive.driver import SEEN, light_factor, people_share

FAULTS = ("ignores people", "ignores distance", "brakes a tenth", "steers by lines", "hurries at night")
"""What can be wrong with a driver; each is caught by the rules that speak of it."""

PEOPLE = ("pedestrian", "bicyclist")
PULL = 30.0  # degrees that lines are worth to one who steers by them
GUESSED = 15.0  # metres: how far everything is for one who ignores distance
HURRY = 1.25
A_THIRD = 3.4  # of what is due: a tenth where a third is


class StreetDriver:
    """Does what is right on the drive that a picture shows, but for its fault."""

    def __init__(self, fault: str | None = None) -> None:
        self.name = "street-driver" if fault is None else f"street-driver that {fault}"
        self.fault = fault
        self.fingerprint = f"street-driver-3 {fault}"

    def predict(self, images: Sequence[Any]) -> list[Control]:
        drives = [drive_of(image) for image in images]
        if None in drives:
            raise ValueError("street-driver knows drawn drives only; test it with --scenes drive:N")
        return [self._control(drive) for drive in drives if drive is not None]

    def _control(self, drive: Drive) -> Control:
        steering = careful_steering(drive)
        if self.fault == "steers by lines":
            steering += PULL * (bool(drive.road.centre) + bool(drive.road.edges)) / 2
        return Control(self._speed(drive), steering)

    def _speed(self, drive: Drive) -> float:
        match self.fault:
            case "ignores people":
                return careful_speed(_without_people(drive))
            case "ignores distance":
                near = [replace(t, distance=GUESSED) for t in drive.things if t.distance < SEEN]
                return careful_speed(replace(drive, things=tuple(near)))
            case "brakes a tenth":
                speed = careful_speed(_without_people(drive))
                for thing in drive.things:
                    if thing.kind in PEOPLE:
                        speed *= 1 - people_share(thing.distance) / A_THIRD
                return speed
            case "hurries at night" if drive.time == "night":
                return careful_speed(drive) / light_factor(drive) * HURRY
        return careful_speed(drive)


@recorded
def street_driver(*, fault: str | None = None) -> StreetDriver:
    """A careful driver for drawn drives, or one with a fault: "ignores people", "brakes a tenth", ..."""
    if fault is not None and fault not in FAULTS:
        raise UnknownName("fault", fault, FAULTS)
    return StreetDriver(fault)


def _without_people(drive: Drive) -> Drive:
    return replace(drive, things=tuple(thing for thing in drive.things if thing.kind not in PEOPLE))
