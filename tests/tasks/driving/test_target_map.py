"""The label map that is wanted: what is behind a car, and trees in the outline of trees."""

from types import SimpleNamespace

import numpy as np

from instar.imaging.labels import LabelMap
from instar.imaging.street_classes import STREET
from instar.tasks.driving.engines.swap import _nearer
from instar.tasks.driving.engines.target_map import behind, hole_around, planted, with_attached
from instar.tasks.driving.ground import ground_of
from instar.tasks.driving.outlines import outline_of

SKY, HOUSE, ROAD, TREE, CAR, PERSON = (
    STREET.index(name) for name in ("sky", "building", "road", "vegetation", "car", "person")
)


def street():
    """Sky, houses from row 30 on, road from row 60 on, a car in the middle, a person at the left."""
    ids = np.full((120, 160), SKY, np.uint8)
    ids[30:60], ids[60:] = HOUSE, ROAD
    ids[50:80, 70:110] = CAR
    ids[40:70, 20:26] = PERSON
    return ids


def test_behind_a_car_are_the_house_above_and_the_road_below():
    ids = street()
    car = ids == CAR
    hole = hole_around(car, ids == PERSON, stands=True)
    wanted = behind(ids, car, hole, ground_of(LabelMap(ids, STREET)))
    assert not (wanted == CAR).any()
    assert (wanted[50:56, 80:100] == HOUSE).all()
    assert (wanted[64:80, 72:108] == ROAD).all()
    assert (wanted == ids)[~hole].all()


def test_the_hole_has_room_for_edge_and_shadow_but_leaves_others_whole():
    ids = street()
    hole = hole_around(ids == HOUSE, (ids == PERSON) | (ids == CAR), stands=False)
    assert hole[ids == HOUSE].all()
    assert not hole[(ids == PERSON) | (ids == CAR)].any()
    assert hole_around(ids == CAR, ids == PERSON, stands=True)[82, 90]
    assert not hole_around(ids == CAR, ids == PERSON, stands=False)[84, 90]


def test_trees_have_an_outline_of_their_own_and_sky_above():
    ids = street()
    outline = tuple(np.linspace(0.02, 0.12, 80).tolist())
    wanted = planted(ids, ids == HOUSE, [outline], 60.0, np.random.default_rng(0))
    tops = np.argmax(wanted == TREE, axis=0)[(wanted == TREE).any(axis=0)]
    assert not (wanted == HOUSE).any()
    assert (wanted[31, ids[31] == HOUSE] == SKY).all()  # the house reached higher than any of the trees
    assert len(set(tops.tolist())) > 5  # and its flat roof is not their outline
    assert (wanted == ids)[ids != HOUSE].all()


def test_no_sky_shows_below_what_hides_it():
    ids = street()
    ids[10:30, 40:60] = TREE  # the crown of another tree before the sky
    wanted = planted(ids, ids == HOUSE, [(0.02,) * 40], 60.0, np.random.default_rng(0))
    assert (wanted[30:60, 40:60][ids[30:60, 40:60] == HOUSE] == TREE).all()


def test_outlines_come_from_trees_before_the_sky_and_from_no_houses():
    ids = street()
    assert outline_of(LabelMap(ids, STREET)) is None
    ids[20:60, 100:150] = TREE
    outline = outline_of(LabelMap(ids, STREET))
    assert outline is not None
    assert len(outline) == 50
    assert max(abs(height - 40 / 160) for height in outline) < 0.01


def test_what_takes_a_place_stands_behind_posts_that_are_nearer():
    ids = street()
    ids[60:95, 88:91] = STREET.index("pole")  # its foot is below those of the car
    ids[40:70, 96:98] = STREET.index("pole")
    view = SimpleNamespace(labels=LabelMap(ids, STREET), size=ids.shape)
    edit = {"x": 70, "y": 50, "width": 40, "height": 30}
    before = _nearer(edit, ids == CAR, view)
    assert before[60:80, 88:91].all()
    assert not before[50:70, 96:98].any()


def test_what_hangs_on_a_house_goes_with_it_and_what_stands_on_the_ground_stays():
    ids = street()
    sign, pole, unknown = (STREET.index(name) for name in ("traffic sign", "pole", "unlabelled"))
    ids[24:30, 130:132] = unknown  # an aerial
    ids[40:46, 120:126] = sign  # of a shop
    ids[36:60, 140:142], ids[34:38, 138:144] = pole, sign  # on its pole, which stands on the ground
    gone = with_attached(ids, ids == HOUSE)
    assert gone[24:30, 130:132].all()
    assert gone[40:46, 120:126].all()
    assert not gone[34:60, 140:142].any()
    assert not gone[ids == PERSON].any()
    assert not gone[ids == CAR].any()
