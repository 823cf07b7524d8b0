"""Sharpness, grain and cast are measured as they were made, and a cut-out gets them."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from instar.imaging.harmony import (
    _percentile,
    blurred,
    cast_of,
    edge_width,
    edges_and_grain,
    grain_of,
    grained,
    shaded,
    shaded_below,
    tinted,
)


def edges(sigma: float) -> np.ndarray:
    picture = np.full((160, 160, 3), 60, np.uint8)
    picture[:, 40:80] = picture[:, 120:] = 200
    return cv2.GaussianBlur(picture, (0, 0), sigma)


def cut_out() -> np.ndarray:
    return np.dstack([edges(0.5), np.full((160, 160), 255, np.uint8)])


@pytest.mark.parametrize("sigma", [1.2, 1.5, 2.5])
def test_the_softness_of_edges_is_measured(sigma: float) -> None:
    assert edge_width(edges(sigma)) == pytest.approx(sigma, rel=0.25)


def test_softness_does_not_depend_on_where_the_picture_lies_in_memory() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        picture = rng.integers(0, 256, (76, 40, 3), dtype=np.uint8)
        memory, widths, held = np.empty(picture.size + 64, np.uint8), set(), []
        for start in range(0, 64, 4):
            held.append(
                np.empty(16 * start + 8, np.uint8)
            )  # so that what is made on the way lies elsewhere too
            placed = memory[start : start + picture.size].reshape(picture.shape)
            placed[...] = picture
            widths.add(edge_width(cv2.GaussianBlur(placed, (0, 0), 1.3).astype(np.uint8)))
        assert len(widths) == 1


def test_a_cut_out_becomes_as_soft_as_it_should() -> None:
    crisp = cut_out()
    soft = blurred(crisp, 1.5)
    assert edge_width(soft[..., :3]) == pytest.approx(np.hypot(edge_width(crisp[..., :3]), 1.5), rel=0.25)
    assert soft.shape == crisp.shape
    assert blurred(crisp, 0.0) is crisp


def test_edges_and_grain_are_those_that_are_measured_alone() -> None:
    rng = np.random.default_rng(2)
    for size in ((40, 50), (76, 40), (200, 160)):
        for channels in (3, 4):
            picture = cv2.GaussianBlur(rng.integers(0, 256, (*size, channels), np.uint8), (0, 0), 1.2)
            picture[..., 3:] = 255
            assert edges_and_grain(picture) == (edge_width(picture), grain_of(picture))


@pytest.mark.parametrize("least", [-np.inf, 0.0, 30.0, 59.5, 80.0, 200.0])
def test_a_percentile_is_that_of_numpy_and_no_less_than_the_least(least: float) -> None:
    rng = np.random.default_rng(3)
    for count in (1, 2, 30, 31, 500, 501):
        values = rng.uniform(0, 100, count).astype(np.float32)
        for per_cent in (0, 50, 85, 100):
            expected = max(float(np.percentile(values, per_cent)), least)
            assert _percentile(values, per_cent, least=least) == expected


@pytest.mark.parametrize("level", [2.0, 5.0, 10.0])
def test_grain_is_measured_as_it_was_made(level: float) -> None:
    flat = np.dstack([np.full((160, 160, 3), 128, np.uint8), np.full((160, 160), 255, np.uint8)])
    assert grain_of(grained(flat, level, seed=1)) == pytest.approx(level, rel=0.2)
    assert grain_of(flat) == 0


def test_the_same_seed_gives_the_same_grain() -> None:
    assert (grained(cut_out(), 5.0, seed=3) == grained(cut_out(), 5.0, seed=3)).all()
    assert (grained(cut_out(), 5.0, seed=3) != grained(cut_out(), 5.0, seed=4)).any()


def test_a_cast_is_seen_and_given() -> None:
    warm = np.full((8, 8, 3), (130, 120, 110), np.uint8)
    red, green, blue = cast_of(warm)
    assert red > green > blue
    piece = np.full((4, 4, 4), (100, 100, 100, 255), np.uint8)
    assert tinted(piece, (1.1, 1.0, 0.9))[0, 0].tolist() == [110, 100, 90, 255]


def test_a_shadow_stays_within_the_lower_end_of_its_box() -> None:
    light = np.full((100, 100, 3), 200, np.uint8)
    dark = shaded(light, (20, 10, 60, 90), 0.5, 0.2)
    changed = np.argwhere((dark != light).any(axis=2))
    assert changed.min(axis=0).tolist() >= [82, 20]
    assert changed.max(axis=0).tolist() <= [89, 59]
    assert dark.min() < 130


def test_the_ground_between_wheels_is_dark_even_where_one_stands_higher() -> None:
    light = np.full((100, 100, 3), 200, np.uint8)
    car = np.zeros((40, 60, 4), np.uint8)
    car[:30] = 255
    car[30:35, 4:12] = car[30:40, 48:56] = 255  # the wheel on the left is farther away
    dark = shaded_below(light, car, 20, 50, 0.8)
    changed = np.argwhere((dark != light).any(axis=2))
    assert changed.min(axis=0).tolist() >= [65, 20]
    assert changed.max(axis=0).tolist() <= [89, 79]
    assert dark[82, 50, 0] < 100, "between the wheels"
    assert dark[89, 22, 0] == 200, "below the wheel that stands higher"
    assert shaded_below(light, car, 20, 50, 0.0) is light
