"""A car in another colour keeps its light, shade and outline, and is of that colour."""

import numpy as np
import pytest

from instar.tasks.driving.colours import PAINTS, colour_of, repaint


def car():
    """A grey car with dark windows and tyres, lighter towards its top."""
    pixels = np.zeros((60, 100, 4), np.uint8)
    pixels[10:55, 5:95] = (120, 122, 125, 255)
    pixels[24:55, 5:95, :3] = 105
    pixels[12:24, 20:80, :3] = 30
    pixels[48:58, 15:30] = pixels[48:58, 70:85] = (20, 20, 20, 255)
    return pixels


@pytest.mark.parametrize("colour", PAINTS)
def test_a_car_is_painted_in_every_colour_that_a_sentence_can_say(colour):
    painted = repaint(car(), colour)
    assert painted is not None
    assert colour_of(painted[..., :3], painted[..., 3] >= 128) == colour
    assert np.array_equal(painted[..., 3], car()[..., 3])
    assert painted[14:22, 22:78, :3].max() <= 45, "windows stay dark"
    assert painted[50:57, 17:28, :3].max() <= 45, "and so do tyres"


def test_glass_that_mirrors_a_sky_of_the_car_s_own_colour_is_not_painted():
    pixels = car()
    pixels[14:26, 20:80, :3] = (122, 124, 127)
    painted = repaint(pixels, "red")
    assert np.array_equal(painted[17:24, 30:70], pixels[17:24, 30:70])
    assert painted[11, 50, 0] > painted[11, 50, 1] + 60, "but the roof above it is"


def test_what_has_no_colour_of_paint_is_left_alone():
    assert repaint(car(), "purple") is None
    assert repaint(np.zeros((9, 9, 4), np.uint8), "red") is None
