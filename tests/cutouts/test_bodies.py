from __future__ import annotations

import numpy as np
import pytest

from instar.cutouts.extraction import is_part_of_a_body, stands_whole


def figure(*, legs: bool, height: int = 120, width: int = 40) -> np.ndarray:
    """A trunk, and below it two legs or none."""
    mask = np.zeros((200, 200), bool)
    mask[40 : 40 + height, 80 : 80 + width] = True
    if legs:
        mask[40 + 2 * height // 3 : 40 + height, 80 + width // 3 : 80 + 2 * width // 3] = False
    return mask


@pytest.mark.parametrize(
    ("mask", "label", "part"),
    [
        (figure(legs=True), "person", False),
        (figure(legs=False), "person", False),  # so slender that its legs may be one
        (figure(legs=False, height=80), "person", True),  # a bust
        (figure(legs=True, height=80), "person", False),
        (figure(legs=True, height=60), "person", True),  # sits or bends down
        (figure(legs=True, height=60), "dog", False),
        (figure(legs=False, height=60), "dog", True),
        (figure(legs=False, height=60), "bottle", False),
        (np.zeros((9, 9), bool), "person", False),
    ],
)
def test_bodies_stand_on_feet(mask: np.ndarray, label: str, part: bool) -> None:
    assert is_part_of_a_body(mask, label) is part


def test_only_upright_classes_have_a_least_height() -> None:
    assert stands_whole("person", [1.7, 1.8]).tolist() == [False, True]
    assert stands_whole("car", [0.2]).tolist() == [True]
