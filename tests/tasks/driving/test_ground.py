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
