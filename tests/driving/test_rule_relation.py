"""Rules on the drawn street: what changes in the pictures, what does not, and what is found."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest

from instar import Limits, Observation, Status, draws, run
from instar.driving import Control, rule
from instar.driving.changes import edits_of
from instar.driving.engines.masks import mask_from_text
from instar.driving.gallery import labels_of
from instar.driving.systems.street import street_driver
from instar.errors import BadInput
from instar.relation import Inapplicable, change_from_json
from instar.running import Folder
from instar.scene import Scene
from instar.testing import check_relation
from instar.worlds.street import scenes

PEOPLE = "If: a pedestrian appears on the roadside, Then: the ego-vehicle should slow down at least 30%."
CLOSER = (
    "If: a pedestrian appears on the roadside, Then: slow down. If: he gets closer, Then: slow down more."
)
SIGN = "If: a speed limit sign appears on the roadside, Then: the ego-vehicle should slow down."
LINES = "If: lane lines are removed from the road, Then: the steering angle should keep the same."
TREES = "If: the buildings are replaced with trees, Then: the steering angle should keep the same."
NIGHT = "If: the driving time changes into night, Then: the ego-vehicle should slow down."
RAIN = "If: it rains, Then: the steering angle should keep the same."
ALL = [PEOPLE, CLOSER, SIGN, LINES, TREES, NIGHT, RAIN]


@cache
def street():
    """Small scenes in which the careful driver does not stand already."""
    every = scenes(14, seed=4, size=(320, 480))
    driver = street_driver()
    return [scene for scene in every if driver.predict([scene.image])[0].speed > 4][:6]


@cache
def ready(text):
    relation = rule(text)
    assert relation.prepare is not None
    return relation.prepare(street(), Folder(Path(mkdtemp())))


def observed(scene):
    image = scene.image
    return Observation(scene, street_driver().predict([image])[0], lambda: image)


def cases(text):
    """The sources, changes and pictures of a rule, wherever it can be applied."""
    relation = ready(text)
    for scene in street():
        source = observed(scene)
        change = relation.draw(source, np.random.default_rng(3))
        if not isinstance(change, Inapplicable):
            pictures = relation.apply(source.input, change)
            if not isinstance(pictures, Inapplicable):
                yield source, change, pictures


@pytest.mark.parametrize("text", ALL)
def test_every_rule_makes_pictures(text):
    assert len(list(cases(text))) >= 2


@pytest.mark.parametrize("text", ALL)
def test_a_change_that_was_kept_as_json_makes_the_same_pictures(text):
    import json

    relation = ready(text)
    source, change, pictures = next(cases(text))
    again = relation.apply(source.input, change_from_json(json.loads(json.dumps(change.to_json()))))
    for one, other in zip(pictures, again):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("text", [PEOPLE, SIGN])
def test_what_is_added_changes_its_own_rectangle_only_and_stands_on_the_roadside(text):
    for source, change, (picture,) in cases(text):
        ((edit,),) = edits_of(change)
        x, y, width, height = (edit[key] for key in ("x", "y", "width", "height"))
        changed = (picture != source.input).any(axis=2)
        assert changed.any()
        changed[y : y + height, x : x + width] = False
        assert not changed.any()
        labels = labels_of(source.scene)
        assert labels is not None
        assert labels.mask(["sidewalk"])[y + height - 1, x + width // 2]
        assert not labels.mask(["person", "car", "pole"])[y : y + height, x : x + width].any()


@pytest.mark.parametrize(("text", "name"), [(LINES, "line"), (TREES, "building")])
def test_what_is_removed_or_replaced_changes_its_own_pixels_only(text, name):
    for source, change, (picture,) in cases(text):
        ((edit,),) = edits_of(change)
        labels = labels_of(source.scene)
        assert labels is not None
        np.testing.assert_array_equal(mask_from_text(edit["mask"]), labels.mask([name]))
        changed = (picture != source.input).any(axis=2)
        assert changed.any()
        assert not changed[~labels.mask([name])].any()


def test_removed_lines_are_as_dark_as_the_road():
    for source, _, (picture,) in cases(LINES):
        labels = labels_of(source.scene)
        assert labels is not None
        lines, road = labels.mask(["line"]), labels.mask(["road"])
        asphalt = picture[road].mean()
        assert abs(picture[lines].mean() - asphalt) < 0.3 * (source.input[lines].mean() - asphalt)


def test_closer_is_lower_and_larger():
    for _, change, _ in cases(CLOSER):
        (before,), (after,) = edits_of(change)
        assert before["cutout"] == after["cutout"]
        assert after["y"] + after["height"] > before["y"] + before["height"]
        assert after["height"] > 1.3 * before["height"]


def test_night_is_dark_and_falls_on_what_is_added():
    text = "If: night falls, Then: slow down. If: a pedestrian appears on the roadside, Then: slow down more."
    for source, change, (night, both) in cases(text):
        assert night.mean() < 0.5 * source.input.mean()
        assert [edit["engine"] for edit in edits_of(change)[1]] == ["paste", "atmosphere"]
        assert (both != night).any()


@pytest.mark.parametrize("text", [PEOPLE, LINES, NIGHT])
def test_the_relations_keep_the_contract(text):
    check_relation(ready(text), street_driver(), street()[:2])


def judged(text, fault=None):
    records = run(
        street(), ready(text), street_driver(fault=fault), search=draws(1), seed=1, limits=Limits(queries=400)
    )
    statuses = [record.verdict.status for record in records if record.role != "null"]
    return {status: statuses.count(status) for status in (Status.HELD, Status.VIOLATED)}


@pytest.mark.parametrize("text", [PEOPLE, CLOSER, LINES, NIGHT])
def test_a_careful_driver_is_not_accused(text):
    found = judged(text)
    assert found[Status.VIOLATED] == 0
    assert found[Status.HELD] >= 2


@pytest.mark.parametrize(
    ("fault", "text", "others"),
    [
        ("ignores people", PEOPLE, [LINES, NIGHT]),
        ("ignores distance", CLOSER, [LINES, NIGHT]),
        ("brakes a tenth", PEOPLE, [CLOSER, LINES, NIGHT]),
        ("steers by lines", LINES, [PEOPLE, NIGHT]),
        ("hurries at night", NIGHT, [PEOPLE, LINES]),
    ],
)
def test_a_fault_is_caught_by_the_rule_that_speaks_of_it_and_by_no_other(fault, text, others):
    assert judged(text, fault)[Status.VIOLATED] >= 2
    assert judged(text, fault)[Status.HELD] == 0
    for other in others:
        assert judged(other, fault)[Status.VIOLATED] == 0


def test_a_driver_who_never_reacts_is_not_acquitted_by_noise():
    assert judged("If: a pedestrian appears on the roadside, Then: slow down.", "ignores people") == {
        Status.HELD: 0,
        Status.VIOLATED: 6,
    }


def test_a_scene_without_a_label_map_is_inapplicable():
    scene = Scene.of("bare", street()[0].image)
    drawn = ready(PEOPLE).draw(
        Observation.of(scene.image, Control(50.0, 0.0), scene), np.random.default_rng(0)
    )
    assert drawn == Inapplicable("no label map")


def test_a_rule_that_no_engine_can_make_is_refused_at_once():
    with pytest.raises(BadInput, match="no engine can add a lane"):
        rule("If: a lane is added, Then: slow down.")


def test_a_system_that_does_not_say_what_the_rule_is_about_fails():
    relation = rule(LINES)
    assert relation.accept is not None
    with pytest.raises(ValueError, match="the rule is about steering"):
        relation.accept(None, {"speed": 3})


def test_only_rules_that_allow_no_change_have_null_changes():
    assert rule(LINES).null is not None
    assert rule(PEOPLE).null is None
    assert rule("If: it rains, Then: do not speed up.").null is not None
