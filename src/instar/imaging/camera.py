"""What a camera, the air in front of it and a file format do to a whole picture; nothing in it moves.

Lengths are in pixels of a picture whose longer side is 640, so that a severity means the same in every
resolution: networks see pictures at about that size.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.frame import Moved
from instar.core.scene import Image

USUAL_SIDE = 640
GAMMA = 2.2
AIR = (206, 209, 212)  # the colour of haze
DROP = 0.9  # how bright a streak of rain is


def mirror(picture: Image) -> Moved:
    """Left and right exchanged."""
    width = picture.shape[1]
    return Moved(np.asarray(cv2.flip(picture, 1), np.uint8), [[-1, 0, width], [0, 1, 0], [0, 0, 1]])


def shift(picture: Image, pixels: float) -> Moved:
    """The camera turned a little right and down: so many pixels are out of view on the left and the top."""
    step = round(pixels * _unit(picture))
    step = min(step, min(picture.shape[:2]) // 2)
    return Moved(np.ascontiguousarray(picture[step:, step:]), [[1, 0, -step], [0, 1, -step], [0, 0, 1]])


def crop(picture: Image, percent: float) -> Moved:
    """A longer lens: the middle of the picture, so many percent less of each side, in its full size."""
    height, width = picture.shape[:2]
    scale = 1 / (1 - percent / 100)
    x, y = width * (1 - scale) / 2, height * (1 - scale) / 2
    # Edge coordinates: the centre of pixel i is i + 0.5, where OpenCV counts from i.
    matrix = np.array([[scale, 0, x + (scale - 1) / 2], [0, scale, y + (scale - 1) / 2]])
    enlarged = cv2.warpAffine(picture, matrix, (width, height), borderMode=cv2.BORDER_REPLICATE)
    return Moved(np.asarray(enlarged, np.uint8), [[scale, 0, x], [0, scale, y], [0, 0, 1]])


def reduce(picture: Image, percent: float) -> Moved:
    """A coarser sensor: the same view with so many percent fewer pixels along each side."""
    height, width = picture.shape[:2]
    factor = 1 - percent / 100
    size = max(1, round(width * factor)), max(1, round(height * factor))
    reduced = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    return Moved(np.asarray(reduced, np.uint8), np.diag([size[0] / width, size[1] / height, 1.0]))


def turn(picture: Image, degrees: float) -> Image:
    """Turned about the centre; corners that come free mirror what is beside them."""
    height, width = picture.shape[:2]
    matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), degrees, 1.0)
    turned = cv2.warpAffine(picture, matrix, (width, height), borderMode=cv2.BORDER_REFLECT_101)
    return np.asarray(turned, np.uint8)


def expose(picture: Image, stops: float) -> Image:
    """Twice the light for every stop, as a camera would render it."""
    light = (np.arange(256) / 255) ** GAMMA * 2.0**stops
    return _through_table(picture, 255 * np.minimum(light, 1) ** (1 / GAMMA))


def balance_white(picture: Image, percent: float) -> Image:
    """Warmer by so many percent more red and less blue; cooler where it is negative."""
    levels, share = np.arange(256), percent / 100
    return _through_table(picture, np.stack([levels * (1 + share), levels, levels * (1 - share)], axis=-1))


def flatten_contrast(picture: Image, percent: float) -> Image:
    """All levels nearer to middle grey by so many percent."""
    return _through_table(picture, 127.5 + (np.arange(256) - 127.5) * (1 - percent / 100))


def defocus(picture: Image, sigma: float) -> Image:
    """A lens out of focus, as a Gaussian."""
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), sigma * _unit(picture)), np.uint8)


def shake(picture: Image, pixels: float) -> Image:
    """A camera that moved sideways by so many pixels while it exposed."""
    length = max(1.0, pixels * _unit(picture))
    reach = int(np.ceil(length / 2))
    places = np.arange(-reach, reach + 1)
    # The share of each pixel that the way of the camera covers, so that the length can be any number.
    covered = np.minimum(places + 0.5, length / 2) - np.maximum(places - 0.5, -length / 2)
    kernel = np.maximum(covered, 0)[None] / length
    return np.asarray(cv2.filter2D(picture, -1, kernel, borderType=cv2.BORDER_REPLICATE), np.uint8)


def add_grain(picture: Image, levels: float) -> Image:
    """Noise of a sensor, by its standard deviation in grey levels; the same grain at every strength."""
    grain = _grain(picture.shape[0], picture.shape[1])
    return np.asarray(cv2.add(picture, grain * np.float32(levels), dtype=cv2.CV_8U), np.uint8)


def veil(picture: Image, percent: float) -> Image:
    """Haze that takes so many percent of the light at the top of the picture, and half of that below."""
    rows = np.linspace(1, 0.5, picture.shape[0], dtype=np.float32)[:, None, None] * np.float32(percent / 100)
    return _rounded(picture + (np.array(AIR, np.float32) - picture) * rows)


def wet(picture: Image, percent: float) -> Image:
    """Rain: dull light, some haze, and streaks; 100 percent is a downpour."""
    amount = percent / 100
    light = veil(picture, 30 * amount).astype(np.float32) * np.float32((1 - 0.2 * amount) / 255)
    grey = light.mean(axis=2, keepdims=True)
    light += (grey - light) * np.float32(0.4 * amount)
    streaks = _streaks(picture.shape[0], picture.shape[1])
    veiled = np.clip(streaks - np.float32(1 - amount), 0, 1)[..., None] * np.float32(0.35 / max(amount, 1e-6))
    return _rounded(255 * (light + (np.float32(DROP) - light) * np.minimum(veiled, 0.35)))


def _unit(picture: Image) -> float:
    return float(max(picture.shape[:2])) / USUAL_SIDE


def _through_table(picture: Image, table: npt.NDArray[np.floating[Any]]) -> Image:
    """Every level as the table has it, `(256,)` for all channels or `(256, 3)`."""
    levels = np.clip(np.rint(table), 0, 255).astype(np.uint8)
    return np.asarray(cv2.LUT(picture, levels.reshape(1, 256, -1) if table.ndim == 2 else levels), np.uint8)


def _rounded(picture: npt.NDArray[np.float32]) -> Image:
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8)


@lru_cache(maxsize=4)
def _grain(height: int, width: int) -> npt.NDArray[np.float32]:
    """Coarser in larger pictures, as if they had been taken at the usual size."""
    unit = max(1.0, max(height, width) / USUAL_SIDE)
    size = max(1, round(width / unit)), max(1, round(height / unit))
    grain = np.random.default_rng(0).standard_normal((size[1], size[0], 3), np.float32)
    return np.asarray(cv2.resize(grain, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)


@lru_cache(maxsize=4)
def _streaks(height: int, width: int) -> npt.NDArray[np.float32]:
    """`float32 (H, W)`: how heavy the rain must be for a streak to be seen here; near ones are longer."""
    rng = np.random.default_rng(0)
    unit = max(height, width) / USUAL_SIDE
    layer = np.zeros((height, width), np.float32)
    for size in (0.6, 1.0, 1.7):
        number = round(2.5e-3 * height * width / size / unit**2)
        x, y = rng.uniform(0, width, number), rng.uniform(-20 * unit, height, number)
        reach = max(2.0, 17 * size * unit)
        seen = rng.uniform(0.1, 1, number)
        for left, top, shade in zip(x.tolist(), y.tolist(), seen.tolist()):
            begin = (round(left * 16), round(top * 16))
            end = (round((left + 0.15 * reach) * 16), round((top + reach) * 16))
            cv2.line(layer, begin, end, shade, max(1, round(size * unit)), cv2.LINE_AA, 4)
    return layer
