"""Streets drawn at random: what could be met on a drive through a town."""

from __future__ import annotations

import numpy as np

from instar.worlds.drive.ground import KERB
from instar.worlds.drive.plan import Drive, House, Road, Thing
from instar.worlds.drive.textures import BAY, FRONTS, front_size
from instar.worlds.drive.vehicles import COLOURS, SIZES

TIGHTEST = 1 / 55  # 1/m
PAINTS = tuple(COLOURS)
SIGNS = ("speed limit 30", "speed limit 50", "priority", "turn", "crossing", "stop")


def sample_drive(seed: int) -> Drive:
    """The drive of that seed.

    >>> sample_drive(7) == sample_drive(7)
    True
    """
    rng = np.random.default_rng([51, seed])
    bend = float(np.clip(rng.normal(0, 0.0065), -TIGHTEST, TIGHTEST)) if rng.random() < 0.75 else 0.0
    road = _road(rng)
    weather = str(rng.choice(["clear", "cloud", "rain", "snow", "fog"], p=[0.58, 0.2, 0.1, 0.06, 0.06]))
    level = float(rng.choice([0.4, 0.7, 1.0]))
    time = str(rng.choice(["day", "dusk", "night"], p=[0.74, 0.1, 0.16]))
    return Drive(
        seed,
        bend=bend,
        yaw=float(rng.normal(0, 0.8)),
        drift=float(np.clip(rng.normal(0, 0.18), -0.5, 0.5)),
        pitch=float(rng.normal(0, 0.4)),
        road=road,
        houses=tuple(_houses(rng)),
        things=tuple(_things(rng, road)),
        weather=weather,
        level=level,
        time=time,
    )


def _road(rng: np.random.Generator) -> Road:
    parking = [2.1 if rng.random() < 0.35 else 0.0 for _ in range(2)]
    centre = str(
        rng.choice(["dash white", "solid white", "dash yellow", "double yellow"], p=[0.6, 0.15, 0.1, 0.15])
    )
    crosswalk = float(rng.uniform(9, 40)) if rng.random() < 0.15 else None
    return Road(
        lane=float(rng.uniform(3.1, 3.6)),
        parking_left=parking[0],
        parking_right=parking[1],
        sidewalk=float(rng.uniform(2.0, 3.4)),
        centre=centre,
        edges="solid white" if rng.random() < 0.75 else "",
        crosswalk=crosswalk,
        stop_line=None if crosswalk is None or rng.random() < 0.5 else crosswalk - 1.3,
        look=int(rng.integers(1000)),
    )


def _houses(rng: np.random.Generator) -> list[House]:
    found = []
    for side in (-1, 1):
        at, near = float(rng.uniform(2, 10)), float(rng.uniform(0.2, 2.5))
        often = rng.random()
        while at < 120:
            look = int(rng.integers(FRONTS))
            length = front_size(look)[1] * BAY
            if rng.random() < 0.12 + 0.3 * often:  # a gap
                at += float(rng.uniform(4, 16))
            found.append(House(side, at, length, near + float(rng.uniform(0, 0.6)), look))
            at += length
    return found


def _things(rng: np.random.Generator, road: Road) -> list[Thing]:
    things: list[Thing] = []

    def look() -> int:
        return int(rng.integers(10_000))

    verge = road.right + KERB + 0.5, road.left - KERB - 0.5
    for edge in verge:
        sign = 1 if edge > 0 else -1
        if rng.random() < 0.6:
            step, first = float(rng.uniform(8, 16)), float(rng.uniform(6, 16))
            for distance in np.arange(first, 100, step):
                if rng.random() < 0.8:
                    where = float(edge + sign * rng.uniform(0.1, road.sidewalk - 0.9))
                    crown, scale = look(), float(rng.uniform(0.8, 1.15))
                    things.append(Thing("tree", float(distance), where, look=crown, scale=scale))
        if rng.random() < 0.6:
            places = np.arange(float(rng.uniform(8, 24)), 100, 26.0).tolist()
            things += [Thing("lamp", distance, edge) for distance in places]
    things += _traffic(rng, road)
    for _ in range(int(rng.choice([0, 1, 2, 3, 5], p=[0.42, 0.26, 0.16, 0.1, 0.06]))):
        edge = verge[int(rng.integers(2))]
        sign = 1 if edge > 0 else -1
        offset = float(edge + sign * rng.uniform(-0.2, road.sidewalk - 0.8))
        if rng.random() < 0.12:
            offset = float(rng.uniform(road.left, road.right))
        things.append(Thing("pedestrian", float(rng.uniform(7, 55)), offset, look=look()))
    if rng.random() < 0.18:
        away = rng.random() < 0.6
        offset = road.lane - 0.6 if away else -road.lane + 0.6
        things.append(Thing("bicyclist", float(rng.uniform(8, 45)), offset, look=look(), away=bool(away)))
    if rng.random() < 0.3:
        distance = float(rng.uniform(9, 40))
        things.append(Thing("traffic sign", distance, verge[0], str(rng.choice(SIGNS)), look()))
    if road.crosswalk is not None and rng.random() < 0.4:
        colour = str(rng.choice(["red", "yellow", "green"], p=[0.4, 0.15, 0.45]))
        things.append(Thing("traffic light", road.crosswalk + 0.3, verge[0], colour, look()))
        things.append(Thing("traffic light", road.crosswalk + 3.4, verge[1], colour, look()))
    kept: list[Thing] = []
    for thing in things:
        if all(apart(thing, other) for other in kept):
            kept.append(thing)
    return kept


def _traffic(rng: np.random.Generator, road: Road) -> list[Thing]:
    things = []

    def vehicle(distance: float, offset: float, away: bool, kinds: tuple[str, ...]) -> Thing:
        kind = str(rng.choice(kinds))
        return Thing(kind, distance, offset, str(rng.choice(PAINTS)), int(rng.integers(10_000)), away)

    often = ("car", "car", "car", "car", "van", "truck", "bus")
    if rng.random() < 0.45:
        things.append(vehicle(float(rng.uniform(10, 60)), road.lane / 2, True, often))
    distance = float(rng.uniform(8, 40))
    while distance < 90 and rng.random() < 0.6:
        things.append(vehicle(distance, -road.lane / 2, False, often))
        distance += float(rng.uniform(14, 40))
    for wide, offset in ((road.parking_right, road.right - 1.05), (road.parking_left, road.left + 1.05)):
        distance = float(rng.uniform(7, 14))
        while wide and distance < 80:
            if rng.random() < 0.7:
                things.append(vehicle(distance, offset, offset > 0, ("car", "car", "car", "car", "van")))
            distance += float(rng.uniform(6.3, 8.5))
    return things


def apart(thing: Thing, other: Thing) -> bool:
    """Whether there is room between two things, beside or before one another."""
    length, width, _ = SIZES.get(thing.kind, (0.7, 0.7, 1.8))
    its_length, its_width, _ = SIZES.get(other.kind, (0.7, 0.7, 1.8))
    beside = abs(thing.offset - other.offset) >= (width + its_width) / 2 + 0.2
    before = thing.distance - other.distance >= its_length + 0.6
    return beside or before or other.distance - thing.distance >= length + 0.6
