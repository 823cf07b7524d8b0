"""Cut out softly, an object brings its own colours and its shadow along, and nothing else."""

import numpy as np

from instar.imaging.holes import hole_of, thickness
from instar.imaging.matte import cut_softly, with_shadow
from instar.imaging.paste import pasted


def red_on_green():
    """A red square with an edge that is half red and half green, as a camera draws it, and its alpha."""
    alpha = np.zeros((60, 80), np.uint8)
    alpha[20:40, 30:50] = 128
    alpha[21:39, 31:49] = 255
    share = alpha[..., None] / 255
    image = np.rint(share * (200, 0, 0) + (1 - share) * (0, 180, 0)).astype(np.uint8)
    return image, alpha


def test_no_colour_of_the_old_surroundings_comes_along():
    image, alpha = red_on_green()
    cutout = cut_softly(image, alpha)
    assert cutout.shape == (20, 20, 4)
    assert cutout[cutout[..., 3] > 0][:, 1].max() == 0
    on_blue = pasted(np.full((60, 80, 3), (0, 0, 180), np.uint8), cutout, 5, 5, "hard")
    assert on_blue[..., 1].max() == 0


def test_an_empty_outline_cuts_nothing_out():
    image, alpha = red_on_green()
    assert cut_softly(image, np.zeros_like(alpha)) is None
    assert with_shadow(image, np.zeros_like(alpha), np.zeros(alpha.shape, bool)) is None


def test_the_shadow_at_its_feet_darkens_another_ground_and_nothing_else_does():
    image, alpha = red_on_green()
    image[40:43, 30:50] //= 2  # the contact shadow
    cutout, x, y = with_shadow(image, alpha, np.zeros(alpha.shape, bool))
    ground = np.full((60, 80, 3), 160, np.uint8)
    moved = pasted(ground, cutout, x, y, "hard")
    below, beside = moved[40, 40], moved[30, 54]
    assert 80 < below[0] < 150
    assert below[0] == below[1] == below[2]  # darker, without the colour of the old ground
    assert (beside == 160).all()


def test_even_ground_gives_no_shadow():
    image, alpha = red_on_green()
    cutout, x, y = with_shadow(image, alpha, np.zeros(alpha.shape, bool))
    moved = pasted(np.full((60, 80, 3), 160, np.uint8), cutout, x, y, "hard")
    assert (moved[40:] >= 158).all()


def test_a_hole_has_a_margin_and_reaches_farther_at_the_feet():
    alpha = np.zeros((100, 100), np.uint8)
    alpha[20:80, 40:60] = 255
    hole = hole_of(alpha)
    assert hole[alpha > 0].all()
    assert hole[85, 50]
    assert not hole[14, 50]
    assert hole[17, 50]
    assert not hole[50, 65]
    assert 10 <= thickness(hole) <= 14
    assert not hole_of(np.zeros_like(alpha)).any()
