"""Points go through a homography exactly as pixels do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.core.frame import transform
from instar.imaging.warp import corners_of, homography, warped

pushes = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=4, max_size=4)


@given(pushes)
def test_the_corners_arrive_where_they_were_sent(pushed):
    start = corners_of((60, 90))
    end = start + np.array(pushed, np.float32) * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    assert transform(homography(start, end), start) == pytest.approx(end, abs=1e-3)


@given(pushes, st.integers(5, 60), st.integers(5, 40))
def test_a_bright_square_and_its_box_arrive_at_the_same_place(pushed, x, y):
    image = np.zeros((60, 90, 3), np.uint8)
    image[y : y + 10, x : x + 16] = 255
    box = np.array([[x, y], [x + 16, y], [x + 16, y + 10], [x, y + 10]], np.float32)
    start = corners_of((60, 90))
    end = start + 12 + np.array(pushed, np.float32) * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    matrix = homography(start, end)
    moved = warped(image, matrix, (84, 114))
    rows, columns = np.mgrid[:84, :114] + 0.5  # the centres of pixels
    weight = moved[..., 0] / 255
    centre = [(columns * weight).sum() / weight.sum(), (rows * weight).sum() / weight.sum()]
    # Of a small square the centre of mass stays within a fraction of a pixel of the corners' mean.
    assert centre == pytest.approx(transform(matrix, box).mean(axis=0), abs=0.35)


def test_a_shift_by_whole_pixels_moves_pixels_unchanged():
    image = np.random.default_rng(0).integers(0, 256, (20, 30, 3), np.uint8)
    moved = warped(image, np.array([[1.0, 0, 3], [0, 1, 5], [0, 0, 1]]), (30, 40))
    assert (moved[5:25, 3:33] == image).all()
    assert moved[:5].max() == moved[:, :3].max() == 0
