"""Drivers with faults that no one had in mind: each is accused by the rules that speak of it alone."""

from dataclasses import replace

import numpy as np
import pytest

from instar import Observation, Status
from instar.core.change import Inapplicable
from instar.tasks.driving import rule
from instar.tasks.driving.answers import Control
from instar.worlds.drive import careful_speed, careful_steering, drive_of, scenes

PEOPLE = ("pedestrian", "bicyclist")
RULES = {
    "left": "If: a pedestrian appears on the left side of the road, Then: slow down.",
    "right": "If: a pedestrian appears on the right side of the road, Then: slow down.",
    "two": "If: at least two pedestrians stand at the roadside, Then: the speed must not rise.",
    "limit": "If: a 30 km/h speed limit sign appears on the right, Then: the speed must not exceed 30 km/h.",
    "rain": "If: it rains, Then: the speed must not rise.",
}


def is_left(thing, drive):
    return (thing.offset < (drive.road.left + drive.road.right) / 2) != drive.mirrored


class Driver:
    """Careful, but for what its `sees` leaves out of a drive and what `factor` makes of the speed."""

    name = "planted"

    def __init__(self, sees=lambda thing, drive: True, factor=lambda drive: 1.0):
        self.sees, self.factor = sees, factor

    def predict(self, images):
        return [self.drive(drive_of(image)) for image in images]

    def drive(self, drive):
        seen = replace(drive, things=tuple(thing for thing in drive.things if self.sees(thing, drive)))
        return Control(careful_speed(seen) * self.factor(drive), careful_steering(drive))


DRIVERS = {
    "careful": (Driver(), set()),
    "blind on the left": (Driver(lambda t, d: t.kind not in PEOPLE or not is_left(t, d)), {"left"}),
    "blind on the right": (Driver(lambda t, d: t.kind not in PEOPLE or is_left(t, d)), {"right"}),
    "minds no signs": (Driver(lambda t, d: t.kind != "traffic sign"), {"limit"}),
    "hurries in the rain": (Driver(factor=lambda d: 3.0 if d.weather == "rain" else 1.0), {"rain"}),
    "flees from groups": (
        Driver(factor=lambda d: 20.0 if sum(t.kind == "pedestrian" for t in d.things) > 1 else 1.0),
        {"two"},
    ),
}


@pytest.fixture(scope="module")
def cases():
    found = []
    every = [s for s in scenes(60, seed=77, size=(80, 160)) if s.knowledge["speed"] > 12]
    drives = [(scene, scene.knowledge["drive"]) for scene in every]
    calm = [s for s, d in drives if d.weather == "clear" and not any(t.kind in PEOPLE for t in d.things)][:14]
    for name, text in RULES.items():
        relation = rule(text, engines="rendered", least_objects=0.002)
        for number, scene in enumerate(calm):
            source = Observation.of(scene.image, Control(1.0, 0.0), scene)
            change = relation.draw(source, np.random.default_rng(number))
            if not isinstance(change, Inapplicable):
                found.append((name, relation, scene, change, relation.apply(source.input, change)))
    return found


@pytest.mark.parametrize("name", DRIVERS)
def test_a_driver_is_accused_by_the_rules_that_speak_of_its_fault(cases, name):
    driver, guilty = DRIVERS[name]
    accused = set()
    for rule_name, relation, scene, change, made in cases:
        before = Observation.of(scene.image, driver.predict([scene.image])[0], scene)
        after = [Observation.of(image, *driver.predict([image]), scene) for image in made]
        if relation.expect(before, after, change).status is Status.VIOLATED:
            accused.add(rule_name)
    assert {rule_name for rule_name, *_ in cases} == RULES.keys()
    assert accused == guilty
