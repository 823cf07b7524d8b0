"""Holes are filled, and nothing outside of them changes."""

import numpy as np
import pytest

from instar.imaging.inpaint import migan, opencv


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


@pytest.mark.real
def test_mi_gan_fills_and_changes_nothing_else():
    from instar.zoo import fetch

    image, blotted, hole = gradient_with_a_blot()
    filled = migan(fetch("mi-gan")[0])(blotted, hole)
    np.testing.assert_array_equal(filled[~hole], blotted[~hole])
    assert np.abs(filled[hole].astype(int) - image[hole]).mean() < 40
