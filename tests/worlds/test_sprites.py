from __future__ import annotations

import colorsys
from itertools import combinations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.worlds.sprites import OUTLINE, SPRITE_COLOURS, draw_sprite


def aspects(label: str) -> tuple[int, int]:
    return {"person": (58, 24), "traffic light": (58, 27), "bicycle": (36, 56), "dog": (34, 46)}.get(
        label, (40, 40)
    )


@pytest.mark.parametrize("label", SPRITE_COLOURS)
@given(zoom=st.floats(1, 4), mirrored=st.booleans())
@settings(max_examples=15, deadline=None)
def test_the_mask_reaches_all_four_sides_of_its_size(label: str, zoom: float, mirrored: bool) -> None:
    height, width = (round(side * zoom) for side in aspects(label))
    mask = draw_sprite(label, (height, width), mirrored=mirrored).mask
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    assert (rows[0], rows[-1], columns[0], columns[-1]) == (0, height - 1, 0, width - 1)


@pytest.mark.parametrize("label", SPRITE_COLOURS)
def test_one_connected_piece_of_the_interior_reaches_the_outline_on_all_sides(label: str) -> None:
    height, width = aspects(label)
    sprite = draw_sprite(label, (height, width))
    vivid = (np.ptp(sprite.pixels.astype(int), axis=2) > 100).astype(np.uint8)
    _, _, stats, _ = cv2.connectedComponentsWithStats(vivid, connectivity=4)
    extents = stats[1:, :4].tolist()
    assert [OUTLINE, OUTLINE, width - 2 * OUTLINE, height - 2 * OUTLINE] in extents


def test_no_two_classes_have_hues_closer_than_twenty_degrees() -> None:
    hues = [360 * colorsys.rgb_to_hsv(*(c / 255 for c in colour))[0] for colour in SPRITE_COLOURS.values()]
    apart = [min(abs(a - b), 360 - abs(a - b)) for a, b in combinations(hues, 2)]
    assert min(apart) > 20


def test_a_mirrored_sprite_is_the_sprite_seen_in_a_mirror() -> None:
    plain, mirrored = draw_sprite("dog", (50, 68)), draw_sprite("dog", (50, 68), mirrored=True)
    assert (plain.mask != mirrored.mask[:, ::-1]).mean() < 0.01
    assert (plain.mask != mirrored.mask).mean() > 0.05
