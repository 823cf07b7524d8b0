"""Known smallest changes of planted text locators."""

from __future__ import annotations

import cv2
import numpy as np

import planted_text
from instar.campaigns.shrink import MOST_QUESTIONS, format_shrunk
from instar.core.search import draws
from instar.tasks.text import brightness_down, brightness_up, perspective, watermark
from instar.worlds import page
from planted_shrinking import every_violated, fails, shrunk_case

PAGES = page.scenes(6)
BRIGHTEST, DARKEST = 226, 120  # of the middle grey, from and to which words are lost


def all_shrunk(relation, system, *, search, pages=PAGES):
    for record, source in every_violated(pages, relation, system, search=search):
        found = shrunk_case(relation, system, record, source)
        assert found.complete
        assert found.questions <= MOST_QUESTIONS
        yield found, source, record


def loses_boxes_when_dark():
    def locate(image):
        found = planted_text.right(image)
        return planted_text._only(found, slice(1, None)) if np.median(image) <= DARKEST else found

    return planted_text.Locator("loses boxes when dark", locate)


def test_brightness_is_reduced_to_the_level_at_which_it_breaks():
    for relation, system, sign in [
        (brightness_up(), planted_text.loses_boxes_when_bright(), 1),
        (brightness_down(), loses_boxes_when_dark(), -1),
    ]:
        checked = 0
        for found, source, _ in all_shrunk(relation, system, search=draws(4)):
            middle = int(np.median(source.input))
            smallest = BRIGHTEST - middle if sign > 0 else middle - DARKEST
            # A grey level more, as JPEG takes one away, and the finding must recur under JPEG.
            assert smallest <= sign * found.change.levels <= smallest + 1
            assert format_shrunk(relation, found) == f"breaks at brightness {found.change.levels:+g}"
            checked += 1
        assert checked >= 1


def stretched(least):
    """A locator that loses its first box where the canvas shows a picture wider than so many pixels."""

    def locate(image):
        found = planted_text.right(image)
        shown = np.flatnonzero((image.max(axis=2) > 8).any(axis=0))
        return planted_text._only(found, slice(1, None)) if np.ptp(shown) + 1 >= least else found

    return planted_text.Locator("stretched", locate)


def test_a_perspective_is_reduced_to_one_corner_and_to_the_pixel():
    width = PAGES[0].image.shape[1]
    relation = perspective()
    checked = 0
    for found, _, _ in all_shrunk(relation, stretched(width + 20), search=draws(2), pages=PAGES[:3]):
        pushed = [push for push in found.change.pushed if any(push)]
        assert len(pushed) == 1
        assert 20 <= pushed[0][0] <= 22  # two for the black edge, where half a pixel is no picture
        checked += 1
    assert checked >= 3


def test_a_watermark_is_reduced_to_the_shortest_and_lowest_word_that_is_overlooked():
    """A locator that overlooks words of at least so many pixels, and knows all of the page itself."""
    relation = watermark(height=(20, 40))
    least = (60, 14)

    def locate(image):
        found = planted_text.right(image)
        sides = np.linalg.norm(found.quads - np.roll(found.quads, -1, axis=1), axis=2)
        large = (sides.max(axis=1) >= least[0]) & (sides.min(axis=1) >= least[1])
        new = np.array([cv2.contourArea(quad) > 0 and not known(quad) for quad in found.quads], np.bool_)
        return planted_text._only(found, ~(large & new))

    def known(quad):
        return any(np.abs(quad - own).max() < 8 for own in own_quads)

    own_quads = [quad for one in PAGES for quad in planted_text.right(one.image).quads]
    system = planted_text.Locator("overlooks words", locate)
    checked = 0
    for found, source, record in all_shrunk(relation, system, search=draws(2), pages=PAGES[:3]):
        lines = [line for line in relation.smaller(source, found.change) if line]
        less = [one for line in lines for one in (line[-1], *line[:-1:4])]
        assert not any(fails(relation, system, source, record, one) for one in less)
        assert format_shrunk(relation, found) == f"{found.change} suffices"
        checked += 1
    assert checked >= 3
