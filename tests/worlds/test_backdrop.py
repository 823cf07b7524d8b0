from __future__ import annotations

import numpy as np
import pytest

from instar.worlds.backdrop import draw_backdrop
from instar.worlds.perspective import StreetCamera


@pytest.mark.parametrize("seed", range(12))
def test_the_empty_street_has_no_colour_that_an_object_could_have(seed: int) -> None:
    picture = draw_backdrop((240, 320), StreetCamera.over((240, 320)), np.random.default_rng(seed))
    assert np.ptp(picture.astype(int), axis=2).max() <= 52


def test_parallel_lines_of_the_street_meet_in_the_vanishing_point() -> None:
    camera = StreetCamera.over((480, 640), sway=0.05)
    left, right = camera.project(-4.0, 0.0, 1e7), camera.project(4.0, 0.0, 1e7)
    np.testing.assert_allclose([left, right], [[352.0, 201.6], [352.0, 201.6]], atol=1e-3)


def test_the_depth_of_a_row_is_where_the_ground_appears_in_it() -> None:
    camera = StreetCamera.over((480, 640))
    assert camera.project(0.0, 0.0, camera.depth(333.0))[1] == pytest.approx(333.0)
