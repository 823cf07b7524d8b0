"""From the description of a drive to its picture and its label map."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from instar.core.scene import Image, Mask
from instar.imaging.labels import LabelMap
from instar.worlds.drive.air import paint_sky, through_the_air
from instar.worlds.drive.canvas import CLASSES, SURFACES, Camera, Canvas
from instar.worlds.drive.fixtures import paint_lamp, paint_light, paint_sign, paint_tree
from instar.worlds.drive.ground import paint_ground
from instar.worlds.drive.houses import paint_house
from instar.worlds.drive.people import paint_bicyclist, paint_pedestrian
from instar.worlds.drive.plan import VEHICLES, Drive, House, Thing
from instar.worlds.drive.vehicles import paint_vehicle

CLASS_OF = {"pedestrian": "person", "bicyclist": "rider", "tree": "vegetation", "lamp": "pole"} | {
    kind: kind for kind in (*VEHICLES, "traffic sign", "traffic light")
}
"""The class of each kind of thing."""

PAINTERS: Mapping[str, Callable[[Canvas, Thing, Camera, int], None]] = {
    "pedestrian": paint_pedestrian,
    "bicyclist": paint_bicyclist,
    "tree": paint_tree,
    "lamp": paint_lamp,
    "traffic sign": paint_sign,
    "traffic light": paint_light,
} | dict.fromkeys(VEHICLES, paint_vehicle)
"""What paints a thing of each kind; it is seen as the owner of its pixels, poles and bicycles apart."""

FARTHEST, FARTHEST_HOUSE = 110.0, 90.0
NEAREST = 1.5
# Owners below this are classes, those from it on things.
FIRST_THING = len(CLASSES)


@dataclass(frozen=True, slots=True, eq=False)
class Rendered:
    """`picture` uint8 (H, W, 3); `owner` uint8 (H, W) numbers what is seen."""

    drive: Drive
    picture: Image
    owner: npt.NDArray[np.uint8]

    def labels(self) -> LabelMap:
        """What every pixel shows."""
        table = np.zeros(256, np.uint8)
        table[: len(CLASSES)] = np.arange(len(CLASSES))
        for number, thing in enumerate(self.drive.things):
            if FIRST_THING + number < 256:
                table[FIRST_THING + number] = SURFACES[CLASS_OF[thing.kind]]
        return LabelMap(table[self.owner], CLASSES)

    def mask(self, number: int) -> Mask:
        """The pixels of the thing with this number."""
        return np.asarray(self.owner == FIRST_THING + number)


def render(drive: Drive, size: tuple[int, int] = (160, 320)) -> Rendered:
    """Paint from far to near, then let light and weather fall on it."""
    view = Camera.of(drive, size)
    dark = drive.time != "day"
    canvas = Canvas(size, deep=dark or drive.weather in ("rain", "snow", "fog"), dark=dark)
    paint_sky(canvas, drive, view)
    paint_ground(canvas, drive, view)
    # A house is as far as its far end: all before it stands in front of it.
    far: list[tuple[float, int, House | Thing]] = [
        (house.start + house.length, -1, house) for house in drive.houses if house.start < FARTHEST_HOUSE
    ]
    far += [(t.distance, n, t) for n, t in enumerate(drive.things) if NEAREST <= t.distance < FARTHEST]
    for _, number, thing in sorted(far, key=lambda entry: -entry[0]):
        if isinstance(thing, House):
            paint_house(canvas, thing, drive, view)
        else:
            PAINTERS[thing.kind](canvas, thing, view, min(255, FIRST_THING + number))
    picture, owner = through_the_air(canvas, drive, view), canvas.owner
    if drive.mirrored:
        picture, owner = np.ascontiguousarray(picture[:, ::-1]), np.ascontiguousarray(owner[:, ::-1])
    return Rendered(drive, picture, owner)


def silhouettes(drive: Drive, number: int, size: tuple[int, int]) -> tuple[Mask, Mask]:
    """The pixels of one thing as if it stood alone, and those of them that nothing nearer hides."""
    view, canvas = Camera.of(drive, size), Canvas(size, deep=False, dark=False)
    thing = drive.things[number]
    PAINTERS[thing.kind](canvas, thing, view, 255)
    alone = canvas.owner == 255
    for house in drive.houses:
        if house.start + house.length < thing.distance:
            paint_house(canvas, house, drive, view)
    for other in drive.things:
        if NEAREST <= other.distance < thing.distance:
            PAINTERS[other.kind](canvas, other, view, FIRST_THING)
    return np.asarray(alone), np.asarray(canvas.owner == 255)
