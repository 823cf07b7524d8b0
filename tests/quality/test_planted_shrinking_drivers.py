"""Known smallest changes of planted drivers, on drawn drives and on edited pictures."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from instar import Scene
from instar.campaigns.shrink import MOST_QUESTIONS, format_shrunk
from instar.core.follow_up import follow_ups_of, under_null
from instar.core.search import draws
from instar.core.workspace import Folder, prepare_relation
from instar.tasks.driving import Control, rule
from instar.worlds.drive import drive_of, scenes
from planted_shrinking import every_violated, fails, shrunk_case

RAIN = "If: it rains, Then: the steering angle should keep the same."
PERSON = "If: a pedestrian appears on the roadside, Then: the ego-vehicle should slow down."
NIGHT_WALK = (
    "If: the driving time changes into night, Then: the ego-vehicle should slow down. "
    "If: a pedestrian appears on the roadside, Then: the speed should decrease more."
)
LINES = "If: lane lines are removed from the road, Then: the steering angle should keep the same."


class Driver:
    """Goes by what is known of the picture: (speed, steering) of the drive that it shows."""

    def __init__(self, name, control):
        self.name, self._control = name, control

    def predict(self, images):
        return [Control(*map(float, self._control(drive_of(image)))) for image in images]


@cache
def drives():
    every = [s for s in scenes(20, seed=4, size=(120, 240)) if s.knowledge["drive"].time == "day"]
    clear = [s for s in every if s.knowledge["drive"].weather == "clear"]
    return [s for s in clear if not nearest_person(s.knowledge["drive"])][:3]


def nearest_person(drive):
    return [thing for thing in drive.things if thing.kind == "pedestrian"]


def all_shrunk(text, system, folder, *, how="rendered", sources=None, n=1):
    """What every violated case is reduced to; a step less does not fail."""
    sources = sources or drives()
    relation = prepare_relation(rule(text, engines=how), sources, Folder(folder))
    for record, source in every_violated(sources, relation, system, search=draws(n)):
        found = shrunk_case(relation, system, record, source)
        assert found.complete
        assert found.questions <= MOST_QUESTIONS
        for less in relation.smaller(source, found.change):
            one = less[-1] if isinstance(less, list) and less else less
            assert not one or not fails(relation, system, source, record, one)
        yield found.change, format_shrunk(relation, found), list(relation.smaller(source, found.change))


@pytest.mark.parametrize("how", ["rendered", "pasted"])
def test_rain_is_reduced_to_the_strength_at_which_it_breaks(how, tmp_path):
    breaks_at = 0.37
    system = Driver(
        "swerves in rain", lambda drive: (50, 29 if drive.level >= breaks_at and wet(drive) else 0)
    )
    changes = list(all_shrunk(RAIN, system, tmp_path, how=how))
    assert len(changes) >= 2
    for change, words, _ in changes:
        ((edit,),) = change.edits
        assert edit.get("level", edit.get("strength")) == breaks_at
        assert words == "breaks at rain of strength 0.37"


def wet(drive):
    return drive.weather == "rain"


def test_a_person_is_moved_as_far_away_and_made_as_small_as_the_fault_allows(tmp_path):
    def control(drive):
        overlooked = all(one.distance <= 14 and one.scale >= 0.8 for one in nearest_person(drive))
        return (50 if overlooked else 30), 0

    changes = list(all_shrunk(PERSON, Driver("overlooks who is near and tall", control), tmp_path, n=4))
    assert len(changes) >= 1
    for change, words, lines in changes:
        ((edit,),) = change.edits
        farther = min((one.edits[0][0]["distance"] for one in lines[0]), default=99)
        assert edit["distance"] <= 14 < farther  # the next place where one can stand
        assert edit["scale"] == 0.8
        assert words.startswith(f"a pedestrian {edit['distance']:.0f} m ahead")
        assert words.endswith("0.8 of the usual size suffices")


def test_of_two_blocks_one_is_left_and_of_night_dusk(tmp_path):
    def control(drive):
        return 50 if drive.time != "day" else 40, 0

    (first, *_) = all_shrunk(NIGHT_WALK, Driver("hurries in the dark", control), tmp_path)
    assert first[1] == "dusk suffices"


def test_of_all_lines_only_those_are_removed_that_matter(tmp_path):
    def control(drive):
        return 50, 0 if drive.road.centre else 29

    def with_lines(scene):
        road = scene.knowledge["drive"].road
        return bool(road.centre and road.edges)

    marked = [scene for scene in scenes(20, seed=4, size=(120, 240)) if with_lines(scene)][:3]
    changes = list(all_shrunk(LINES, Driver("steers by the middle", control), tmp_path, sources=marked))
    assert len(changes) >= 1
    assert {words for _, words, _ in changes} == {"without centre suffices"}


MAGENTA = (230, 20, 230)


def painted():
    """Pictures with label maps, in which people are of one colour: as cut-outs they can be measured."""
    for scene in scenes(30, seed=11, size=(160, 320)):
        labels = scene.knowledge["labels"]()
        people = labels.mask(["person"])
        image = np.where(people[..., None], np.uint8(MAGENTA), scene.image)
        yield (
            Scene(scene.id, lambda image=image: image, knowledge={"labels": lambda labels=labels: labels}),
            people.any(),
        )


def height_of_person(image):
    red, green, blue = (image[..., i].astype(int) for i in range(3))
    rows = np.flatnonzero(((red - green > 60) & (blue - green > 60)).sum(axis=1) >= 2)
    return np.ptp(rows) + 1 if len(rows) else 0


class Looking:
    """Slows down for a person unless it fills so many rows."""

    name = "overlooks the large"

    def __init__(self, tall):
        self._tall = tall

    def predict(self, images):
        heights = [height_of_person(image) for image in images]
        return [Control(30.0 if 0 < height < self._tall else 50.0, 0.0) for height in heights]


def test_a_pasted_person_becomes_as_small_as_the_fault_allows(tmp_path):
    known = list(painted())
    sources = [scene for scene, _ in known]
    relation = prepare_relation(rule(PERSON), sources, Folder(tmp_path))
    empty = [scene for scene, has_people in known if not has_people]
    system = Looking(16)
    checked = 0
    for record, source in every_violated(empty[:8], replace(relation, prepare=None), system, search=draws(2)):
        found = shrunk_case(relation, system, record, source)
        assert found.complete
        assert found.questions <= MOST_QUESTIONS
        ((edit,),) = found.change.edits
        (made,) = follow_ups_of(relation, source.input, found.change)
        task = relation.resolved_task
        again = [under_null(task, one, [made], source.input)[-1] for one in task.nulls.conditions]
        seen = [height_of_person(one.input) for one in (made, *again)]
        assert 16 <= min(seen) <= 18  # a row or two may be lost in JPEG, and then the next lower is no fault
        assert format_shrunk(relation, found).startswith(
            f"a person of {edit['width']} x {edit['height']} px at ("
        )
        checked += 1
    assert checked >= 3
