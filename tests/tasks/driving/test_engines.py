"""Engines one by one: what they change, what the label map says then, and one's own."""

import json
import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest

from instar import Observation, Status, zoo
from instar.core.change import Inapplicable
from instar.core.errors import BadInput
from instar.core.scene import Scene
from instar.core.workspace import Folder
from instar.imaging.mask_text import ids_from_text, mask_from_text
from instar.tasks.driving import Control, rule
from instar.tasks.driving.distortion import KINDS, deeptest, distort
from instar.tasks.driving.edit_effects import relabel
from instar.tasks.driving.engine_table import read_engines, usual_engines
from instar.tasks.driving.engines.removal import migan
from instar.tasks.driving.maps import labels_of
from instar.tasks.driving.systems.street import street_driver
from instar.testing import check_relation
from instar.worlds.drive import drive_of, scenes

SAME = "the steering angle should keep the same"


@cache
def drives():
    every = scenes(60, seed=4, size=(240, 480))
    clear = [
        s for s in every if (s.knowledge["drive"].time, s.knowledge["drive"].weather) == ("day", "clear")
    ]
    return [scene for scene in clear if scene.knowledge["speed"] > 6][:12]


@cache
def workspace():
    return Folder(Path(mkdtemp()))


def made(text, **options):
    """Everything that a rule makes of the drives: source, change and picture, and the relation."""
    relation = rule(text, **{"engines": "pasted", "least_objects": 0.004, **options})
    relation = relation.prepare(drives(), workspace()) if relation.prepare else relation
    found = []
    for number, scene in enumerate(drives()):
        source = Observation.of(scene.image, street_driver().predict([scene.image])[0], scene)
        change = relation.draw(source, np.random.default_rng(number))
        if not isinstance(change, Inapplicable):
            found.append((source, change, relation.apply(source.input, change)))
    return found


def changed_pixels(edit, size):
    """The pixels that an edit may change."""
    if "mask" in edit:
        return mask_from_text(edit["mask"])
    if "map" in edit:
        return ids_from_text(edit["map"]) != 255
    mask = np.zeros(size, bool)
    if "foot" not in edit:
        return ~mask  # light and weather fall on everything
    mask[edit["y"] : edit["y"] + edit["height"], edit["x"] : edit["x"] + edit["width"]] = True
    return mask


@pytest.mark.parametrize(
    "text",
    [
        f"If: a tree is planted on the roadside, Then: {SAME}.",
        f"If: the cars are replaced with trucks, Then: {SAME}.",
        f"If: a pedestrian stands near a car, Then: {SAME}.",
        f"If: a pedestrian stands to the left of a car, Then: {SAME}.",
        f"If: a bus appears in front of the ego-vehicle, Then: {SAME}.",
        f"If: the trees are removed, Then: {SAME}.",
    ],
)
def test_more_can_be_pasted_removed_and_replaced(text):
    cases = made(text)
    assert len(cases) >= 1
    for source, change, (picture,) in cases:
        assert (picture != source.input).any()
        assert drive_of(picture) is not None
        (edits,) = change.edits
        allowed = np.zeros(picture.shape[:2], bool)
        for edit in edits:
            allowed |= changed_pixels(edit, picture.shape[:2])
            if "old" in edit:
                allowed |= mask_from_text(edit["old"])
        assert not (picture != source.input).any(axis=2)[~allowed].any()


def test_the_label_map_changes_with_the_picture():
    relation = rule("If: a pedestrian appears on the roadside, Then: slow down.", engines="pasted")
    relation = relation.prepare(drives(), workspace())
    source = Observation.of(drives()[0].image, Control(40.0, 0.0), drives()[0])
    ((edit,),) = relation.draw(source, np.random.default_rng(0)).edits
    before = labels_of(source.scene)
    cutouts = relation.pixels  # the cut-outs by name, as the run keeps them

    class CutOuts:
        def pixels(self, name):
            return cutouts(relation.draw(source, np.random.default_rng(0)))[name]

    after = relabel(before, edit, CutOuts())
    new = after.mask(["person"]) & ~before.mask(["person"])
    assert new.sum() > 30
    rows, columns = np.nonzero(new)
    assert edit["y"] <= rows.min() <= rows.max() < edit["y"] + edit["height"]
    assert edit["x"] <= columns.min() <= columns.max() < edit["x"] + edit["width"]
    elsewhere = ~changed_pixels(edit, before.ids.shape)
    assert (after.ids == before.ids)[elsewhere].all()


def test_the_label_map_of_removed_lines_and_replaced_buildings():
    for text, gone, instead in (
        (f"If: lane lines are removed, Then: {SAME}.", "line", ["road"]),
        (f"If: the buildings are replaced with trees, Then: {SAME}.", "building", ["vegetation", "sky"]),
        (f"If: the trees are removed, Then: {SAME}.", "vegetation", ["sky", "building", "road", "sidewalk"]),
    ):
        source, change, _ = made(text)[0]
        ((edit,),) = change.edits
        before = labels_of(source.scene)
        after = relabel(before, edit, None)
        assert not after.mask([gone]).any()
        assert after.mask(instead)[before.mask([gone])].all()


def test_two_things_of_one_rule_do_not_overlap():
    text = (
        "If: a pedestrian appears on the roadside and a stop sign appears on the roadside, Then: slow down."
    )
    for _, change, _ in made(text):
        ((one, other),) = change.edits
        apart = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
        above = one["y"] + one["height"] <= other["y"] or other["y"] + other["height"] <= one["y"]
        assert apart or above


OWN = """
import json, sys
import cv2
picture, mask, result, told = sys.argv[1:]
image = cv2.imread(picture)
rule = json.load(open(told))
assert rule["op"] == "remove" and rule["element"] == "line", rule
image[:] = 0
cv2.imwrite(result, image)
"""


def test_an_engine_may_be_a_command_and_its_other_changes_are_undone(tmp_path):
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    file = tmp_path / "engines.toml"
    file.write_text(
        f'[engine]\nown = "command: {sys.executable} {tmp_path / "own.py"}"\n[remove]\nline = "own"\n',
        "utf-8",
    )
    source, change, (picture,) = made(f"If: lane lines are removed, Then: {SAME}.", engines=str(file))[0]
    lines = labels_of(source.scene).mask(["line"])
    assert (picture[lines] == 0).all()
    np.testing.assert_array_equal(picture[~lines], source.input[~lines])
    assert drive_of(picture).road.centre == ""
    assert json.loads(change.edits[0][0]["told"])["op"] == "remove"


def test_a_command_that_fails_is_named(tmp_path):
    file = tmp_path / "engines.toml"
    file.write_text(f'[engine]\nown = "command: {sys.executable} -c 1/0"\n[remove]\nline = "own"\n', "utf-8")
    with pytest.raises(BadInput, match=r"engine 'own': .* ended with status 1: ZeroDivisionError"):
        made(f"If: lane lines are removed, Then: {SAME}.", engines=str(file))


class Blackout:
    """An engine of one's own: everything black."""

    def plan(self, condition, view, rng):
        return ({"engine": "mine", "of": condition.element},)

    def make(self, image, edit, cutouts):
        return np.zeros_like(np.asarray(image))


blackout = Blackout()


def test_an_engine_may_be_a_python_object(tmp_path):
    file = tmp_path / "engines.toml"
    file.write_text('[engine]\nmine = "test_engines_own:blackout"\n[add]\ntree = "mine"\n', "utf-8")
    sys.modules["test_engines_own"] = sys.modules[__name__]
    try:
        _, _, (picture,) = made(f"If: a tree appears, Then: {SAME}.", engines=str(file))[0]
    finally:
        del sys.modules["test_engines_own"]
    assert picture.max() == 0
    file.write_text('[engine]\nmine = "test_engines_own:blackout"\n[add]\ntree = "mine"\n', "utf-8")
    with pytest.raises(BadInput, match="cannot import test_engines_own"):
        read_engines(file).named("mine")


class Dust(Blackout):
    def plan(self, condition, view, rng):
        return ({"engine": "mine", "of": condition.element},)


def test_an_engine_may_tell_no_more_of_weather_and_time_than_that_it_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "dust", Dust(), raising=False)
    monkeypatch.setitem(sys.modules, "test_engines_own", sys.modules[__name__])
    file = tmp_path / "engines.toml"
    for element, said in (
        ("weather", "it rains"),
        ("time", "night falls"),
        ("road surface", "the road is wet"),
    ):
        file.write_text(
            f'[engine]\nmine = "test_engines_own:dust"\n[replace]\n"{element}" = "mine"\n', "utf-8"
        )
        _, change, (picture,) = made(f"If: {said}, Then: {SAME}.", engines=str(file))[0]
        assert picture.max() == 0
        assert change.edits[0][0]["of"] == element


@pytest.mark.parametrize("kind", KINDS)
def test_a_distorted_picture_is_the_same_at_nothing_and_other_at_most(kind):
    image = np.asarray(drives()[0].image)
    assert np.abs(distort(image, kind, 0.0).astype(int) - image).max() <= 1
    for amount in (1.0, -1.0):
        assert np.abs(distort(image, kind, amount).astype(int) - image).mean() > 2
    assert distort(image, kind, 0.7).shape == image.shape


def test_translation_moves_by_pixels():
    image = np.zeros((10, 100, 3), np.uint8)
    image[:, 50] = 255
    assert distort(image, "translate", 0.5)[5, :, 0].argmax() == 53


def test_deeptests_relation_finds_a_driver_who_minds_and_spares_one_who_does_not():
    class Fickle:
        name = "fickle"

        def predict(self, images):
            return [Control(40.0, float(np.asarray(image).mean())) for image in images]

    relation = deeptest(kind="brightness")
    check_relation(relation, street_driver(), drives()[:1], seeds=2)
    scene = drives()[0]
    for system, wanted in ((Fickle(), Status.VIOLATED), (street_driver(), Status.HELD)):
        source = Observation.of(scene.image, system.predict([scene.image])[0], scene)
        picture = relation.resolved_task.with_picture(
            source.input, relation.apply(source.input, relation.severity.change(source, 0.8))
        )
        after = Observation.of(picture, system.predict([picture])[0], scene)
        assert relation.resolved_task.compare(source, after).status is wanted
    with pytest.raises(BadInput, match="did you mean 'rotate'"):
        deeptest(kind="rotat")


@pytest.mark.parametrize(
    "name", ["camvid", "camvid_whole", "translated", "migan", "deeptest_pasted", "deeptest_rendered"]
)
def test_a_table_that_names_other_engines_can_all_that_the_usual_one_can(name):
    usual, others = usual_engines("rendered" if name.endswith("rendered") else "pasted"), usual_engines(name)
    for op, chosen in usual.choices.items():
        assert set(chosen) <= set(others.choices[op])
    assert others.modules != usual.modules


@pytest.mark.real
def test_migan_fills_lines_with_road_and_changes_nothing_else():
    zoo.fetch("mi-gan")
    text = f"If: lane lines are removed, Then: {SAME}."
    assert usual_engines("migan").choices["remove"]["*"] == "migan"
    for source, change, (picture,) in made(text, engines="migan")[:2]:
        ((edit,),) = change.edits
        labels = labels_of(source.scene)
        lines, road = labels.mask(["line"]), labels.mask(["road"])
        np.testing.assert_array_equal(picture[~lines], source.input[~lines])
        asphalt = float(source.input[road].mean())
        assert abs(picture[lines].mean() - asphalt) < 0.3 * abs(source.input[lines].mean() - asphalt)
        np.testing.assert_array_equal(picture, migan.make(source.input, edit, None))


def test_a_picture_that_is_no_drive_can_be_distorted():
    scene = Scene.of("a", np.full((20, 30, 3), 9, np.uint8))
    relation = deeptest(kind="blur")
    source = Observation.of(scene.image, Control(40.0, 0.0), scene)
    picture = relation.apply(scene.image, relation.severity.change(source, 0.5))
    assert drive_of(picture) is None
