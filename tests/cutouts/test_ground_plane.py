"""Sizes of things that stand tell where the ground is."""

from __future__ import annotations

import pytest

from instar.cutouts.ground_plane import LevelGround, Standing, fit_ground_plane

TRUE = LevelGround(horizon=150.0, camera=1.6)


def things(*feet: float) -> list[Standing]:
    return [Standing(foot, TRUE.scale(foot)) for foot in feet]


def test_several_things_tell_the_plane() -> None:
    plane = fit_ground_plane(things(200, 300, 380), rows=400)
    for foot in (220, 350):
        assert plane.scale(foot) == pytest.approx(TRUE.scale(foot), rel=0.1)


def test_one_thing_is_enough_for_its_own_line() -> None:
    plane = fit_ground_plane(things(300), rows=400)
    assert plane.scale(300) == pytest.approx(TRUE.scale(300), rel=0.15)


def test_one_that_stands_on_a_balcony_moves_little() -> None:
    odd = Standing(foot=160, scale=120)
    plane = fit_ground_plane([*things(220, 300, 380), odd], rows=400)
    assert plane.scale(300) == pytest.approx(TRUE.scale(300), rel=0.15)
    assert not plane.fits(odd)
    assert plane.fits(things(300)[0])


def test_nothing_stands_above_the_horizon() -> None:
    assert TRUE.scale(149) == 0
    assert not TRUE.fits(Standing(149, 10))
