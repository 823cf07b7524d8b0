"""Every edit that the rules of the study make is told in words, on drawn drives and on pasted pictures."""

import numpy as np
import pytest

from instar import Observation
from instar.core.change import Inapplicable
from instar.core.workspace import Folder
from instar.studies.driving.rules import STUDY
from instar.tasks.driving import rule
from instar.tasks.driving.answers import Control
from instar.tasks.driving.changes import format_edit
from instar.worlds.drive import scenes


@pytest.mark.parametrize("engines", ["rendered", "pasted"])
def test_what_a_rule_does_is_told_without_names_of_fields(engines, tmp_path):
    every = scenes(8, size=(160, 320))
    told = set()
    for one in STUDY[:11]:
        relation = rule(one.text, engines=engines)
        relation = relation.prepare(every, Folder(tmp_path)) if relation.prepare else relation
        for number, scene in enumerate(every):
            source = Observation(scene, Control(40.0, 0.0), lambda scene=scene: scene.image)
            change = relation.draw(source, np.random.default_rng(number))
            if not isinstance(change, Inapplicable):
                told |= set(str(change).split("; "))
    assert len(told) > 20
    assert not [words for words in told if engines in words or "_" in words or "{" in words]


def test_things_are_counted_and_placed():
    added = {"engine": "rendered", "do": "add", "kind": "pedestrian", "distance": 28.4, "offset": -6.9,
             "variant": "", "look": 3, "away": False, "scale": 0.714}  # fmt: skip
    assert format_edit(added) == (
        "a pedestrian 28 m ahead, 6.9 m to the left of the middle, 0.71 of the usual size"
    )
    things = (("car", 9.0, 1.0), ("tree", 3.0, 2.0), ("car", 5.0, 1.0))
    taken = {"engine": "rendered", "do": "take", "things": things}
    assert format_edit(taken) == "without 2 car, 1 tree"
    assert format_edit({"engine": "mine", "depth": 3, "mask": "..."}) == "mine (depth 3)"
