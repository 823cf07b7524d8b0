"""Failing changes are shrunk to the least that fails."""

from __future__ import annotations

import numpy as np
import pytest

import instar
import planted_text
from instar import Observation, Status
from instar.core.search import shrink
from instar.imaging.lettering import drawn_word
from instar.tasks.text import Quads, brightness_up, channel_switch, perspective, watermark
from instar.tasks.text.changes import Brightness, Permutation, Perspective, Watermark
from instar.worlds.page import scenes

SOURCE = Observation.of(np.zeros((90, 160, 3), np.uint8), Quads(np.zeros((0, 4, 2), np.float32)), None)


def smaller(relation, change):
    return list(relation.smaller(SOURCE, change))


def shrunk(relation, change, system, page):
    """All changes of a shrinking search that are still violated."""
    records = instar.run([page], relation, system, search=shrink(change))
    return [r.change for r in records if r.role == "case" and r.verdict.status is Status.VIOLATED]


def test_brightness_is_a_line_of_levels_and_contrast_goes_first():
    (line,) = smaller(brightness_up(), Brightness(-100.0))
    assert [change.levels for change in line] == [-n for n in range(1, 100)]
    assert smaller(brightness_up(), Brightness(1.0)) == [[]]
    assert smaller(brightness_up(), Brightness(2.0, 1.5)) == [Brightness(2.0), [Brightness(1.0, 1.5)]]


def test_the_breaking_brightness_is_found_to_the_level():
    page = next(page for page in scenes(9) if 150 < np.median(page.image) < 200)
    system = planted_text.loses_boxes_when_bright()
    level = min(change.levels for change in shrunk(brightness_up(), Brightness(100.0), system, page))
    first = 226 - int(np.median(page.image))
    assert first <= level <= first + 2  # JPEG takes a level away, and under it the finding must recur too


def test_a_cycle_of_channels_shrinks_to_a_swap_and_a_swap_to_nothing():
    assert [change.order for change in smaller(channel_switch(), Permutation("gbr"))] == ["rbg", "grb", "bgr"]
    assert smaller(channel_switch(), Permutation("rbg")) == []


def test_corners_are_let_go_before_pushes_become_less():
    change = Perspective(160, 90, 50, ((8, 0), (0, 0), (20, 30), (0, 0)))
    first, other, line = smaller(perspective(), change)
    assert first.pushed == ((8, 0), (0, 0), (0, 0), (0, 0))
    assert other.pushed == ((0, 0), (0, 0), (20, 30), (0, 0))
    assert [max(one.pushed[2]) for one in line] == list(range(1, 30))
    assert line[14].pushed == ((4, 0), (0, 0), (10, 15), (0, 0))
    assert smaller(perspective(), Perspective(160, 90, 50, ((1, 1), (0, 0), (0, 0), (0, 0)))) == [[]]


def test_a_perspective_shrinks_to_one_pushed_corner_where_any_will_do():
    change = Perspective(480, 360, 50, ((40, 40), (30, 45), (48, 20), (33, 41)))
    (page,) = scenes(1)
    found = shrunk(perspective(), change, planted_text.forgets_to_scale_back(), page)
    assert min(sum(any(corner) for corner in one.pushed) for one in found) == 1


@pytest.mark.parametrize("word", ["Qjx,y", "WORDS", "AAAAAAAA"])
def test_a_shorter_word_stays_where_the_word_was(word):
    image = np.full((90, 400, 3), 200, np.uint8)
    height, width = drawn_word(word, 24).shape
    change = Watermark(word, 20, 30, width, height, 24, 0, "duplex")
    shorter, lower = smaller(watermark(), change)
    assert [one.text for one in shorter] == [word[:n] for n in range(4, len(word))]
    assert [one.size for one in lower] == [20, 21, 22, 23]
    for one in [*shorter, *lower]:
        assert one.width <= width
        assert one.height <= height
        touched = np.argwhere((one.apply(image) != image).any(axis=2))
        assert touched.min(axis=0).tolist() == [30, 20]
        assert (touched.max(axis=0) < [30 + one.height, 20 + one.width]).all()
