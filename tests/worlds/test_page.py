"""Drawn pages are what they say they are."""

from __future__ import annotations

import numpy as np
import pytest

from instar.core.errors import BadInput
from instar.scenes import load_scenes
from instar.tasks.text.measures import delta
from instar.tasks.text.polygons import quad_iou
from instar.tasks.text.systems.page import page_exact
from instar.worlds.page import scenes


def outlines(scene):
    return np.stack([word.outline for word in scene.knowledge["words"]])


def test_a_page_is_the_same_for_the_same_seed_and_index():
    first, again, other = scenes(3), scenes(5), scenes(3, seed=1)
    assert all((a.image == b.image).all() for a, b in zip(first, again))
    assert not (first[0].image == other[0].image).all()


def test_what_is_known_is_where_the_ink_is():
    for scene in scenes(20):
        (found,) = page_exact().predict([scene.image])
        assert delta(quad_iou(outlines(scene), found.quads), eps=0.45) == 1.0


def test_objects_are_the_boxes_of_the_words():
    (scene,) = scenes(1)
    assert [thing.box for thing in scene.objects] == [word.box for word in scene.knowledge["words"]]
    assert all(word.text and not word.ignored for word in scene.knowledge["words"])


def test_a_reader_may_write_into_what_it_read():
    (scene,) = scenes(1)
    before = scene.image
    scene.image[:] = 0
    assert (scene.image == before).all()


@pytest.mark.parametrize("channel", range(3))
def test_some_words_show_in_one_channel_only(channel):
    alone = 0
    for scene in scenes(12):
        image = scene.image.astype(int)
        for word in scene.knowledge["words"]:
            x1, y1, x2, y2 = (round(value) for value in word.box)
            spread = np.ptp(image[y1:y2, x1:x2], axis=(0, 1))
            alone += bool(spread[channel] > 90 and np.delete(spread, channel).max() < 30)
    assert alone >= 3


def test_pages_can_be_named():
    assert [scene.id for scene in load_scenes("page:3:7", limit=2)] == ["page-0000", "page-0001"]


@pytest.mark.parametrize("spec", ["page:", "page:0", "page:x", "page:3:-1", "page:1:2:3"])
def test_a_senseless_number_of_pages_is_refused(spec):
    with pytest.raises(BadInput, match="expected page:N or page:N:SEED, such as page:20"):
        load_scenes(spec)


def test_pages_too_small_for_words_are_refused():
    with pytest.raises(BadInput, match="size is 100x100"):
        scenes(1, size=(100, 100))
    with pytest.raises(BadInput, match="0 scenes"):
        scenes(0)
