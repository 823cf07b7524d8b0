from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.imaging.paste import BLENDS, Blend, pasted, resized, toned

GREY = np.full((60, 80, 3), 100, np.uint8)


def disc(side: int = 20, colour: tuple[int, int, int] = (255, 255, 255)) -> np.ndarray:
    """A round cut-out; what is transparent has a glaring colour, which must never show."""
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    inside = np.hypot(x, y) < side / 2
    cutout = np.zeros((side, side, 4), np.uint8)
    cutout[..., :3] = np.where(inside[..., None], colour, (0, 255, 0))
    cutout[..., 3] = np.where(inside, 255, 0)
    return cutout


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(0, 40), st.sampled_from(BLENDS))
def test_nothing_outside_the_silhouette_changes(x: int, y: int, blend: Blend) -> None:
    image = np.random.default_rng(0).integers(0, 256, (60, 80, 3), np.uint8)
    kept = image.copy()
    result = pasted(image, disc(), x, y, blend)
    np.testing.assert_array_equal(image, kept)
    changed = (result != image).any(axis=2)
    silhouette = np.zeros((60, 80), bool)
    silhouette[y : y + 20, x : x + 20] = disc()[..., 3] > 0
    assert not (changed & ~silhouette).any()


def test_hard_pasting_gives_exactly_the_pixels_of_the_cut_out() -> None:
    result = pasted(GREY, disc(colour=(10, 20, 30)), 5, 7, "hard")
    inside = disc()[..., 3] > 0
    np.testing.assert_array_equal(result[7:27, 5:25][inside], np.full((inside.sum(), 3), (10, 20, 30)))


@pytest.mark.parametrize("blend", ["hard", "feather"])
def test_pure_white_pixels_stay_opaque(blend: Blend) -> None:
    result = pasted(GREY, disc(), 5, 7, blend)
    assert result[17, 15].tolist() == [255, 255, 255]


def test_feathering_softens_the_edge_without_a_halo() -> None:
    row = pasted(GREY, disc(colour=(200, 200, 200)), 0, 0, "feather")[10, :10, 1].tolist()
    assert row == sorted(row)  # no green of the transparent pixels, no step back
    assert row[0] < 140
    assert row[4] == 200


def test_poisson_takes_the_light_of_the_surroundings() -> None:
    result = pasted(GREY, disc(colour=(240, 240, 240)), 30, 20, "poisson")
    assert abs(int(result[30, 40, 0]) - 100) < 10


@pytest.mark.parametrize(("x", "y"), [(-1, 0), (0, -1), (61, 0), (0, 41)])
def test_a_cut_out_that_would_stick_out_is_refused(x: int, y: int) -> None:
    with pytest.raises(ValueError, match="does not lie inside"):
        pasted(GREY, disc(), x, y, "hard")


@settings(deadline=None)
@given(st.integers(4, 60), st.integers(4, 60))
def test_no_colour_of_transparent_pixels_bleeds_into_a_resized_edge(width: int, height: int) -> None:
    small = resized(disc(colour=(200, 100, 40)), width, height)
    assert small.shape == (height, width, 4)
    visible = small[small[..., 3] >= 64]
    assert np.abs(visible[:, :3].astype(int) - (200, 100, 40)).max() <= 4


def test_the_size_it_has_already_changes_nothing() -> None:
    cutout = disc()
    assert resized(cutout, 20, 20) is cutout


def test_toning_multiplies_adds_and_leaves_alpha_alone() -> None:
    cutout = disc(colour=(10, 100, 240))
    result = toned(cutout, 1.5, -20.0)
    assert result[10, 10].tolist() == [0, 130, 255, 255]
    np.testing.assert_array_equal(result[..., 3], cutout[..., 3])


def test_without_saturation_all_channels_are_alike() -> None:
    result = toned(disc(colour=(10, 100, 240)), 1.0, 0.0, 0.0)
    assert np.ptp(result[..., :3], axis=2).max() == 0
    np.testing.assert_array_equal(result[..., 3], disc()[..., 3])
