"""Holes are filled, and nothing outside of them changes."""

import cv2
import numpy as np
import pytest

from instar.imaging.inpaint import RADIUS, migan, opencv


def gradient_with_a_blot():
    rows, columns = np.mgrid[0:96, 0:128]
    image = np.dstack([rows * 2, columns, 255 - columns]).astype(np.uint8)
    hole = np.zeros((96, 128), bool)
    hole[30:50, 40:70] = True
    blotted = image.copy()
    blotted[hole] = (255, 0, 0)
    return image, blotted, hole


@pytest.mark.parametrize("how", ["telea", "navier-stokes"])
def test_opencv_fills_from_the_surroundings(how):
    image, blotted, hole = gradient_with_a_blot()
    filled = opencv(how)(blotted, hole)
    np.testing.assert_array_equal(filled[~hole], blotted[~hole])
    assert np.abs(filled[hole].astype(int) - image[hole]).mean() < 12


@pytest.mark.parametrize("how", ["telea", "navier-stokes"])
def test_a_hole_is_filled_as_if_the_whole_picture_were_looked_at(how):
    rng = np.random.default_rng(0)
    method = {"telea": cv2.INPAINT_TELEA, "navier-stokes": cv2.INPAINT_NS}[how]
    for _ in range(12):
        image, hole = rng.integers(0, 256, (90, 120, 3), np.uint8), np.zeros((90, 120), np.uint8)
        centre = (int(rng.integers(0, 120)), int(rng.integers(0, 90)))
        cv2.ellipse(hole, centre, (int(rng.integers(3, 30)), int(rng.integers(3, 30))), 30, 0, 360, 1, -1)
        whole = np.where(hole[..., None] > 0, cv2.inpaint(image, hole, RADIUS, method), image)
        np.testing.assert_array_equal(opencv(how)(image, hole > 0), whole)


def test_nothing_is_filled_where_there_is_no_hole():
    image, _, hole = gradient_with_a_blot()
    np.testing.assert_array_equal(opencv()(image, np.zeros_like(hole)), image)


@pytest.mark.real
def test_mi_gan_fills_and_changes_nothing_else():
    from instar.zoo import fetch

    image, blotted, hole = gradient_with_a_blot()
    filled = migan(fetch("mi-gan")[0])(blotted, hole)
    np.testing.assert_array_equal(filled[~hole], blotted[~hole])
    assert np.abs(filled[hole].astype(int) - image[hole]).mean() < 40
