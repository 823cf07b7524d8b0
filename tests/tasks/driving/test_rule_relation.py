"""Rules on drawn drives and on edited pictures: what changes, what does not, and what is found."""

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import cv2
import numpy as np
import pytest

from instar import Limits, Observation, Status, draws, run
from instar.core.change import Inapplicable, change_from_json
from instar.core.errors import BadInput
from instar.core.scene import Scene
from instar.core.workspace import Folder
from instar.imaging.mask_text import ids_from_text, mask_from_text
from instar.tasks.driving import Control, rule
from instar.tasks.driving.maps import labels_of
from instar.tasks.driving.systems.street import street_driver
from instar.testing import check_relation
from instar.worlds.drive import drive_of, scenes

ONE = "If: a pedestrian appears on the roadside, Then: the ego-vehicle should slow down."
PEOPLE = "If: a pedestrian appears on the roadside, Then: the ego-vehicle should slow down at least 30%."
CLOSER = (
    "If: a pedestrian appears on the roadside, Then: slow down. If: he gets closer, Then: slow down more."
)
SIGN = "If: a speed limit sign appears on the roadside, Then: the ego-vehicle should slow down."
LINES = "If: lane lines are removed from the road, Then: the steering angle should keep the same."
TREES = "If: the buildings are replaced with trees, Then: the steering angle should keep the same."
NIGHT = "If: the driving time changes into night, Then: the ego-vehicle should slow down."
RAIN = "If: it rains, Then: the steering angle should keep the same."
SIGN_CLOSER = f"{SIGN} If: it gets closer, Then: the speed should decrease more."
BOTH_GONE = (
    "If: lane lines are removed from the road and the buildings are replaced with trees, "
    "Then: the steering angle should keep the same."
)
NIGHT_WALK = f"{NIGHT} If: a pedestrian appears on the roadside, Then: the speed should decrease more."
ALL = [ONE, PEOPLE, CLOSER, SIGN, LINES, TREES, NIGHT, RAIN, SIGN_CLOSER, BOTH_GONE, NIGHT_WALK]
HOW = ["rendered", "pasted"]


@cache
def drives():
    """Drives by day, in which the careful driver is not slow already."""
    every = scenes(30, seed=4, size=(240, 480))
    by_day = [
        s for s in every if s.knowledge["drive"].time == "day" and s.knowledge["drive"].weather == "clear"
    ]
    return [scene for scene in by_day if scene.knowledge["speed"] > 12][:7]


@cache
def ready(text, how="rendered"):
    relation = rule(text, engines=how)
    assert relation.prepare is not None
    return relation.prepare(drives(), Folder(Path(mkdtemp())))


def observed(scene):
    image = scene.image
    return Observation(scene, street_driver().predict([image])[0], lambda: image)


def cases(text, how):
    """The sources, changes and pictures of a rule, wherever it can be applied."""
    relation = ready(text, how)
    for scene in drives():
        source = observed(scene)
        change = relation.draw(source, np.random.default_rng(3))
        if not isinstance(change, Inapplicable):
            pictures = relation.apply(source.input, change)
            if not isinstance(pictures, Inapplicable):
                yield source, change, pictures


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("text", ALL)
def test_every_rule_makes_pictures_that_can_be_made_again_from_json(text, how):
    found = list(cases(text, how))
    assert len(found) >= 2
    relation = ready(text, how)
    source, change, pictures = found[0]
    again = relation.apply(source.input, change_from_json(json.loads(json.dumps(change.to_json()))))
    for one, other in zip(pictures, again):
        np.testing.assert_array_equal(one, other)
        assert drive_of(one) == drive_of(other)


@pytest.mark.parametrize("text", [PEOPLE, SIGN])
def test_what_is_pasted_changes_its_own_rectangle_only_and_stands_on_the_roadside(text):
    for source, change, (picture,) in cases(text, "pasted"):
        ((edit,),) = change.edits
        x, y, width, height = (edit[key] for key in ("x", "y", "width", "height"))
        changed = (picture != source.input).any(axis=2)
        assert changed.any()
        changed[y : y + height, x : x + width] = False
        assert not changed.any()
        labels = labels_of(source.scene)
        assert labels is not None
        assert labels.mask(["sidewalk", "terrain"])[y + height - 1, x + width // 2]
        # Nothing that stands nearer is painted over; what is farther may be hidden in part.
        nearer = labels.mask(["person", "car"])[y + height - 1 :, x + width // 4 : x + 3 * width // 4]
        assert not nearer[0].any()


def test_what_is_drawn_stands_on_the_roadside_and_is_seen():
    for source, change, (picture,) in cases(PEOPLE, "rendered"):
        ((edit,),) = change.edits
        drive = drive_of(picture)
        assert drive is not None
        assert drive.things[:-1] == source.scene.knowledge["drive"].things
        thing = drive.things[-1]
        assert thing.kind == "pedestrian"
        beyond = max(thing.offset - drive.road.right, drive.road.left - thing.offset)
        assert 0 < beyond < 2
        assert edit["distance"] == thing.distance
        assert (picture != source.input).any(axis=2).sum() > 40


@pytest.mark.parametrize(("text", "name"), [(LINES, "line"), (TREES, "building")])
def test_what_is_edited_away_changes_its_own_pixels_only(text, name):
    for source, change, (picture,) in cases(text, "pasted"):
        ((edit,),) = change.edits
        labels = labels_of(source.scene)
        assert labels is not None
        own = labels.mask([name])
        region = mask_from_text(edit["mask"]) if "mask" in edit else ids_from_text(edit["map"]) != 255
        assert region[own].all()
        # The edge of a thing goes with it, and nothing that stands before it; trees rise into the sky.
        near = cv2.dilate(own.astype(np.uint8), np.ones((41, 41), np.uint8)) > 0
        assert not region[~near & ~labels.mask(["sky", "vegetation"])].any()
        assert not region[labels.mask(["person", "car", "pole"])].any()
        changed = (picture != source.input).any(axis=2)
        assert changed.any()
        assert not changed[~region].any()


def test_removed_lines_are_as_dark_as_the_road():
    for source, _, (picture,) in cases(LINES, "pasted"):
        labels = labels_of(source.scene)
        assert labels is not None
        lines, road = labels.mask(["line"]), labels.mask(["road"])
        asphalt = picture[road].mean()
        assert abs(picture[lines].mean() - asphalt) < 0.3 * (source.input[lines].mean() - asphalt)


def test_closer_is_lower_and_larger_pasted_and_nearer_drawn():
    for _, change, _ in cases(CLOSER, "pasted"):
        (before,), (after,) = change.edits
        assert before["cutout"] == after["cutout"]
        assert after["y"] + after["height"] > before["y"] + before["height"]
        assert after["height"] > 1.3 * before["height"]
    for _, change, _ in cases(CLOSER, "rendered"):
        (before,), (after,) = change.edits
        assert after["distance"] == pytest.approx(0.6 * before["distance"], abs=0.001)
        assert {**before, "distance": after["distance"]} == after


@pytest.mark.parametrize("how", HOW)
def test_night_is_dark_and_falls_on_what_is_added(how):
    for source, change, (night, both) in cases(NIGHT_WALK, how):
        assert night.mean() < 0.5 * source.input.mean()
        assert len(change.edits[1]) == 2
        assert (both != night).any()
        assert both.mean() < 0.5 * source.input.mean()


def test_more_of_them_is_one_more():
    text = "If: two pedestrians appear, Then: slow down. If: more pedestrians appear, Then: slow down more."
    for _, change, _ in cases(text, "rendered"):
        before, after = change.edits
        assert (len(before), len(after)) == (2, 3)
        assert after[:2] == before


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("text", [PEOPLE, LINES, NIGHT_WALK])
def test_the_relations_keep_the_contract(text, how):
    check_relation(ready(text, how), street_driver(), drives()[:1], seeds=1)


def judged(text, fault=None, how="rendered"):
    records = run(
        drives(),
        ready(text, how),
        street_driver(fault=fault),
        search=draws(1),
        seed=1,
        limits=Limits(queries=400),
    )
    statuses = [record.verdict.status for record in records if record.role != "null"]
    return {status: statuses.count(status) for status in (Status.HELD, Status.VIOLATED)}


@pytest.mark.parametrize("text", [PEOPLE, LINES, NIGHT])
def test_a_careful_driver_is_not_accused_on_edited_pictures(text):
    found = judged(text, how="pasted")
    assert found[Status.VIOLATED] == 0
    assert found[Status.HELD] >= 2


def test_a_driver_who_never_reacts_is_not_acquitted_by_noise():
    found = judged(ONE, "ignores people")
    assert found[Status.HELD] == 0
    assert found[Status.VIOLATED] >= 5


def test_a_smaller_change_is_farther_smaller_weaker_or_has_fewer_parts():
    relation = ready(NIGHT_WALK)
    assert relation.smaller is not None
    source, change, _ = next(cases(NIGHT_WALK, "rendered"))
    first, *rest = relation.smaller(source, change)
    assert first.blocks == change.blocks[:1]
    smaller = [one for line in rest for one in (line if isinstance(line, list) else [line])]
    edits = [one.edits[-1] for one in smaller]
    walker = next(edit for edit in change.edits[1] if edit["do"] == "add")
    assert any(e.get("distance", 0) > walker["distance"] for some in edits for e in some)
    assert any(e.get("scale", 1) < walker["scale"] for some in edits for e in some)
    assert any(e.get("time") == "dusk" for some in edits for e in some)
    for one in smaller[::9]:
        assert len(relation.apply(source.input, one)) == len(one.blocks)
    answers = [Observation.of(source.input, Control(30.0, 0.0), source.scene)]
    assert relation.expect(source, answers, first).status in (Status.HELD, Status.VIOLATED)


@pytest.mark.parametrize("how", HOW)
def test_what_came_closer_stays_closer_however_small_the_change(how):
    relation = ready(CLOSER, how)
    source, change, _ = next(cases(CLOSER, how))
    key, sign = ("distance", 1) if how == "rendered" else ("foot", -1)
    lines = [line for line in relation.smaller(source, change) if isinstance(line, list)]
    both = [one.edits for line in lines for one in line]
    assert len(both) >= 10
    assert all(sign * first[0][key] > sign * then[0][key] for first, then in both)


def test_scenes_without_label_maps_get_them_from_a_network_and_that_is_said(tmp_path):
    scene = Scene.of("bare", drives()[0].image)
    said = []
    relation = rule(RAIN, engines="pasted").prepare([scene], Folder(tmp_path, say=said.append))
    source = Observation.of(scene.image, Control(50.0, 0.0), scene)
    change = relation.draw(source, np.random.default_rng(0))
    (picture,) = relation.apply(scene.image, change)
    assert picture.mean() < scene.image.mean()
    (line,) = said
    assert line.startswith("1 of 1 scenes have no label map: street-maps makes them (mean IoU 0.")
    assert "research and personal use only" in line


def test_a_rule_that_no_engine_can_make_is_refused_at_once():
    with pytest.raises(BadInput, match="no engine can add lane"):
        rule("If: a lane is added, Then: slow down.")


def test_a_system_that_does_not_say_what_the_rule_is_about_fails():
    with pytest.raises(ValueError, match="the rule is about steering"):
        rule(LINES).resolved_task.read(None, {"speed": 3})


def test_null_changes_strike_out_what_may_stay_the_same_and_never_a_demanded_reaction():
    def struck(text, before, after):
        seen = [Observation.of(None, control) for control in (before, after)]
        return [finding.key for finding in rule(text).resolved_task.compare(*seen).findings]

    still, swerves, hurries = Control(50.0, 0.0), Control(50.0, 29.0), Control(70.0, 0.0)
    assert struck(LINES, still, swerves) == [("steering", "steering")]
    assert struck("If: it rains, Then: do not speed up.", still, hurries) == [("speed", "speed")]
    both = f"{PEOPLE} If: he gets closer, Then: the steering angle should keep the same."
    for after in (hurries, swerves):
        assert struck(PEOPLE, still, after) == []
    assert struck(both, still, Control(70.0, 29.0)) == [("steering", "steering, block 2")]
    assert rule(LINES).resolved_task.nulls.strikers is not None
    reaction = rule(PEOPLE).resolved_task.nulls
    assert (reaction.fresh, reaction.strikers, len(reaction.conditions)) == (None, None, 3)


def test_a_driver_of_drawn_drives_refuses_other_pictures():
    with pytest.raises(ValueError, match="drive:N"):
        street_driver().predict([np.zeros((8, 8, 3), np.uint8)])


def test_in_paper_mode_the_bare_inequality_decides():
    relation = rule("If: a banana appears on the roadside, Then: slow down.", paper=True)
    assert relation.resolved_task.nulls is None
    assert rule(LINES, paper=True).resolved_task.nulls is None
    with pytest.raises(BadInput, match="'banana' is not known"):
        rule("If: a banana appears on the roadside, Then: slow down.")


@pytest.mark.parametrize(("how", "key"), [("rendered", "level"), ("pasted", "strength")])
def test_weather_has_a_severity_that_can_be_swept(how, key):
    relation = ready(RAIN, how)
    source = observed(drives()[0])
    differences = []
    for level in (0.5, 0.75, 1.0):
        change = relation.severity.change(source, level)
        assert change.edits[0][0][key] == level
        (picture,) = relation.apply(source.input, change)
        differences.append(np.abs(picture.astype(int) - source.input).mean())
    assert differences == sorted(differences)
    assert ready(PEOPLE, how).severity is None
