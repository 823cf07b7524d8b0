from __future__ import annotations

import numpy as np
import pytest

from instar.imaging.photometric import LightAverages, light_of, moved, relit

PICTURE = np.random.default_rng(0).integers(0, 256, (7, 9, 3), np.uint8)


@pytest.mark.parametrize("levels", [-2, -1, 0, 1, 2, 300])
def test_every_channel_changes_by_the_same_and_ends_at_black_and_white(levels: int) -> None:
    expected = np.clip(PICTURE.astype(int) + levels, 0, 255)
    np.testing.assert_array_equal(relit(PICTURE, 1, levels), expected)


@pytest.mark.parametrize(("dx", "dy"), [(1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (0, 0), (-2, 3)])
def test_a_moved_picture_repeats_its_edge(dx: int, dy: int) -> None:
    rows = np.clip(np.arange(7) - dy, 0, 6)
    columns = np.clip(np.arange(9) - dx, 0, 8)
    result = moved(PICTURE, dx, dy)
    np.testing.assert_array_equal(result, PICTURE[rows][:, columns])
    assert result.flags.c_contiguous


def test_only_opaque_pixels_of_a_cut_out_give_light() -> None:
    cutout = np.zeros((2, 2, 4), np.uint8)
    cutout[0, 0] = (100, 100, 130, 255)
    cutout[1, 1] = (250, 0, 0, 127)
    assert light_of(cutout) == LightAverages(mean=110.0, contrast=pytest.approx(200**0.5), chroma=30.0)
    assert light_of(np.zeros((3, 3, 4), np.uint8)) == LightAverages(127.5, 0.0, 0.0)


def test_large_pictures_are_sampled_evenly() -> None:
    image = np.zeros((640, 640, 3), np.uint8)
    image[:, 320:] = 200
    assert light_of(image) == LightAverages(100.0, 100.0, 0.0)
