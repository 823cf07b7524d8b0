"""CRAFT: words from maps written by hand and, with torch, from a drawn page."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from instar.core.errors import BadInput
from instar.installation import MissingExtra
from instar.tasks.text.polygons import quad_iou
from instar.tasks.text.systems.craft import craft, find_words
from text_pictures import drawn_page


def a_map(*pieces, size=(60, 120)):
    scores = np.zeros(size, np.float32)
    for x1, y1, x2, y2, score in pieces:
        scores[y1:y2, x1:x2] = score
    return scores


CHARACTERS = a_map((20, 20, 30, 30, 0.9), (34, 20, 44, 30, 0.8))
LINK = a_map((28, 22, 36, 28, 0.6))


def test_linked_characters_are_one_word_and_its_rectangle_grows_by_a_fifth_of_its_height():
    quads, scores = find_words(CHARACTERS, LINK, least_score=0.7)
    np.testing.assert_allclose(quads, [[[18, 18], [46, 18], [46, 32], [18, 32]]], atol=1e-3)
    np.testing.assert_allclose(scores, [0.9])


def test_characters_without_a_link_are_two_words():
    quads, scores = find_words(CHARACTERS, np.zeros_like(LINK), least_score=0.7)
    assert sorted(quads[:, 0, 0].tolist()) == pytest.approx([18, 32])
    assert sorted(scores.tolist()) == pytest.approx([0.8, 0.9])


def test_what_links_but_is_no_character_is_not_part_of_the_rectangle():
    beyond = a_map((28, 22, 36, 28, 0.6), (44, 24, 60, 26, 0.6))
    quads, _ = find_words(CHARACTERS, beyond, least_score=0.7)
    np.testing.assert_allclose(quads, [[[18, 18], [46, 18], [46, 32], [18, 32]]], atol=1e-3)


def test_words_without_a_sure_character_and_specks_are_left_out():
    region = a_map((20, 20, 30, 30, 0.6), (60, 20, 62, 22, 0.9))
    quads, scores = find_words(region, np.zeros_like(region), least_score=0.7)
    assert (quads.shape, scores.shape) == ((0, 4, 2), (0,))


def test_a_score_is_never_above_one():
    _, scores = find_words(a_map((20, 20, 30, 30, 1.2)), a_map(), least_score=0.7)
    assert scores.tolist() == [1.0]


def test_without_torch_the_extra_to_install_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "instar.tasks.text.systems.craft_network", raising=False)
    monkeypatch.delattr("instar.tasks.text.systems.craft_network", raising=False)
    with pytest.raises(MissingExtra, match=r"craft needs torch, .* pip install .*\[torch\]'"):
        craft()


@pytest.fixture(scope="module")
def locator():
    return craft(limit_side=576)


@pytest.mark.real
def test_it_finds_the_words_of_a_drawn_page(locator):
    (found,) = locator.predict([drawn_page()])
    # HARBOUR, station, Exit, 42, market: seen on a drawing and found right.
    expected = [
        [(59, 48), (241, 48), (241, 88), (59, 88)],
        [(329, 60), (460, 60), (460, 100), (329, 100)],
        [(95, 199), (168, 213), (161, 253), (88, 239)],
        [(181, 220), (232, 229), (225, 266), (174, 257)],
        [(348, 237), (472, 177), (487, 210), (363, 269)],
    ]
    np.testing.assert_allclose(found.quads, expected, atol=2)
    assert (found.texts, found.scores.shape) == (None, (5,))


@pytest.mark.real
def test_turning_the_page_by_a_half_finds_the_same_words(locator):
    upright, turned = locator.predict([drawn_page(), np.ascontiguousarray(drawn_page()[::-1, ::-1])])
    back = np.float32([560, 320]) - turned.quads
    assert len(upright) == len(turned) == 5
    assert quad_iou(upright.quads, back).max(axis=1).min() > 0.5


@pytest.mark.real
def test_it_leaves_the_number_of_threads_of_torch_alone(locator):
    import torch

    before = torch.get_num_threads()
    locator.predict([drawn_page()[:64, :64]])
    assert torch.get_num_threads() == before


@pytest.mark.real
def test_the_fingerprint_tells_settings_apart_and_bad_ones_are_named(locator):
    assert locator.fingerprint.startswith(
        "craft weights=4a5efbfb48b40811 limit=max 576 least_score=0.7 threads=1 decoder=1 torch="
    )
    assert craft(limit_side=576, threads=2).fingerprint != locator.fingerprint
    with pytest.raises(BadInput, match="craft: threads is 0; it must be a whole number of at least 1"):
        craft(threads=0)
    with pytest.raises(BadInput, match="craft: device 'tpu' is not there; it is cpu, or cuda"):
        craft(device="tpu")
