"""Masks and maps as text, so that they can be part of a change."""

from __future__ import annotations

import base64
import zlib
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from instar.core.scene import Mask


def mask_to_text(mask: Mask) -> str:
    """The mask, packed and compressed.

    >>> mask_from_text(mask_to_text(np.array([[True, False, True]]))).tolist()
    [[True, False, True]]
    """
    packed = zlib.compress(np.packbits(mask).tobytes(), 9)
    return f"{mask.shape[0]}x{mask.shape[1]}:{base64.b85encode(packed).decode('ascii')}"


@lru_cache(maxsize=8)  # a change is made, and what came of it is judged by the same mask
def mask_from_text(text: str) -> Mask:
    """The mask that `mask_to_text` wrote; nobody may write into it."""
    size, _, packed = text.partition(":")
    height, width = map(int, size.split("x"))
    bits = np.unpackbits(np.frombuffer(zlib.decompress(base64.b85decode(packed)), np.uint8))
    mask = bits[: height * width].astype(np.bool_).reshape(height, width)
    mask.setflags(write=False)
    return mask


def ids_to_text(ids: npt.NDArray[np.uint8]) -> str:
    """A map of ids, compressed.

    >>> ids_from_text(ids_to_text(np.array([[3, 255, 0]], np.uint8))).tolist()
    [[3, 255, 0]]
    """
    packed = zlib.compress(np.ascontiguousarray(ids, np.uint8).tobytes(), 9)
    return f"{ids.shape[0]}x{ids.shape[1]}:{base64.b85encode(packed).decode('ascii')}"


def ids_from_text(text: str) -> npt.NDArray[np.uint8]:
    """The map that `ids_to_text` wrote."""
    size, _, packed = text.partition(":")
    height, width = map(int, size.split("x"))
    return np.frombuffer(zlib.decompress(base64.b85decode(packed)), np.uint8).reshape(height, width)
