"""Ground is where it looks as it does at an object's feet; sizes follow from the feet."""

import cv2
import numpy as np
import pytest

from instar.cutouts.ground import at_feet, find_eye_height, find_ground, find_horizon, ground_share, look_at

GRASS, ROAD, WALL = (80, 140, 60), (120, 120, 125), (80, 141, 60)


def street():
    """Grass below row 60, with a road across it from column 60 to 80 and a wall in grass's colour above."""
    image = np.full((120, 160, 3), 200, np.uint8)
    image[60:] = GRASS
    image[60:, 70:90] = ROAD
    image[10:30] = WALL
    return image


def share(box, *, joined):
    hidden = np.zeros((120, 160), bool)
    hidden[60:90, 20:40] = True
    ground = find_ground(look_at(street()), at_feet(np.array((20, 60, 40, 90))), hidden, joined=joined)
    return ground_share(ground, at_feet(np.array([box])))[0]


def test_the_same_ground_is_recognised_and_another_is_not():
    assert share((110, 60, 130, 90), joined=False) == 1
    assert share((70, 60, 90, 90), joined=False) < 0.3


def test_a_wall_of_the_same_colour_is_only_ground_where_nobody_asks_how_to_get_there():
    on_the_wall = (110, 0, 130, 20)
    assert share(on_the_wall, joined=False) == 1
    assert share(on_the_wall, joined=True) == 0


def test_a_large_picture_is_looked_at_in_small():
    large = cv2.resize(street(), None, fx=12, fy=12, interpolation=cv2.INTER_NEAREST)
    looks = look_at(large)
    assert looks.values.shape == (600, 800, 4)
    hidden = np.zeros(large.shape[:2], bool)
    hidden[720:1080, 240:480] = True
    ground = find_ground(looks, at_feet(np.array((240, 720, 480, 1080))), hidden, joined=False)
    strips = at_feet(np.array([(1320, 720, 1560, 1080), (840, 720, 1080, 1080)]))
    assert ground_share(ground, strips)[0] == 1
    assert ground_share(ground, strips)[1] < 0.3


def test_feet_on_ground_of_several_kinds_tell_nothing():
    image = np.zeros((120, 160, 3), np.uint8)
    image[:, ::2] = 255
    image[:, 40:80] = (200, 0, 0)
    image[:, 80:120] = (0, 0, 200)
    strip = at_feet(np.array((30, 20, 130, 80)))
    assert find_ground(look_at(image), strip, np.zeros((120, 160), bool), joined=False) is None


@pytest.mark.parametrize("eye", [0.8, 1.6, 4.0])
def test_the_height_of_the_camera_follows_from_two_people(eye):
    horizon, feet = 100.0, np.array([180.0, 300.0])
    tall = 1.7 * (feet - horizon) / eye
    boxes = np.stack([[10, 60], feet - tall, [40, 120], feet], axis=1).astype(np.float32)
    found = find_eye_height(boxes, ["person", "person"], 400)
    assert found == pytest.approx(eye, rel=1e-3)
    for box in boxes:
        assert find_horizon(tuple(box), "person", found) == pytest.approx(horizon, abs=0.5)


def test_without_two_things_of_known_height_a_camera_is_held_as_people_hold_it():
    assert find_eye_height(np.array([[0, 0, 10, 20]], np.float32), ["person"], 400) == 1.4
    boxes = np.array([[0, 0, 10, 20], [0, 40, 9, 90]], np.float32)
    assert find_eye_height(boxes, ["thing", "thing"], 400) == 1.4
