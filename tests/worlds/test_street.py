from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from instar.core.errors import BadInput
from instar.worlds.street import scenes

SIZES = [(480, 640), (240, 320)]


def test_a_scene_depends_on_seed_and_index_alone() -> None:
    few, many = scenes(2, seed=4), scenes(5, seed=4)
    assert [scene.id for scene in few] == ["street-0000", "street-0001"]
    np.testing.assert_array_equal(few[1].image, many[1].image)
    assert [o.box for o in few[1].objects or ()] == [o.box for o in many[1].objects or ()]
    assert not np.array_equal(few[0].image, few[1].image)
    assert not np.array_equal(few[0].image, scenes(1, seed=5)[0].image)


def test_writing_into_a_picture_does_not_change_the_scene() -> None:
    (scene,) = scenes(1, size=(240, 320))
    first = scene.image
    first[:] = 0
    assert scene.image.max() > 200


@pytest.mark.parametrize("size", SIZES)
def test_pictures_have_the_size_asked_for(size: tuple[int, int]) -> None:
    image = scenes(1, size=size)[0].image
    assert (image.shape, image.dtype, image.flags.c_contiguous) == ((*size, 3), np.uint8, True)


@pytest.mark.parametrize("size", SIZES)
def test_a_box_is_exactly_the_extent_of_its_mask(size: tuple[int, int]) -> None:
    for scene in scenes(8, seed=2, size=size):
        for thing in scene.objects or ():
            assert thing.mask is not None
            rows, columns = np.nonzero(thing.mask())
            extent = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
            assert tuple(int(v) for v in extent) == thing.box


@pytest.mark.parametrize("size", SIZES)
def test_objects_keep_fourteen_pixels_between_them_and_stay_in_the_picture(size: tuple[int, int]) -> None:
    for scene in scenes(60, seed=1, size=size):
        assert scene.objects is not None
        assert len(scene.objects) >= 3
        for a, b in combinations([o.box for o in scene.objects], 2):
            assert max(a[0] - b[2], b[0] - a[2], a[1] - b[3], b[1] - a[3]) >= 14
        for x1, y1, x2, y2 in (o.box for o in scene.objects):
            assert 0 <= x1 < x2 <= size[1]
            assert 0 <= y1 < y2 <= size[0]


def test_all_eight_classes_appear() -> None:
    seen = {thing.label for scene in scenes(30) for thing in scene.objects or ()}
    assert seen == {"person", "car", "bus", "truck", "bicycle", "dog", "traffic light", "stop sign"}


def test_nearer_cars_are_larger() -> None:
    cars = [o.box for scene in scenes(40) for o in scene.objects or () if o.label == "car"]
    feet, widths = np.array([(box[3], box[2] - box[0]) for box in cars]).T
    assert np.corrcoef(feet, widths)[0, 1] > 0.95


def test_no_scenes_and_tiny_pictures_are_refused() -> None:
    with pytest.raises(BadInput, match="street: 0 scenes; ask for at least 1"):
        scenes(0)
    with pytest.raises(BadInput, match="street: size is 100x640; each side must be at least 200 pixels"):
        scenes(1, size=(100, 640))
