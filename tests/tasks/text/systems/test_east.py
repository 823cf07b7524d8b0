"""EAST: its decoding on maps written by hand and, with its weights, its words."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from instar.core.errors import BadInput, FetchFailed
from instar.tasks.text.systems.east import east
from instar.zoo import fetch
from text_pictures import drawn_page

decoding = importlib.import_module("instar.tasks.text.systems.east")


def decoded(*cells, least_score=0.5, size=(30, 40)):
    """From (row, column, score, top, right, bottom, left, turn in degrees)."""
    scores, geometry = np.zeros(size, np.float32), np.zeros((5, *size), np.float32)
    for row, column, score, *distances, degrees in cells:
        scores[row, column] = score
        geometry[:, row, column] = [*distances, np.deg2rad(degrees)]
    return decoding._decode(scores, geometry, least_score)


def test_a_cell_says_how_far_its_edges_are():
    quads, scores = decoded((10, 20, 0.9, 4, 30, 6, 20, 0))
    np.testing.assert_allclose(quads, [[[60, 36], [110, 36], [110, 46], [60, 46]]], atol=1e-4)
    np.testing.assert_allclose(scores, [0.9])


def test_a_positive_turn_lifts_the_right_end():
    # A quarter turn: what was to the right is now above, what was above is to the left.
    quads, _ = decoded((10, 20, 0.9, 4, 30, 6, 20, 90))
    np.testing.assert_allclose(quads, [[[76, 60], [76, 10], [86, 10], [86, 60]]], atol=1e-4)


def test_of_overlapping_boxes_the_strongest_stays():
    quads, scores = decoded(
        (10, 20, 0.6, 4, 30, 6, 20, 0),
        (10, 21, 0.9, 4, 26, 6, 24, 0),
        (25, 20, 0.7, 4, 30, 6, 20, 0),
    )
    np.testing.assert_allclose(scores, [0.9, 0.7])
    np.testing.assert_allclose(quads[0], [[60, 36], [110, 36], [110, 46], [60, 46]], atol=1e-4)


def test_crossing_boxes_that_share_little_both_stay():
    assert len(decoded((10, 20, 0.9, 4, 50, 4, 50, 0), (10, 21, 0.8, 4, 50, 4, 50, 90))[0]) == 2


def test_weak_cells_are_left_out_and_nothing_found_keeps_the_shapes():
    quads, scores = decoded((10, 20, 0.4, 4, 30, 6, 20, 0))
    assert (quads.shape, scores.shape) == ((0, 4, 2), (0,))


def test_its_weights_are_not_fetched_by_themselves(tmp_path, monkeypatch):
    monkeypatch.setenv("INSTAR_MODELS", str(tmp_path))
    with pytest.raises(FetchFailed, match=r"east is under GPL-3.0 and .* run: instar models fetch east"):
        east()
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def weights():
    """As `instar models fetch east` gets them: whoever runs these tests has asked for them."""
    return fetch("east", demanded=True)


@pytest.mark.real
@pytest.mark.usefixtures("weights")
def test_it_finds_the_words_of_a_drawn_page():
    (found,) = east(limit_side=576).predict([drawn_page()])
    # HARBOUR, station, Exit, 42, market: seen on a drawing and found right.
    expected = [
        [(53, 52), (237, 49), (238, 84), (53, 87)],
        [(329, 63), (456, 60), (457, 93), (329, 96)],
        [(91, 204), (164, 206), (163, 245), (90, 243)],
        [(180, 223), (225, 222), (226, 255), (180, 256)],
        [(343, 238), (470, 176), (485, 207), (358, 269)],
    ]
    np.testing.assert_allclose(found.quads, expected, atol=2)
    assert (found.texts, found.scores.shape) == (None, (5,))


@pytest.mark.real
@pytest.mark.usefixtures("weights")
def test_the_fingerprint_tells_settings_apart_and_bad_ones_are_named():
    one = east()
    assert one.fingerprint.startswith(
        "east weights=9b486f3c3eee77b4 limit=max 1280 least_score=0.8 decoder=1 cv2="
    )
    assert len({one.fingerprint, east(limit_side=640).fingerprint, east(least_score=0.5).fingerprint}) == 3
    with pytest.raises(BadInput, match="east: limit_side is 0; it must be a whole number of at least 32"):
        east(limit_side=0)


@pytest.mark.real
@pytest.mark.usefixtures("weights")
def test_openvino_gives_the_same_boxes():
    pytest.importorskip("openvino", reason="the extra openvino is not installed; make test-real has it")
    by_opencv, by_openvino = (
        east(limit_side=576, engine=engine).predict([drawn_page()])[0] for engine in ("opencv", "openvino")
    )
    np.testing.assert_allclose(by_openvino.quads, by_opencv.quads, atol=0.01)
    np.testing.assert_allclose(by_openvino.scores, by_opencv.scores, atol=1e-3)


@pytest.mark.real
@pytest.mark.usefixtures("weights")
def test_an_engine_that_it_does_not_know_is_named():
    with pytest.raises(BadInput, match="engine"):
        east(engine="tensorrt")
