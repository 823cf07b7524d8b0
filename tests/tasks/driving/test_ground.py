"""The ground plane in a label map: horizon, edges of the road, and room to stand."""

import numpy as np
import pytest

from instar.imaging.labels import LabelMap
from instar.tasks.driving.ground import ground_of
from instar.worlds.street import scenes

NAMES = ("sky", "road", "sidewalk", "person")


def drawn(rows):
    ids = {"s": 0, "r": 1, "w": 2, "p": 3}
    return LabelMap(np.array([[ids[letter] for letter in row] for row in rows], np.uint8), NAMES)


def test_the_edge_is_where_road_becomes_roadside():
    ground = ground_of(drawn(["ssssssss", "swwrrwws", "wwrrrrww", "wrrrrrrw"]))
    assert ground is not None
    assert ground.horizon == 1
    assert [ground.edge(2, side) for side in (-1, 1)] == [1, 6]
    assert ground.edge(0, 1) is None


def test_a_thing_on_the_road_is_no_edge():
    ground = ground_of(drawn(["ssssssss", "wwrprrww"]))
    assert ground is None or ground.edge(1, 1) == 6


def test_what_lies_far_behind_a_parked_car_is_no_roadside():
    ground = ground_of(drawn(["ssssssss", "rrrppppw", "rrrppppw", "rrrrrrrw"]))
    assert ground is not None
    assert ground.edge(1, 1) == 7
    assert ground.edge(1, 1, reach=5) == 7
    assert ground.edge(1, 1, reach=4) is None


def test_a_map_without_road_has_no_ground():
    assert ground_of(drawn(["ssss", "wwww"])) is None


def test_nothing_stands_outside_in_the_way_or_in_the_air():
    labels = drawn(["ssssssssss", "wwwwrrwwww", "wwpwrrwwww", "wwwwrrwwww", "wwwrrrrwww", "wwwrrrrwww"])
    ground = ground_of(labels)
    assert ground is not None
    assert ground.can_stand(7, 2, 2, 3, ground.roadside)
    assert not ground.can_stand(8, 2, 2, 3, ground.roadside)  # touches the picture's edge
    assert not ground.can_stand(2, 1, 2, 3, ground.roadside)  # somebody stands there
    assert not ground.can_stand(3, 2, 4, 3, ground.roadside)  # on the road


@pytest.mark.parametrize("index", range(5))
def test_the_street_has_its_horizon_where_its_camera_has_it(index):
    labels = scenes(5, seed=8)[index].knowledge["labels"]()
    ground = ground_of(labels)
    assert ground is not None
    assert abs(ground.horizon - 0.42 * labels.ids.shape[0]) < 0.05 * labels.ids.shape[0]


def test_a_narrow_street_has_a_lane_beside_our_own():
    row = ["w"] * 100
    row[30:70] = ["r"] * 40  # the path is its middle, column 50
    ground = ground_of(drawn(["s" * 100, *["".join(row)] * 20]))
    assert ground is not None
    assert ground.lanes(10, 20) == [ground.path(10)]  # half a lane to both sides: nobody knows which is one
    row[70:85] = ["r"] * 15
    wider = ground_of(drawn(["s" * 100, *["".join(row)] * 20]))
    assert wider is not None
    own, other = wider.lanes(10, 30)
    assert own == wider.path(10)
    assert 65 < other < 85


def test_a_vehicle_may_hide_the_traffic_before_it_and_nobody_else():
    labels = LabelMap(np.full((40, 40), 1, np.uint8), ("sky", "road", "car", "person"))
    for name, may in (("car", True), ("person", False)):
        shown = labels.relabelled(_box(8, 14, 16, 24), name)
        shown = shown.relabelled(_box(0, 4, 0, 40), "sky")
        ground = ground_of(shown)
        assert ground is not None
        assert ground.can_stand(14, 6, 12, 20, ground.road, traffic=True) == may
        assert not ground.can_stand(14, 6, 12, 20, ground.road)


def _box(top, bottom, left, right):
    mask = np.zeros((40, 40), np.bool_)
    mask[top:bottom, left:right] = True
    return mask
