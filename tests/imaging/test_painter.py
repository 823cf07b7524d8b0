"""The painter: the hole and nothing else, the same every time, and what the label map wants."""

import numpy as np
import pytest

from instar.imaging.painter import CELL, in_cells, paint, paint_whole
from instar.imaging.street_classes import STREET, UNKNOWN, street_ids
from instar.imaging.street_networks import STREET_NETWORKS, WEIGHTS, network_card, require_weights
from instar.installation import MissingExtra
from instar.worlds.drive import scenes


@pytest.fixture(scope="module")
def street():
    (scene,) = scenes(1, seed=4, size=(160, 320))
    return np.asarray(scene.image), street_ids(scene.knowledge["labels"]())


def square(shape, top, left, side=48):
    hole = np.zeros(shape, np.bool_)
    hole[top : top + side, left : left + side] = True
    return hole


def test_only_the_hole_changes_and_always_in_the_same_way(street):
    image, ids = street
    hole = square(ids.shape, 60, 20)
    painted = paint(image, hole, ids, painter="drawn", seed=3)
    assert (painted == image)[~hole].all()
    assert (painted != image)[hole].any()
    np.testing.assert_array_equal(paint(image, hole, ids, painter="drawn", seed=3), painted)


@pytest.mark.parametrize("painter", ["drawn", "camvid"])
def test_what_is_painted_is_what_the_map_wants(street, painter):
    image, ids = street
    hole = square(ids.shape, 30, 30)
    light = {}
    for name in ("sky", "vegetation"):
        wanted = np.where(hole, STREET.index(name), ids).astype(np.uint8)
        light[name] = paint(image, hole, wanted, painter=painter)[hole].mean()
    assert light["sky"] > light["vegetation"] + 30


def test_a_hole_in_the_road_is_filled_with_road_without_any_map(street):
    image, ids = street
    hole = square(ids.shape, 110, 150, side=24)
    marred = np.where(hole[..., None], np.uint8(255), image)
    filled = paint(marred, hole, np.full_like(ids, UNKNOWN), painter="drawn")
    around = square(ids.shape, 104, 144, side=36) & ~hole
    assert abs(filled[hole].mean() - image[around].mean()) < 25


def test_larger_pictures_are_painted_too(street):
    image, ids = street
    large, labels = np.repeat(np.repeat(image, 3, 0), 3, 1), np.repeat(np.repeat(ids, 3, 0), 3, 1)
    hole = square(labels.shape, 300, 420)
    painted = paint(large, hole, labels, painter="drawn")
    assert painted.shape == large.shape
    assert (painted == large)[~hole].all()


def test_a_whole_picture_is_painted_always_in_the_same_way_and_in_its_light(street):
    image, ids = street
    nothing = np.zeros(ids.shape, np.bool_)
    painted = paint_whole(image, nothing, ids, painter="camvid")
    assert painted.shape == image.shape
    assert (painted != image).any(axis=2).mean() > 0.9
    np.testing.assert_array_equal(paint_whole(image, nothing, ids, painter="camvid"), painted)
    darker = paint_whole((image // 2).astype(np.uint8), nothing, ids, painter="camvid")
    assert darker.mean() < painted.mean() - 15


def test_what_is_lost_of_a_picture_leaves_no_trace_in_the_painting(street):
    image, ids = street
    lost = square(ids.shape, 48, 96)
    marred = np.where(lost[..., None], np.uint8(255), image)
    painted, other = (paint_whole(one, lost, ids, painter="camvid") for one in (image, marred))
    assert np.abs(painted.astype(int) - other).max() <= 3  # grain is measured in all of the picture


def test_cells_tell_the_mean_colour_of_what_is_known(street):
    image, ids = street
    lost = square(ids.shape, CELL, CELL, side=2 * CELL)
    lost[0:4, 0:4] = True
    colours, hole = in_cells(image, lost)
    known = image[:CELL, :CELL][~lost[:CELL, :CELL]]
    np.testing.assert_allclose((colours[3, 3] + 1) * 127.5, known.mean(axis=0), atol=0.01)
    assert (colours[:CELL, :CELL] == colours[0, 0]).all()
    assert (hole[CELL : 3 * CELL, CELL : 3 * CELL] == 1).all()
    assert set(np.unique(hole)) == {0.5, 1.0}
    assert not colours[2 * CELL, 2 * CELL].any()


def test_weights_are_small_and_each_has_a_card_that_names_its_licence():
    sizes = [(WEIGHTS / f"{name}.onnx").stat().st_size for name in STREET_NETWORKS]
    assert max(sizes) <= 8e6
    assert sum(sizes) <= 12e6
    assert "Apache-2.0" in network_card("painter-drawn")["licence"]
    for name, held_out in (("painter-camvid", 83), ("street-maps", 83), ("translator-camvid", 71)):
        assert "research and personal use only" in network_card(name)["licence"]
        assert network_card(name)["held_out"] == held_out


def test_weights_that_are_not_there_are_named_with_where_to_get_them(tmp_path):
    with pytest.raises(MissingExtra, match=r"^a.onnx needs instar-weights \(a wheel beside .*, which is not"):
        require_weights(tmp_path / "a.onnx")
