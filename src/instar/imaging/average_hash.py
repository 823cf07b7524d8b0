"""The 64-bit average hash: what a small picture looks like from afar."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image


def average_hash(image: Image) -> int:
    """64 bits, one per cell of an 8 x 8 grid: is it brighter than the mean?"""
    grey = cv2.cvtColor(np.ascontiguousarray(image[..., :3]), cv2.COLOR_RGB2GRAY)
    cells = cv2.resize(grey, (8, 8), interpolation=cv2.INTER_AREA)
    bits = np.packbits((cells > cells.mean()).ravel())
    return int.from_bytes(bits.tobytes(), "big")


def hamming(hashes: npt.NDArray[np.uint64], reference: int) -> npt.NDArray[np.int64]:
    """`int (n,)`: in how many bits each hash differs from the reference.

    >>> hamming(np.array([0b1011, 0], np.uint64), 0b0001).tolist()
    [2, 1]
    """
    different = (hashes ^ np.uint64(reference)).view(np.uint8).reshape(len(hashes), 8)
    bits: npt.NDArray[np.int64] = np.unpackbits(different, axis=1).sum(axis=1, dtype=np.int64)
    return bits


def majority(hashes: Sequence[int]) -> int:
    """Bit by bit what most hashes have; a tie is a 0.

    A mean of the numbers would not do: it lies bits away from hashes that are one bit apart.

    >>> bin(majority([0b110, 0b100, 0b111]))
    '0b110'
    """
    values = np.array(hashes, dtype=">u8").view(np.uint8).reshape(len(hashes), 8)
    votes = np.unpackbits(values, axis=1).sum(axis=0)
    return int.from_bytes(np.packbits(votes * 2 > len(hashes)).tobytes(), "big")
