"""What looks like the ground below somebody's feet is ground; a wall of another colour is none."""

from __future__ import annotations

import numpy as np

from instar.imaging.ground import ground_like, standing_places


def street() -> np.ndarray:
    picture = np.repeat([(150, 190, 235), (95, 95, 95)], 120, axis=0)[:, None].repeat(320, axis=1)
    noise = np.random.default_rng(0).normal(0, 4, (240, 320, 1))
    return np.clip(picture + noise, 0, 255).astype(np.uint8)


def test_the_road_is_ground_and_the_sky_is_not() -> None:
    ground = ground_like(street(), [(100, 181, 140, 190)])
    assert ground[130:].mean() > 0.95
    assert ground[:110].mean() < 0.05


def test_neither_a_dark_edge_nor_a_shadow_at_the_feet_hides_the_road() -> None:
    picture, thing = street(), (100, 100, 140, 180)
    picture[100:183, 100:140] = 10
    strip = [(104.0, 181.0, 136.0, 192.0)]
    assert ground_like(picture, strip, [thing])[140:, 160:].mean() > 0.95
    assert ground_like(picture, [(104.0, 181.0, 136.0, 183.0)])[140:, 160:].mean() < 0.5


def test_what_is_not_joined_is_no_ground() -> None:
    picture = street()
    picture[20:40, 20:60] = picture[200:220, 20:60]  # a grey patch in the sky
    ground = ground_like(picture, [(100, 181, 140, 190)])
    assert not ground[22:38, 24:56].any()


def test_without_feet_there_is_no_ground() -> None:
    assert not ground_like(street(), []).any()


def test_feet_stand_where_the_strip_below_is_ground() -> None:
    ground = np.zeros((100, 100), np.bool_)
    ground[60:] = True
    places = standing_places(ground, (20, 10), 0, 0, (80, 90), least=0.9)
    assert not places[:39].any()
    assert places[42:].all()
