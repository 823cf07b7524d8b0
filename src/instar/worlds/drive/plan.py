"""What a drive shows, as plain frozen values: change one, and the same street is drawn with that change.

Lengths are metres. `offset` runs across the street from the middle of the road, + to the right; `distance`
ahead of the camera. Traffic keeps to the right.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

VEHICLES = ("car", "van", "truck", "bus")


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that stands or moves in the street.

    `kind` is pedestrian, bicyclist, car, van, truck, bus, tree, traffic sign, traffic light or lamp;
    `variant` its colour, what is on the sign, or which lamp of a traffic light is lit. `look` decides
    everything that does not matter (clothes, pose, the shape of a crown). What faces away shows its back.
    `scale` is 1 for the usual size.
    """

    kind: str
    distance: float
    offset: float
    variant: str = ""
    look: int = 0
    away: bool = True
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class House:
    """A front along the street on one side (-1 left, +1 right); how high it is follows from its look."""

    side: int
    start: float
    length: float
    setback: float
    look: int


@dataclass(frozen=True, slots=True)
class Road:
    """The cross-section. Lines are "dash white", "solid yellow" and so on; "" where there is none.

    The `surface` is dry, wet or snowy; how that looks is painted over the picture.
    """

    lane: float = 3.3
    parking_left: float = 0.0
    parking_right: float = 0.0
    sidewalk: float = 2.6
    centre: str = "dash white"
    edges: str = "solid white"
    crosswalk: float | None = None
    stop_line: float | None = None
    look: int = 0
    surface: str = "dry"

    @property
    def left(self) -> float:
        """Where the left kerb is."""
        return -self.lane - self.parking_left

    @property
    def right(self) -> float:
        """Where the right kerb is."""
        return self.lane + self.parking_right


@dataclass(frozen=True, slots=True)
class Drive:
    """One picture's worth of street.

    `bend` is the curvature of the road in 1/m, + to the left; `yaw` is how many degrees to the right of the
    camera's axis the road leads, `drift` how far right of the middle of its lane the ego-vehicle is.
    `weather` is clear, cloud, rain, snow or fog, `level` its strength from 0 to 1; `time` is day, dusk or
    night. `limit` is the speed limit in km/h that holds where no sign says otherwise. A `mirrored` drive is
    the same one seen in a mirror.
    """

    seed: int
    bend: float = 0.0
    yaw: float = 0.0
    drift: float = 0.0
    pitch: float = 0.0
    road: Road = field(default_factory=Road)
    houses: tuple[House, ...] = ()
    things: tuple[Thing, ...] = ()
    weather: str = "clear"
    level: float = 0.7
    time: str = "day"
    limit: float = 50.0
    mirrored: bool = False

    @property
    def ego(self) -> float:
        """The offset of the camera."""
        return self.road.lane / 2 + self.drift

    def with_things(self, *more: Thing) -> Drive:
        return dataclasses.replace(self, things=(*self.things, *more))
