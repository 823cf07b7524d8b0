"""The drawn drive: picture, label map and what a careful driver should do follow from its description."""

import dataclasses
import pickle
from copy import deepcopy

import numpy as np
import pytest

from instar.core.errors import BadInput
from instar.scenes import load_scenes
from instar.worlds.drive import (
    CLASSES,
    Camera,
    Drive,
    House,
    Thing,
    careful_speed,
    careful_steering,
    drive_of,
    render,
    sample_drive,
    scenes,
    showing,
)
from instar.worlds.drive.render import CLASS_OF

EMPTY = Drive(1, houses=(House(-1, 6.0, 15.6, 0.5, 3), House(1, 6.0, 15.6, 0.5, 5)))
MAN = Thing("pedestrian", 15.0, 4.3, look=4)


def added(drive, thing, size=(160, 320)):
    """The label map with the thing, and where the picture has changed."""
    before, after = render(drive, size), render(drive.with_things(thing), size)
    return after, (before.picture != after.picture).any(axis=2)


@pytest.mark.parametrize("size", [(160, 320), (240, 320), (604, 960), (97, 131)])
def test_any_size_can_be_drawn(size):
    drawn = render(sample_drive(3), size)
    assert drawn.picture.shape == (*size, 3)
    assert drawn.picture.dtype == np.uint8
    assert drawn.labels().ids.shape == size


def test_the_same_description_gives_the_same_picture():
    one, other = render(sample_drive(5)), render(sample_drive(5))
    np.testing.assert_array_equal(one.picture, other.picture)
    np.testing.assert_array_equal(one.owner, other.owner)
    assert (render(sample_drive(6)).picture != one.picture).any()


def test_nothing_is_flat():
    labels, picture = render(EMPTY).labels(), render(EMPTY).picture
    for name in ("road", "sidewalk", "building", "sky"):
        assert picture[labels.mask([name])].std(axis=0).min() > 2


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("pedestrian", "person"), ("bicyclist", "rider"), ("car", "car"), ("van", "van"), ("truck", "truck"),
        ("bus", "bus"), ("tree", "vegetation"), ("traffic sign", "traffic sign"),
        ("traffic light", "traffic light"),
    ],
)  # fmt: skip
def test_a_thing_changes_the_picture_where_the_label_map_says_so(kind, name):
    drawn, changed = added(EMPTY, Thing(kind, 14.0, 4.5, "stop" if kind == "traffic sign" else "red"))
    mask = drawn.mask(0)
    assert mask.sum() > 40
    assert drawn.labels().mask([name])[mask].all()
    assert changed[mask].mean() > 0.9
    # Beside the thing itself only its shadow on the ground, its pole and soft edges.
    rows, columns = np.nonzero(mask)
    changed[max(0, rows.min() - 3) :, max(0, columns.min() - 30) : columns.max() + 30] = False
    assert not changed.any()


def test_what_is_farther_is_smaller_and_higher_and_stands_on_the_ground():
    heights, feet = [], []
    for distance in (8.0, 16.0, 32.0):
        mask = render(EMPTY.with_things(dataclasses.replace(MAN, distance=distance)), (320, 640)).mask(0)
        rows = np.flatnonzero(mask.any(axis=1))
        heights.append(rows[-1] + 1 - rows[0])
        feet.append(rows[-1] + 1)
        view = Camera.of(EMPTY, (320, 640))
        assert feet[-1] == pytest.approx(view.project(4.3, 0.0, distance)[1], abs=1.5)
    assert heights[0] == pytest.approx(2 * heights[1], rel=0.08)
    assert heights[1] == pytest.approx(2 * heights[2], rel=0.12)
    assert feet[0] > feet[1] > feet[2]


def test_what_is_nearer_hides_what_is_behind_it():
    truck = Thing("truck", 10.0, 1.65, "white")
    hidden = render(EMPTY.with_things(Thing("pedestrian", 22.0, 1.65), truck))
    assert not hidden.mask(0).any()
    assert hidden.mask(1).sum() > 1000


def test_a_road_that_bends_left_leads_to_the_left():
    middles = []
    for bend in (1 / 80, 0.0, -1 / 80):
        road = render(Drive(1, bend=bend)).labels().mask(["road", "line"])
        row = np.flatnonzero(road.any(axis=1))[6]
        middles.append(np.flatnonzero(road[row]).mean())
    assert middles[0] + 20 < middles[1] < middles[2] - 20


def test_lines_can_be_taken_away_and_nothing_else_changes():
    bare = dataclasses.replace(EMPTY, road=dataclasses.replace(EMPTY.road, centre="", edges=""))
    before, after = render(EMPTY), render(bare)
    lines = before.labels().mask(["line"])
    assert lines.sum() > 300
    assert not after.labels().mask(["line"]).any()
    changed = (np.abs(before.picture.astype(int) - after.picture) > 4).any(axis=2)
    assert changed[lines].mean() > 0.95
    beside = np.pad(lines, 2)
    near = np.any([np.roll(beside, s, axis=1) for s in range(-2, 3)], axis=0)
    near = np.any([np.roll(near, s, axis=0) for s in range(-2, 3)], axis=0)[2:-2, 2:-2]
    assert not changed[~near & (np.arange(160) > 90)[:, None]].any()


def test_night_is_dark_and_its_windows_shine():
    day, night = render(EMPTY), render(dataclasses.replace(EMPTY, time="night"))
    assert night.picture.mean() < 0.35 * day.picture.mean()
    houses = day.labels().mask(["building"])
    assert night.picture[houses].max() > 180
    np.testing.assert_array_equal(day.owner, night.owner)


@pytest.mark.parametrize("weather", ["rain", "snow", "fog", "cloud"])
def test_weather_changes_the_light_and_not_the_things(weather):
    clear, other = render(EMPTY), render(dataclasses.replace(EMPTY, weather=weather, level=1.0))
    assert np.abs(clear.picture.astype(int) - other.picture).mean() > 4
    np.testing.assert_array_equal(clear.owner, other.owner)


def test_fog_hides_what_is_far_and_spares_what_is_near():
    clear, foggy = render(EMPTY).picture, render(dataclasses.replace(EMPTY, weather="fog", level=1.0)).picture
    hill, sky = (slice(66, 70), slice(150, 170)), (slice(20, 30), slice(150, 170))
    apart = [abs(float(picture[hill].mean()) - picture[sky].mean()) for picture in (clear, foggy)]
    assert apart[1] < 0.2 * apart[0]
    assert foggy[150:].std() > 0.5 * clear[150:].std()


def test_a_careful_driver_slows_down_for_people_the_more_the_nearer():
    free = careful_speed(EMPTY)
    at = [careful_speed(EMPTY.with_things(dataclasses.replace(MAN, distance=d))) for d in (60, 30, 15, 6)]
    assert free == 50.0 > at[0] > 0.7 * free > at[1] > at[2] > at[3] > 0
    away = EMPTY.with_things(dataclasses.replace(MAN, offset=14.0))
    assert careful_speed(away) == free


@pytest.mark.parametrize(
    "change",
    [
        {"time": "night"}, {"time": "dusk"}, {"weather": "rain"}, {"weather": "snow"}, {"weather": "fog"},
        {"bend": 1 / 60}, {"things": (Thing("traffic sign", 20.0, 4.0, "speed limit 30"),)},
        {"things": (Thing("traffic light", 20.0, 4.0, "red"),)}, {"things": (Thing("car", 20.0, 1.65),)},
    ],
)  # fmt: skip
def test_a_careful_driver_slows_down_in_the_dark_in_the_wet_in_bends_and_for_signs(change):
    assert careful_speed(dataclasses.replace(EMPTY, **change)) < careful_speed(EMPTY)


def test_a_careful_driver_follows_the_bend_and_the_lane_and_nothing_else():
    assert careful_steering(Drive(0, bend=1 / 80)) > 20
    assert careful_steering(Drive(0, bend=-1 / 80)) == -careful_steering(Drive(0, bend=1 / 80))
    assert careful_steering(Drive(0, drift=0.4)) > 0 > careful_steering(Drive(0, yaw=1.0))
    for seed in range(20):
        drive = sample_drive(seed)
        other = dataclasses.replace(drive, houses=(), things=(), time="night", weather="rain")
        assert careful_steering(other) == careful_steering(drive)


def test_drawn_drives_are_of_every_sort():
    drives = [sample_drive(seed) for seed in range(150)]
    assert {drive.time for drive in drives} == {"day", "dusk", "night"}
    assert {drive.weather for drive in drives} == {"clear", "cloud", "rain", "snow", "fog"}
    kinds = {thing.kind for drive in drives for thing in drive.things}
    assert kinds == CLASS_OF.keys()
    speeds = [careful_speed(drive) for drive in drives]
    assert min(speeds) < 12 < 45 < max(speeds)
    angles = [careful_steering(drive) for drive in drives]
    assert min(angles) < -20 < 20 < max(angles)


def test_scenes_know_their_drive_labels_objects_and_truth():
    scene = scenes(3, seed=2)[1]
    again = scenes(3, seed=2)[1]
    np.testing.assert_array_equal(scene.image, again.image)
    knowledge = scene.knowledge
    assert drive_of(scene.image) == knowledge["drive"]
    assert knowledge["labels"]().names == CLASSES
    assert knowledge["speed"] == careful_speed(knowledge["drive"])
    assert knowledge["steering"] == careful_steering(knowledge["drive"])
    for thing in knowledge["objects"]():
        rows, columns = np.nonzero(thing.mask())
        assert thing.box == (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)


def test_scenes_are_named_by_drive():
    loaded = load_scenes("drive:2:5")
    np.testing.assert_array_equal(loaded[1].image, scenes(2, seed=5)[1].image)


@pytest.mark.parametrize(("n", "size"), [(0, (160, 320)), (1, (8, 320))])
def test_what_cannot_be_drawn_is_refused(n, size):
    with pytest.raises(BadInput, match="drive: "):
        scenes(n, size=size)


def test_a_picture_keeps_its_drive_when_it_is_sent_to_another_process():
    picture = showing(np.zeros((3, 4, 3), np.uint8), sample_drive(1))
    sent = pickle.loads(pickle.dumps(picture))
    assert drive_of(sent) == sample_drive(1)
    assert drive_of(sent.copy()) is None
    shown = deepcopy(sent)  # as a system is shown it
    assert drive_of(shown) == drive_of(sent)
    assert not np.shares_memory(shown, sent)


def test_a_mirrored_drive_is_drawn_and_steered_the_other_way_round():
    drive = sample_drive(5)
    one, other = render(drive), render(dataclasses.replace(drive, mirrored=True))
    np.testing.assert_array_equal(other.picture, one.picture[:, ::-1])
    np.testing.assert_array_equal(other.labels().ids, one.labels().ids[:, ::-1])
    assert careful_steering(other.drive) == -careful_steering(drive) != 0
    assert careful_speed(other.drive) == careful_speed(drive)
