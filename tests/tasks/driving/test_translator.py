"""A network's light is kept with the change, so that it can be shown again without the network."""

import numpy as np
import pytest

from instar import Observation
from instar.core.change import Inapplicable
from instar.core.workspace import Folder
from instar.imaging import street_light
from instar.tasks.driving import Control, rule
from instar.tasks.driving.edits import set_severity
from instar.tasks.driving.engines import translator
from instar.tasks.driving.maps import labels_of
from instar.worlds.drive import scenes

NIGHT = "If: the driving time changes into night, Then: slow down."


class Saying:
    """A network that lets warm light fall everywhere, or says nothing."""

    def __init__(self, falls):
        self.falls = falls

    def run(self, _, shown):
        rows, columns = shown["shown"].shape[2:]
        maps = np.zeros((1, 11, rows // 2, columns // 2), np.float32)
        maps[:, 6] = self.falls
        return [maps]


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """A drive by day, and what a rule of its night makes of it with a network that says so much."""
    scene = next(one for one in scenes(6, seed=4, size=(160, 320)) if one.image.mean() > 90)

    def draw(falls):
        monkeypatch.setattr(street_light, "session", lambda name: Saying(falls))
        relation = rule(NIGHT, engines="translated").prepare([scene], Folder(tmp_path))
        source = Observation.of(scene.image, Control(40.0, 0.0), scene)
        return relation, source, relation.draw(source, np.random.default_rng(1))

    return draw


def test_a_replay_needs_the_kept_light_and_no_network(drawn, monkeypatch):
    relation, source, change = drawn(0.2)
    (picture,) = relation.apply(source.input, change)
    kept = relation.pixels(change)
    ((edit,),) = change.edits

    class Kept:
        def pixels(self, name):
            return kept[name]

    monkeypatch.setattr(translator, "light_maps", None)  # whoever calls it now fails
    again = translator.camvid.make(np.asarray(source.input), edit, Kept())
    np.testing.assert_array_equal(again, np.asarray(picture))


def test_the_light_of_the_network_falls_on_what_was_made(drawn, tmp_path):
    relation, source, change = drawn(0.2)
    (picture,) = relation.apply(source.input, change)
    plain = rule(NIGHT, engines="pasted")
    plain = plain.prepare([source.scene], Folder(tmp_path))
    (made,) = plain.apply(source.input, plain.draw(source, np.random.default_rng(1)))
    road = labels_of(source.scene).mask(["road"])
    lit = np.asarray(picture, float)[road] - np.asarray(made, float)[road]
    assert lit.mean() > 5
    assert lit[:, 0].mean() > lit[:, 2].mean()


def test_a_network_that_does_nothing_makes_no_case(drawn):
    assert drawn(0.0)[2] == Inapplicable("the network changes nothing of what was made")


def test_a_deeper_night_is_darker_in_the_same_light(drawn):
    relation, source, change = drawn(0.2)
    light = [np.mean(relation.apply(source.input, set_severity(change, level))[0]) for level in (0.3, 1.0)]
    assert light[1] < light[0]
