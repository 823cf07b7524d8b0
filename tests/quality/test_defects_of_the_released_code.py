"""The defects of MetaOD's released code, each with a test that would catch it here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from instar import Status
from instar.core.scene import Scene, SceneObject
from instar.core.workspace import no_progress
from instar.cutouts import Pool, build_pool, free_places, one_of, ring_around
from instar.cutouts.extraction import cut_by_mask
from instar.cutouts.pool import CutOut
from instar.imaging.average_hash import hamming, majority
from instar.imaging.paste import pasted
from instar.store.answers import decode_answer, encode_answer
from instar.tasks.detection import Detections, map_equal, same_objects
from instar.tasks.detection.answers import read


def test_pure_white_pixels_stay_opaque() -> None:
    image = np.full((40, 40, 3), 255, np.uint8)
    mask = np.zeros((40, 40), bool)
    mask[10:30, 10:30] = True
    cutout = cut_by_mask(image, mask)
    assert cutout is not None
    assert (cutout == 255).all()
    dark = np.zeros((60, 60, 3), np.uint8)
    assert (pasted(dark, cutout, 5, 5, "hard")[5:25, 5:25] == 255).all()


def test_what_is_pruned_is_told_by_area_and_not_by_the_bytes_of_a_file(tmp_path: Path) -> None:
    def scene(name: str, image: np.ndarray, side: int) -> Scene:
        mask = np.zeros((200, 200), bool)
        mask[50 : 50 + side, 50 : 50 + side] = True
        return Scene.of(name, image, (SceneObject("box", (50, 50, 50 + side, 50 + side), lambda: mask),))

    noise = np.random.default_rng(0).integers(0, 256, (200, 200, 3), np.uint8)
    scenes = [
        scene("large and flat", np.zeros((200, 200, 3), np.uint8), 90),
        scene("small and busy", noise, 40),
    ]
    pool = build_pool(scenes, tmp_path / "p", find_objects=lambda image: (), progress=no_progress, least=1)
    assert [cutout.scene for cutout in pool.cutouts] == ["large and flat"]


def test_the_mean_of_hashes_one_bit_apart_is_no_bits_away_but_their_majority_is_near() -> None:
    hashes = [1 << 63, (1 << 63) | 1, (1 << 63) | 2]
    assert majority(hashes) == 1 << 63
    assert hamming(np.array(hashes, np.uint64), majority(hashes)).max() == 1


def of(name: str, label: str, scene: str) -> CutOut:
    return CutOut(name, label, scene, 30, 30, 900, 0)


def test_a_cut_out_never_goes_into_its_own_picture(tmp_path: Path) -> None:
    pool = Pool(tmp_path, [of("a", "car", "here.jpg")])
    assert pool.nearest_few("car", 0, not_from="here.jpg", most=1) == ()
    assert pool.nearest_few("car", 0, not_from="there.jpg", most=1) != ()


def test_a_carrot_is_no_car(tmp_path: Path) -> None:
    pool = Pool(tmp_path, [of("a", "carrot", "x.jpg")])
    assert pool.nearest_few("car", 0, not_from="", most=1) == ()
    carrot = Detections(np.float32([[0, 0, 9, 9]]), ("carrot",), np.float32([0.9]))
    car = Detections(np.float32([[0, 0, 9, 9]]), ("car",), np.float32([0.9]))
    for oracle in (map_equal, same_objects):
        assert oracle(carrot, car).status is Status.VIOLATED


def test_every_quadrant_around_an_anchor_gets_its_share_of_the_places() -> None:
    size, anchor = (20, 20), np.float32([90, 90, 110, 110])
    window = ring_around((200, 200), size, anchor)
    places = free_places(window, size, anchor[None])
    rng = np.random.default_rng(0)
    drawn = np.array([one_of(places, window, rng) for _ in range(4000)]) + 10 - 100
    right, below = drawn[:, 0] > 0, drawn[:, 1] > 0
    for quadrant in (right & below, right & ~below, ~right & below, ~right & ~below):
        assert quadrant.mean() == pytest.approx(0.25, abs=0.03)


def test_disjoint_boxes_score_nothing() -> None:
    one = Detections(np.float32([[0, 0, 10, 40]]), ("dog",), np.float32([0.9]))
    # Read as x1, x2, y1, y2 these two would overlap.
    other = Detections(np.float32([[0, 50, 10, 90]]), ("dog",), np.float32([0.9]))
    assert map_equal(one, other).evidence["mAP"] == 0.0
    assert same_objects(one, other).status is Status.VIOLATED


def test_a_score_written_with_an_exponent_keeps_its_exponent() -> None:
    image = np.zeros((50, 50, 3), np.uint8)
    scores = [5e-05, 0.9]
    answer = read(image, {"boxes": [[0, 0, 9, 9], [20, 20, 40, 40]], "labels": ["a", "b"], "scores": scores})
    stored = decode_answer(encode_answer(answer))
    np.testing.assert_array_equal(stored.scores, np.float32(scores))
    assert stored.confident().labels == ("b",)
