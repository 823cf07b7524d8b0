from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.imaging.average_hash import average_hash, hamming, majority

HASHES = st.integers(0, 2**64 - 1)


@settings(deadline=None)
@given(st.lists(HASHES, min_size=1, max_size=9))
def test_the_majority_is_what_most_have_bit_by_bit(hashes: list[int]) -> None:
    expected = 0
    for bit in range(64):
        votes = sum(h >> bit & 1 for h in hashes)
        expected |= (2 * votes > len(hashes)) << bit
    assert majority(hashes) == expected


@settings(deadline=None)
@given(HASHES, st.integers(0, 63), st.integers(0, 63))
def test_the_majority_of_hashes_one_bit_apart_is_at_most_one_bit_away(h: int, i: int, j: int) -> None:
    # The mean of the numbers is not: of 0b1000 and 0b0111 it would be far from both in bits.
    middle = majority([h, h ^ 1 << i, h ^ 1 << j])
    assert bin(middle ^ h).count("1") <= 1


@settings(deadline=None)
@given(st.lists(HASHES, max_size=9), HASHES)
def test_hamming_counts_differing_bits(hashes: list[int], reference: int) -> None:
    expected = [bin(h ^ reference).count("1") for h in hashes]
    assert hamming(np.array(hashes, np.uint64), reference).tolist() == expected


def test_bits_run_from_the_top_left_to_the_bottom_right() -> None:
    image = np.zeros((80, 160, 3), np.uint8)
    image[:10, :20] = 255
    assert average_hash(image) == 1 << 63
    image = np.zeros((80, 160, 3), np.uint8)
    image[-10:, -20:] = 255
    assert average_hash(image) == 1


def test_a_flat_picture_has_no_bright_cells_and_alpha_does_not_count() -> None:
    assert average_hash(np.full((9, 7, 3), 200, np.uint8)) == 0
    rng = np.random.default_rng(0)
    colours = rng.integers(0, 256, (32, 32, 3), np.uint8)
    some, none = (np.dstack([colours, np.full((32, 32), alpha, np.uint8)]) for alpha in (255, 0))
    assert average_hash(some) == average_hash(none) == average_hash(colours)
