"""Things of one class that hang together are several, and one thing is one."""

import cv2
import numpy as np
import pytest

from instar.tasks.driving.several import is_several

ROWS, COLUMNS = np.mgrid[0:60, 0:100]


def walker(mask, x, height, feet=95):
    """A head above shoulders, and legs."""
    top, half = feet - height, round(0.12 * height)
    cv2.circle(mask, (x, top + half), round(0.6 * half), 1, -1)
    cv2.rectangle(mask, (x - half, top + round(1.5 * half)), (x + half, feet), 1, -1)
    return mask


def test_cars_one_behind_the_other_are_several_and_a_car_is_one():
    row = (ROWS > 20 - 0.1 * COLUMNS) & (ROWS < 58 - 0.45 * COLUMNS) | (COLUMNS > 97)
    assert is_several(row, vehicle=True)
    assert not is_several((ROWS > 8) & (ROWS < 52 + 0.06 * COLUMNS), vehicle=True)
    roofs = (ROWS > 20) & ((COLUMNS < 55) | (ROWS > 30)) | (ROWS > 22) & (COLUMNS > 70)
    assert is_several(roofs, vehicle=True)


@pytest.mark.parametrize("height", [40, 80])
def test_two_people_side_by_side_are_several_and_one_is_not(height):
    one = walker(np.zeros((100, 120), np.uint8), 40, height)
    assert not is_several(one > 0, vehicle=False)
    assert is_several(walker(one, 40 + round(0.3 * height), round(0.95 * height)) > 0, vehicle=False)
