from __future__ import annotations

import numpy as np
import pytest

from instar.imaging.labels import LabelMap
from instar.worlds.street import scenes


@pytest.mark.parametrize("index", range(6))
def test_every_object_is_labelled_exactly_where_it_is_drawn(index: int) -> None:
    scene = scenes(6, seed=3)[index]
    labels: LabelMap = scene.knowledge["labels"]()
    assert labels.ids.shape == scene.image.shape[:2]
    for thing in scene.objects or ():
        name = {"dog": "animal", "stop sign": "traffic sign"}.get(thing.label, thing.label)
        assert thing.mask is not None
        assert labels.mask([name])[thing.mask()].all()


def test_labels_do_not_change_what_is_drawn() -> None:
    before = scenes(1, seed=5)[0].image
    scenes(1, seed=5)[0].knowledge["labels"]()
    np.testing.assert_array_equal(scenes(1, seed=5)[0].image, before)


@pytest.mark.parametrize("index", range(6))
def test_lines_are_lighter_than_the_road_they_lie_on(index: int) -> None:
    scene = scenes(6, seed=1)[index]
    labels: LabelMap = scene.knowledge["labels"]()
    grey = scene.image.mean(axis=2)
    assert grey[labels.mask(["line"])].mean() - grey[labels.mask(["road"])].mean() > 30


def test_the_street_lies_below_its_horizon_and_the_sky_above() -> None:
    labels: LabelMap = scenes(1)[0].knowledge["labels"]()
    horizon = round(0.42 * labels.ids.shape[0])
    assert not labels.mask(["road", "line", "sidewalk"])[: horizon - 2].any()
    assert not labels.mask(["sky"])[horizon + 8 :].any()
    assert labels.mask(["road"])[-1].mean() > 0.3
