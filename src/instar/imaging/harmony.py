"""Light, sharpness and grain of a place, and a cut-out made to share them.

What is pasted gives itself away by being crisper, cleaner or lit otherwise than its neighbours. All four
are measured in the picture where it is to stand, so that a recipe of a few numbers says how it is changed.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image
from instar.imaging.paste import RGBA

REBLUR = 1.0  # sigma of the second blur, by which the first is told
WIDEST = 4.0  # pixels: more cannot be told from a gradient
CREST = 0.95  # of the strongest gradient around
STRONG = 85  # per cent of gradients are weaker than those of edges
FLAT = 0.4  # of blocks, the smoothest: there grain shows undisturbed
BLOCK = 8
SHADE_DEPTH, SHADE_EDGE = 0.16, 0.025  # of a cut-out's height, and of its width
CAST = 0.10  # the most by which a colour channel is lifted or lowered

Grey = npt.NDArray[np.float32]


def edge_width(image: npt.NDArray[np.uint8]) -> float:
    """Sigma in pixels of how soft the edges of a picture or of a cut-out's inside are; 0 for crisp ones.

    An edge blurred by s has, blurred by r again, a gradient weaker by sqrt(s^2 + r^2) / s.
    """
    return _edge_width(*_grey_inside(image))


def grain_of(image: npt.NDArray[np.uint8]) -> float:
    """The standard deviation of the finest noise, in grey levels, where the picture is smooth."""
    return _grain(*_grey_inside(image))


def edges_and_grain(image: npt.NDArray[np.uint8]) -> tuple[float, float]:
    """Its `edge_width` and its `grain_of`."""
    seen = _grey_inside(image)
    return _edge_width(*seen), _grain(*seen)


def _edge_width(grey: Grey, inside: npt.NDArray[np.bool_]) -> float:
    first = np.sqrt(_squared_gradient(grey))
    values = first[inside]
    if values.size < 30:
        return 0.0
    # Only the crests of edges: on their slopes a blur makes gradients stronger.
    crests = first >= CREST * cv2.dilate(first, np.ones((5, 5), np.uint8))
    edges = inside & crests & (first >= _percentile(values, STRONG, least=20.0))
    if np.count_nonzero(edges) < 10:
        return WIDEST
    second = np.sqrt(_squared_gradient(np.asarray(cv2.GaussianBlur(grey, (0, 0), REBLUR), np.float32))[edges])
    ratio = np.maximum(first[edges] / np.maximum(second, 1e-3), 1.0001)
    sigma = REBLUR / np.sqrt(ratio**2 - 1)
    return min(WIDEST, _percentile(sigma, 50))


def _grain(grey: Grey, inside: npt.NDArray[np.bool_]) -> float:
    kernel = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32) / 6  # blind to edges and slopes
    noise = np.abs(cv2.filter2D(grey, cv2.CV_32F, kernel))
    rows, columns = grey.shape[0] // BLOCK, grey.shape[1] // BLOCK
    if rows * columns < 4:
        return 0.0
    cut = (slice(rows * BLOCK), slice(columns * BLOCK))
    blocks = noise[cut].reshape(rows, BLOCK, columns, BLOCK).mean(axis=(1, 3))
    whole = inside[cut].reshape(rows, BLOCK, columns, BLOCK).all(axis=(1, 3))
    values = np.sort(blocks[whole])
    if not len(values):
        return 0.0
    # The mean of |x| of a normal x is 0.8 of its deviation.
    return float(values[: max(1, int(FLAT * len(values)))].mean() / 0.798)


def cast_of(image: Image) -> tuple[float, float, float]:
    """How much more red, green and blue than grey a picture has on average; no more than a tenth."""
    # The same sums as numpy's mean over the first axis, which takes twenty times as long.
    means = np.array(cv2.sumElems(image)[:3]) / (image.shape[0] * image.shape[1]) + 1.0
    red, green, blue = np.clip(means / means.mean(), 1 - CAST, 1 + CAST).tolist()
    return red, green, blue


def tinted(cutout: RGBA, cast: tuple[float, float, float]) -> RGBA:
    """Each channel times its own factor; alpha as it was."""
    if cast == (1.0, 1.0, 1.0):
        return cutout
    factors = np.array([*cast, 1.0], np.float32)
    return np.asarray(np.clip(np.rint(cutout * factors), 0, 255), np.uint8)


def blurred(cutout: RGBA, sigma: float) -> RGBA:
    """Softer by `sigma` pixels, colours and edge alike, within the same rectangle."""
    if sigma <= 0:
        return cutout
    weight = cutout[..., 3:].astype(np.float32) / 255
    weighted = np.dstack([cutout[..., :3] * weight, weight])
    soft = cv2.GaussianBlur(weighted, (0, 0), sigma, borderType=cv2.BORDER_CONSTANT)
    colours = soft[..., :3] / np.maximum(soft[..., 3:], 1e-3)
    return np.dstack([np.clip(np.rint(colours), 0, 255), np.rint(soft[..., 3:] * 255)]).astype(np.uint8)


def grained(cutout: RGBA, grain: float, seed: int) -> RGBA:
    """With noise of so many grey levels, the same in all channels as film and sensors have it mostly."""
    if grain <= 0:
        return cutout
    noise = np.random.default_rng(seed).normal(0.0, grain, cutout.shape[:2])
    colours = np.clip(np.rint(cutout[..., :3] + noise[..., None]), 0, 255).astype(np.uint8)
    return np.dstack([colours, cutout[..., 3]])


def shaded(image: Image, box: tuple[int, int, int, int], strength: float, flat: float) -> Image:
    """The picture with a soft shadow on the ground at the lower end of a box, and within it.

    `flat` is the shadow's height as a share of its width.
    """
    if strength <= 0:
        return image
    x1, y1, x2, y2 = box
    width = x2 - x1
    height = min(y2 - y1, max(2, round(flat * width)))
    down = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    across = np.linspace(-1, 1, width, dtype=np.float32)
    shade = np.clip(1 - down**2 - across**2, 0, 1)[..., None] * np.float32(strength)
    result: Image = image.copy()
    rows, columns = slice(y2 - height, y2), slice(x1, x2)
    result[rows, columns] = np.rint(image[rows, columns] * (1 - shade)).astype(np.uint8)
    return result


def shaded_below(image: Image, cutout: RGBA, x: int, y: int, strength: float) -> Image:
    """The picture with the shadow under a cut-out at (x, y), within its rectangle.

    A car stands on its wheels: what is between them, and a little around, is dark, however it is turned.
    """
    height, width = cutout.shape[:2]
    points = np.argwhere(cutout[..., 3] >= 128)[:, ::-1].astype(np.int32)
    if strength <= 0 or not len(points):
        return image
    hull = np.zeros((height, width), np.uint8)
    cv2.fillConvexPoly(hull, cv2.convexHull(points), 1)
    lowest = height - 1 - np.argmax(hull[::-1], axis=0)
    is_low = lowest - np.arange(height)[:, None] <= SHADE_DEPTH * height
    shade = np.where((hull > 0) & is_low, np.float32(min(strength, 1)), np.float32(0))
    soft = cv2.GaussianBlur(shade, (0, 0), max(0.6, SHADE_EDGE * width), borderType=cv2.BORDER_REPLICATE)
    result: Image = image.copy()
    place = slice(y, y + height), slice(x, x + width)
    result[place] = np.rint(image[place] * (1 - soft[..., None])).astype(np.uint8)
    return result


def _grey_inside(image: npt.NDArray[np.uint8]) -> tuple[Grey, npt.NDArray[np.bool_]]:
    """Grey levels, and which of them count: of a cut-out, what is well inside."""
    colours = np.ascontiguousarray(image[..., :3])
    grey = cv2.cvtColor(colours, cv2.COLOR_RGB2GRAY).astype(np.float32)
    inside = np.ones(grey.shape, np.bool_)
    if image.shape[2] == 4:
        solid = (image[..., 3] > 250).astype(np.uint8)
        framed = cv2.copyMakeBorder(solid, 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0)
        inside = cv2.erode(framed, np.ones((5, 5), np.uint8))[1:-1, 1:-1] > 0
    return grey, inside


def _percentile(values: npt.NDArray[np.float32], per_cent: float, *, least: float = -np.inf) -> float:
    """What `numpy.percentile` gives, bit by bit, at a fraction of its time; no less than `least`.

    Values below that are only counted.
    """
    place = (values.size - 1) * (per_cent / 100)
    low = int(place)
    high, part = min(low + 1, values.size - 1), place - low
    strong = values[values >= least]
    under = values.size - strong.size
    if high < under:
        return least
    first = max(low - under, 0)
    parted = np.partition(strong, (first, high - under))
    below, above = parted[first], parted[high - under]
    if low < under:
        below = values[values < least].max()
    between = above - below
    return max(least, float(above - between * (1 - part) if part >= 0.5 else below + between * part))


def _squared_gradient(grey: Grey) -> Grey:
    across, down = (np.asarray(cv2.Sobel(grey, cv2.CV_32F, dx, 1 - dx, ksize=3), np.float32) for dx in (1, 0))
    # What cv2.magnitude gives depends in its last bit on where the arrays lie in memory.
    across *= across
    down *= down
    across += down
    return across
