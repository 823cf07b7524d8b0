"""Tesseract finds the words of a page, and says so when it is not installed."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from instar.core.errors import BadInput
from instar.installation import MissingExtra
from instar.tasks.text.systems.tesseract import tesseract
from text_pictures import drawn_page, photograph


@pytest.fixture(scope="module")
def locator():
    return tesseract()


def test_it_reads_the_words_of_a_drawn_page_and_boxes_them_to_the_pixel(locator):
    (found,) = locator.predict([drawn_page()])
    assert found.texts == ("HARBOUR", "station", "Exit", "42")
    np.testing.assert_array_equal(found.quads[0], [[62, 53], [236, 53], [236, 83], [62, 83]])
    np.testing.assert_array_equal(found.quads[3], [[178, 225], [224, 225], [224, 260], [178, 260]])
    assert (found.scores >= 0.5).all()


def test_it_reads_the_lit_part_of_a_photographed_page(locator):
    (found,) = locator.predict([photograph("page")])
    words = [
        "segmentation",
        "markers",
        "coins",
        "pixels",
        "label",
        "object",
        "background.",
        "extreme",
        "parts",
    ]
    assert set(words) <= set(found.texts)


def test_nothing_in_an_empty_picture(locator):
    (found,) = locator.predict([np.full((60, 80, 3), 200, np.uint8)])
    assert (found.quads.shape, found.texts, found.scores.shape) == ((0, 4, 2), (), (0,))


def test_words_that_it_is_not_sure_of_are_reported_on_demand(locator):
    (found,) = tesseract(least_score=0).predict([drawn_page()])
    assert len(found) == 5
    assert found.scores.min() < 0.5


def test_the_answer_does_not_depend_on_the_pictures_before(locator):
    (first,) = locator.predict([drawn_page()])
    for _ in range(3):
        locator.predict([photograph("page")])
    (last,) = locator.predict([drawn_page()])
    assert first.texts == last.texts
    np.testing.assert_array_equal(first.scores, last.scores)


def test_the_fingerprint_names_version_weights_and_settings(locator):
    assert locator.fingerprint.startswith("tesseract 5.")
    assert locator.fingerprint.endswith(" psm=11 weights=7d4322bd2a774972 least_score=0.5 dpi=70 decoder=1")
    assert tesseract(least_score=0.6).fingerprint != locator.fingerprint


def test_a_bad_setting_is_named():
    with pytest.raises(BadInput, match="tesseract: least_score is -1; it must be a number between 0 and 1"):
        tesseract(least_score=-1)


def test_without_tesserocr_the_extra_to_install_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "tesserocr", None)
    with pytest.raises(MissingExtra, match=r"tesseract needs tesserocr, .* pip install .*\[text\]'"):
        tesseract()
