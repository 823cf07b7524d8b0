"""Brightness, contrast and colour, and small shifts: every pixel by the same rule."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image

SAMPLED_SIDE = 64  # rows and columns looked at, at most: more change the averages by nothing


@dataclass(frozen=True, slots=True)
class LightAverages:
    """Averages of a picture, in grey levels: mean, standard deviation, how far the channels differ."""

    mean: float
    contrast: float
    chroma: float


def light_of(image: npt.NDArray[np.uint8]) -> LightAverages:
    """The light in a picture; of an RGBA cut-out only its opaque pixels count, and without any it is grey.

    >>> light_of(np.array([[[0, 0, 0], [20, 20, 20]]], np.uint8))
    LightAverages(mean=10.0, contrast=10.0, chroma=0.0)
    """
    rows, columns = (max(1, side // SAMPLED_SIDE) for side in image.shape[:2])
    sample = image[::rows, ::columns].reshape(-1, image.shape[2])
    if image.shape[2] == 4:
        sample = sample[sample[:, 3] > 127, :3]
    if not len(sample):
        return LightAverages(127.5, 0.0, 0.0)
    red, green, blue = sample.T  # channel by channel: NumPy is slow along an axis of three
    spread = np.maximum(np.maximum(red, green), blue) - np.minimum(np.minimum(red, green), blue)
    return LightAverages(float(sample.mean()), float(sample.std()), float(spread.mean()))


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
