"""Several drivers are shown the same pictures, made once, and they are those of the rule itself."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from instar.core.change import Inapplicable
from instar.core.scene import Observation
from instar.core.scene_run import PictureCache, random_for
from instar.studies.driving.shared_pictures import SharedPictures
from instar.tasks.driving import rule
from instar.worlds.drive.scenes import scenes

CLOSER = (
    "If: a pedestrian appears on the roadside, Then: slow down. If: he gets closer, Then: slow down more."
)
NIGHT = "If: the driving time changes into night, Then: slow down."


@pytest.fixture
def counted():
    """A rule that counts how often it is asked for a change and for pictures."""
    calls = {"draw": 0, "apply": 0}

    def counting(relation):
        def draw(source, rng):
            calls["draw"] += 1
            return relation.draw(source, rng)

        def apply(image, change):
            calls["apply"] += 1
            return relation.apply(image, change)

        return dataclasses.replace(relation, draw=draw, apply=apply)

    return calls, counting


def drawn_by(relation, drives, draws=2):
    """The changes of a campaign with several cases per scene."""
    changes = []
    for scene in drives:
        rng = random_for(5, "the rule", scene.id)
        source = Observation(scene, None, scene.read)
        changes += [(source, relation.draw(source, rng)) for _ in range(draws)]
    return changes


def test_what_is_shared_is_what_the_rule_draws_and_makes(counted):
    calls, counting = counted
    alone, shared, drives = rule(CLOSER), SharedPictures(PictureCache(100)), scenes(2, seed=7)
    wanted = drawn_by(alone, drives)
    assert len({change for _, change in wanted}) == 4
    for _ in range(2):  # two drivers
        relation = shared.relation(counting(alone))
        given = drawn_by(relation, drives)
        assert [change for _, change in given] == [change for _, change in wanted]
        for source, change in given:
            made, own = relation.apply(source.input, change), alone.apply(source.input, change)
            assert len(made) == len(own) == 2
            assert all(map(np.array_equal, made, own))
        assert calls == {"draw": 4, "apply": 8}  # once for both drivers


def test_a_rule_that_cannot_be_made_says_so_to_every_driver(counted):
    _, counting = counted
    (scene,) = [s for s in scenes(12, seed=7) if s.knowledge["drive"].time == "night"][:1]
    relation = SharedPictures(PictureCache(100)).relation(counting(rule(NIGHT)))
    (_, first), (_, second) = drawn_by(relation, [scene])
    assert first == second == Inapplicable("it already is in that state")


def test_pictures_that_two_rules_have_in_common_are_made_once(counted):
    calls, counting = counted
    drives = scenes(1, seed=2)
    source = Observation(drives[0], None, drives[0].read)
    shared = SharedPictures(PictureCache(100))
    for text in (NIGHT, f"{NIGHT} If: a pedestrian appears on the roadside, Then: slow down more."):
        one = shared.relation(counting(rule(text)))
        change = one.draw(source, np.random.default_rng(1))
        one.apply(source.input, change)
    assert calls["apply"] == 2  # night, and night with somebody; not night again


def test_making_is_counted_once_for_all_drivers():
    drives = scenes(2, seed=7)
    shared = SharedPictures(PictureCache(100))
    relation = shared.relation(rule(CLOSER))
    name = relation.name
    assert shared.making(name) is None
    for _ in range(2):
        for source, change in drawn_by(relation, drives, draws=1):
            relation.apply(source.input, change)
    making = shared.making(name)
    assert (making.cases, making.pictures) == (2, 2)
    assert making.seconds > 0
