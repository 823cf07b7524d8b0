"""Changes of brightness and small shifts: every pixel by the same rule."""

from __future__ import annotations

import cv2
import numpy as np

from instar.scene import Image

__all__ = ["brightened", "moved", "permuted", "relit"]


def brightened(image: Image, levels: int) -> Image:
    """Every channel by so many grey levels up or down, ending at 0 and 255.

    >>> brightened(np.array([[[0, 7, 250]]], np.uint8), -5).tolist()
    [[[0, 2, 245]]]
    """
    amount = np.full((1, 1, image.shape[2]), abs(levels), np.uint8)
    amount = np.broadcast_to(amount, image.shape)
    return np.asarray((cv2.add if levels >= 0 else cv2.subtract)(image, amount), np.uint8)


def moved(image: Image, dx: int, dy: int) -> Image:
    """The picture moved right by `dx` and down by `dy` pixels; what comes into view repeats the edge."""
    height, width = image.shape[:2]
    padded = cv2.copyMakeBorder(image, abs(dy), abs(dy), abs(dx), abs(dx), cv2.BORDER_REPLICATE)
    top, left = abs(dy) - dy, abs(dx) - dx
    return np.ascontiguousarray(padded[top : top + height, left : left + width])


def relit(image: Image, gain: float, levels: float) -> Image:
    """Every channel value x becomes gain * x + levels, ending at 0 and 255; it never folds back.

    >>> relit(np.array([[[0, 7, 250]]], np.uint8), 2.0, -20).tolist()
    [[[0, 0, 255]]]
    """
    if gain == 1 and float(levels).is_integer():
        # Four numbers are one colour to OpenCV; it saturates, at a tenth of the time of a table.
        return np.asarray(cv2.add(image, np.full(4, levels, np.float64)), np.uint8)
    table = np.clip(np.rint(gain * np.arange(256, dtype=np.float64) + levels), 0, 255).astype(np.uint8)
    return np.asarray(cv2.LUT(image, table), np.uint8)


def permuted(image: Image, order: str) -> Image:
    """The channels in another order: "gbr" puts green into red, blue into green and red into blue.

    >>> permuted(np.array([[[1, 2, 3]]], np.uint8), "gbr").tolist()
    [[[2, 3, 1]]]
    """
    pairs = [place for to, channel in enumerate(order) for place in ("rgb".index(channel), to)]
    result = np.empty_like(image)
    cv2.mixChannels([image], [result], pairs)
    return result
