"""What a careful driver would do: the true speed and steering angle of a drive.

Every reason to slow down takes a share of the speed, so that two reasons slow down more than one.
"""

from __future__ import annotations

import math

from instar.worlds.drive.plan import VEHICLES, Drive, Thing

WHEELBASE, RATIO = 2.7, 15.0  # metres; degrees at the steering wheel for one at the road wheels
LOOKING_AHEAD = 14.0  # metres to the point that is steered for
SIDEWAYS = 2.2  # m/s2 that passengers bear in a bend

AT_HAND, STILL_NEAR, SEEN = 4.0, 32.0, 75.0  # metres
BRAKES_AT_HAND, BRAKES_NEAR = 0.75, 0.34  # shares of the speed
SURFACES = {"dry": 1.0, "wet": 0.85, "snowy": 0.6}  # of the speed
KERBSIDE, ASIDE = 2.0, 6.0  # metres from the road: someone may step out; someone is no concern


def careful_steering(drive: Drive) -> float:
    """Degrees at the steering wheel, + to the left: the circle that meets the lane a little ahead.

    >>> round(careful_steering(Drive(0, bend=1 / 80)), 1)
    28.8
    """
    distance = LOOKING_AHEAD
    yaw = math.tan(math.radians(drive.yaw))
    right = yaw * distance - 0.5 * drive.bend * distance**2 - drive.drift
    curvature = -2 * right / (right**2 + distance**2)
    degrees = RATIO * math.degrees(math.atan(WHEELBASE * curvature))
    return -degrees if drive.mirrored else degrees


def careful_speed(drive: Drive) -> float:
    """km/h: as fast as limit and bend allow, less for everyone and everything that asks for care."""
    bend = max(abs(drive.bend), 1e-6)
    speed = min(drive.limit, 3.6 * math.sqrt(SIDEWAYS / bend))
    for thing in drive.things:
        speed *= 1 - slowing(thing, drive)
    if drive.road.crosswalk is not None:
        speed *= 1 - 0.18 * _nearness(drive.road.crosswalk)
    return speed * light_factor(drive) * weather_factor(drive) * SURFACES[drive.road.surface]


def light_factor(drive: Drive) -> float:
    return {"day": 1.0, "dusk": 0.88, "night": 0.7}[drive.time]


def weather_factor(drive: Drive) -> float:
    most = {"clear": 0.0, "cloud": 0.02, "rain": 0.25, "snow": 0.45, "fog": 0.5}[drive.weather]
    return 1 - most * (0.4 + 0.6 * drive.level)


def slowing(thing: Thing, drive: Drive) -> float:
    """The share of the speed that one thing takes."""
    near = _nearness(thing.distance)
    if thing.kind in ("pedestrian", "bicyclist"):
        share = 1.0 if thing.kind == "pedestrian" else 0.6
        return people_share(thing.distance) * _beside(thing, drive) * share
    if thing.kind in VEHICLES:
        lane = drive.road.lane
        if thing.away and 0.2 * lane <= thing.offset <= lane:
            return 0.5 * near  # ahead in our lane
        return 0.12 * near if thing.away else 0.06 * near
    if thing.kind == "traffic sign":
        return _sign(thing, near, drive)
    if thing.kind == "traffic light":
        return {"red": 0.15 + 0.75 * near, "yellow": 0.1 + 0.5 * near}.get(thing.variant, 0.02 * near)
    return 0.0


def people_share(distance: float) -> float:
    """How much is braked for someone at the roadside: more the closer, at least a third when near."""
    if distance <= STILL_NEAR:
        nearer = (STILL_NEAR - max(distance, AT_HAND)) / (STILL_NEAR - AT_HAND)
        return BRAKES_NEAR + (BRAKES_AT_HAND - BRAKES_NEAR) * nearer
    return BRAKES_NEAR * max(0.0, (SEEN - distance) / (SEEN - STILL_NEAR))


def _beside(thing: Thing, drive: Drive) -> float:
    """1 on the road and at its edge, 0 well away from it."""
    beyond = max(thing.offset - drive.road.right, drive.road.left - thing.offset, 0.0)
    return min(1.0, max(0.0, (ASIDE - beyond) / (ASIDE - KERBSIDE)))


def _nearness(distance: float) -> float:
    """1 at hand, 0 where it is hardly seen."""
    return min(1.0, max(0.0, (SEEN - distance) / (SEEN - AT_HAND)))


def _sign(thing: Thing, near: float, drive: Drive) -> float:
    name = thing.variant.partition("/")[0]
    if name.startswith("speed limit"):
        limit = float(name.split()[-1]) if name[-1].isdigit() else 30.0
        return max(0.0, 1 - limit / drive.limit) * (0.5 + 0.5 * near)
    least, most = {"stop": (0.2, 0.6), "yield": (0.15, 0.3), "turn": (0.1, 0.1), "crossing": (0.08, 0.1)}.get(
        name, (0.0, 0.0)
    )
    return least + most * near
