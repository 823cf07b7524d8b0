"""Which way a cut-out faces is told from its lamps: red ones are behind, amber ones in front."""

import numpy as np
import pytest

from instar.tasks.driving.facing import faces


def car(body, lamps=None, plate=None):
    """A car of one colour, with lamps at both sides and a plate in the middle."""
    pixels = np.full((60, 100, 4), 255, np.uint8)
    pixels[..., :3] = body
    if lamps is not None:
        pixels[25:33, 4:14, :3] = pixels[25:33, 86:96, :3] = lamps
    if plate is not None:
        pixels[44:49, 42:58, :3] = plate
    return pixels


@pytest.mark.parametrize(
    ("pixels", "away", "here"),
    [
        (car((130, 135, 140), lamps=(110, 30, 38)), True, False),
        (car((130, 135, 140), lamps=(220, 30, 30)), True, False),  # lit, or drawn
        (car((60, 62, 70), plate=(190, 160, 40)), True, False),
        (car((130, 135, 140), lamps=(240, 240, 235)), False, True),
        (car((60, 62, 70), lamps=(240, 130, 20)), False, True),  # indicators
        (car((170, 30, 40), lamps=(240, 240, 235)), False, True),  # red paint is no lamp
        (car((210, 180, 40)), False, True),  # nor is yellow paint a plate
    ],
)
def test_red_lamps_and_yellow_plates_are_behind(pixels, away, here):
    assert faces(pixels, "away") == away
    assert faces(pixels, "here") == here
