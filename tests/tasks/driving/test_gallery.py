"""What is cut out of label maps to be added elsewhere: whole single things, in such light, at their size."""

import dataclasses

import numpy as np
import pytest

from instar import Observation
from instar.core.change import Inapplicable
from instar.core.scene import Scene
from instar.core.workspace import Folder
from instar.imaging.labels import LabelMap
from instar.tasks.driving import Control, rule
from instar.tasks.driving.gallery import PATCHY, _is_leafy, _unevenness_of, collect_gallery
from instar.worlds.drive import scenes as drives

NAMES = ("sky", "road", "sidewalk", "person")
SIZE = (240, 320)
HORIZON, ROAD_ENDS = 90, 108  # rows: the road is lost from sight before the horizon
TALL = 1.2  # of the distance of the feet below the horizon
ONE = "If: a pedestrian appears on the roadside, Then: slow down."


def street(name, people, *, light=150):
    """A flat street with people: each is the row of its feet and its middle column."""
    ids = np.zeros(SIZE, np.uint8)
    ids[ROAD_ENDS:] = 2
    for row in range(ROAD_ENDS, SIZE[0]):
        half = round(0.8 * (row - HORIZON))
        ids[row, 160 - half : 160 + half] = 1
    for row, column in people:
        height = round(TALL * (row - HORIZON))
        half, top = max(3, round(0.2 * height)), row + 1 - height
        ids[top : row + 1, column - half : column + half] = 3
        ids[row - round(0.4 * height) : row + 1, column - half // 3 : column + half // 3] = (
            2  # between the legs
        )
    colours = np.array([[1.2] * 3, [0.6] * 3, [0.9] * 3, [0.8, 0.5, 0.4]]) * light
    image = np.clip(colours[ids], 0, 255).astype(np.uint8)
    labels = LabelMap(ids, NAMES)
    return Scene(name, lambda: image, knowledge={"labels": lambda: labels})


def crowd(light=150):
    """Ten streets with a person each, near and far."""
    rows = np.linspace(150, 215, 10).round().astype(int).tolist()
    return [street(f"{n}-{light}", [(row, 34 + 2 * n)], light=light) for n, row in enumerate(rows)]


def test_the_size_of_people_tells_the_horizon(tmp_path):
    gallery = collect_gallery(crowd(), Folder(tmp_path))
    assert gallery.rise == pytest.approx((ROAD_ENDS - HORIZON) / SIZE[0], abs=0.015)
    assert gallery.heights["person"] == pytest.approx(TALL, rel=0.06)


def test_two_who_stand_together_are_not_cut_out_as_one(tmp_path):
    pair = street("pair", [(180, 40), (180, 82)])
    gallery = collect_gallery([*crowd(), pair], Folder(tmp_path))
    assert "pair" not in {cutout.scene for cutout in gallery.pool.cutouts}


def test_who_is_added_comes_from_such_light_and_throws_a_shadow_in_his_box(tmp_path):
    bright, dark = crowd(150), crowd(30)
    relation = rule(ONE).prepare([*bright, *dark], Folder(tmp_path))
    known = {cutout.digest: cutout.scene for cutout in relation_pool(tmp_path)}
    for scenes, light in ((bright, "150"), (dark, "30")):
        source = Observation.of(scenes[0].image, Control(40.0, 0.0), scenes[0])
        for seed in range(4):
            change = relation.draw(source, np.random.default_rng(seed))
            ((edit,),) = change.edits
            assert known[edit["cutout"]].endswith(f"-{light}")
            (picture,) = relation.apply(source.input, change)
            changed = (picture != source.input).any(axis=2)
            box = np.zeros(SIZE, bool)
            box[edit["y"] : edit["y"] + edit["height"], edit["x"] : edit["x"] + edit["width"]] = True
            assert changed[box].any()
            assert not changed[~box].any()


def relation_pool(folder):
    return collect_gallery([], Folder(folder)).pool.cutouts


def test_snow_lies_on_the_ground_and_nowhere_else(tmp_path):
    scene = crowd()[0]
    relation = rule("If: it snows heavily, Then: slow down.").prepare([scene], Folder(tmp_path))
    source = Observation.of(scene.image, Control(40.0, 0.0), scene)
    (picture,) = relation.apply(source.input, relation.draw(source, np.random.default_rng(0)))
    ids = scene.knowledge["labels"]().ids
    gained = picture.astype(float).mean(axis=2) - source.input.astype(float).mean(axis=2)
    beside = gained[HORIZON + 20 : HORIZON + 60][(ids == 2)[HORIZON + 20 : HORIZON + 60]].mean()
    walker = gained[ids == 3].mean()
    assert beside > walker + 10


@pytest.mark.parametrize("text", ["If: it rains, Then: slow down.", "If: it snows, Then: slow down."])
def test_rain_is_not_made_of_fog_where_the_weather_is_known(tmp_path, text):
    (scene,) = drives(1, seed=3)
    foggy = dataclasses.replace(scene.knowledge["drive"], weather="fog", level=0.7)
    scene = dataclasses.replace(scene, knowledge={**scene.knowledge, "drive": foggy})
    relation = rule(text, engines="pasted").prepare([scene], Folder(tmp_path))
    source = Observation.of(scene.image, Control(40.0, 0.0), scene)
    drawn = relation.draw(source, np.random.default_rng(0))
    assert drawn == Inapplicable("there is other bad weather already")


def test_the_size_of_a_sign_is_told_from_cars_where_there_are_no_people(tmp_path):
    gallery = collect_gallery(crowd(), Folder(tmp_path))
    assert gallery.person == pytest.approx(gallery.heights["person"])
    cars = dataclasses.replace(gallery, heights={"car": 0.9})
    assert cars.person == pytest.approx(0.9 * 1.72 / 1.5)
    assert dataclasses.replace(gallery, heights={}).person is None


def test_a_drawn_person_stands_in_where_the_data_shows_none(tmp_path):
    empty = [street(f"empty-{n}", []) for n in range(2)]
    relation = rule(ONE).prepare(empty, Folder(tmp_path))
    source = Observation.of(empty[0].image, Control(40.0, 0.0), empty[0])
    change = relation.draw(source, np.random.default_rng(0))
    ((edit,),) = change.edits
    assert edit["label"] == "person"
    (picture,) = relation.apply(source.input, change)
    assert (picture != source.input).any()
    dusk = [street(f"dusk-{n}", [], light=40) for n in range(2)]
    dim = Observation.of(dusk[0].image, Control(40.0, 0.0), dusk[0])
    ((darker,),) = relation.draw(dim, np.random.default_rng(0)).edits
    assert darker["gain"] < 0.5 * edit["gain"]
    # Data that show people are left to themselves.
    shown = collect_gallery(crowd(), Folder(tmp_path / "shown")).pool.cutouts
    assert {cutout.scene for cutout in shown if cutout.label == "person"} <= {s.id for s in crowd()}


def park(name):
    """A street with bare trees before the sky on both sides."""
    scene = street(name, [])
    image, labels = np.array(scene.image), scene.knowledge["labels"]()
    ids = np.array(labels.ids)
    twigs = np.random.default_rng(len(name)).normal(0, 1, (80, 320)) > -0.4
    ids[20:100] = 4
    image[20:100][twigs] = 60
    image[20:100][~twigs] = image[0, 0]
    known = LabelMap(ids, (*NAMES, "vegetation"))
    return Scene(name, lambda: image, knowledge={"labels": lambda: known})


def test_trees_to_plant_are_made_of_trees_in_the_scenes_and_drawn_where_there_are_none(tmp_path):
    def trees(scenes, folder):
        found = collect_gallery(scenes, Folder(tmp_path / folder)).pool.cutouts
        return {cutout.scene for cutout in found if cutout.label == "vegetation"}

    assert trees([park("one"), park("three")], "bare") == {"one", "three"}
    assert trees(crowd(), "none") == {""}


def test_hedges_are_not_made_of_blue_dusk_nor_of_a_bush_above_a_lawn():
    noise = np.random.default_rng(0).normal(1, 0.2, (60, 60, 1)).clip(0.3, 2)
    hedge, dusk = ((noise * colour).astype(np.uint8) for colour in ((60, 64, 40), (22, 26, 28)))
    assert _is_leafy(hedge)
    assert not _is_leafy(dusk)
    lawn = hedge.copy()
    lawn[30:] = (90, 140, 60)
    assert _unevenness_of(hedge) < PATCHY < _unevenness_of(lawn)
