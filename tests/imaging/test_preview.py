"""Pictures for pages."""

import numpy as np

from instar.imaging.preview import visible


def test_a_single_hot_pixel_of_a_fine_map_can_be_seen_and_a_coarse_map_stays():
    fine = np.zeros((224, 300), np.float32)
    fine[100, 200] = 1
    seen = visible(fine)
    assert np.count_nonzero(seen) == 25
    assert seen[98:103, 198:203].min() == 1
    coarse = np.eye(7, dtype=np.float32)
    np.testing.assert_array_equal(visible(coarse), coarse)
