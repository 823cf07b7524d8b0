"""Leaves and branches of trees that a photograph shows, spread over a larger area without any seam."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image, Mask

CLEAR = 0.6  # of the sky's brightness: leaves are darker
LEAST = 48  # pixels: the side of a square of nothing but leaves
MOST = 160
PIECE = 0.55  # of that square
PLAIN = 0.28  # of their mean: leaves differ by more in light, or they would look like a wall
RAGGED = 5.0  # pixels: how far twigs reach into the sky
CLUMPS = ((5.0, 0.10), (14.0, 0.14), (36.0, 0.10))  # twigs, branches, crowns: sigma in pixels, and how dark
SHADED, MOST_GAIN = 0.36, 1.7  # of the picture's light: darker leaves are lit, so many times at most
FOOT = 0.2  # darker at the ground


def cut_leaves(image: Image, trees: Mask, sky: Mask) -> Image | None:
    """The largest square that shows nothing but trees, and no sky between them; None where that is small."""
    light = image.astype(np.float32).mean(axis=2)
    air = float(np.median(light[sky])) if sky.any() else 255.0
    clear = cv2.erode((light > CLEAR * air).astype(np.uint8), np.ones((2, 2), np.uint8)) > 0
    inside = cv2.copyMakeBorder((trees & ~clear).astype(np.uint8), 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0)
    reach = cv2.distanceTransform(inside, cv2.DIST_C, 3)[1:-1, 1:-1]
    row, column = np.unravel_index(int(np.argmax(reach)), reach.shape)
    half = min(int(reach[row, column]) - 1, MOST // 2)
    if 2 * half < LEAST:
        return None
    leaves = image[row - half : row + half, column - half : column + half]
    is_plain = light[row - half : row + half, column - half : column + half].std() < PLAIN * leaves.mean()
    return None if is_plain else np.ascontiguousarray(leaves)


def edge_of(trees: Mask, sky: Mask) -> Mask:
    """Where trees are so near to the sky that it is seen between their branches."""
    far = cv2.distanceTransform((~sky).astype(np.uint8), cv2.DIST_L2, 3)
    return np.asarray(trees & (far < 2 * RAGGED))


def lay_leaves(image: Image, where: Mask, leaves: Image, rng: np.random.Generator) -> Image:
    """The picture with such leaves there, ragged along their edge; elsewhere nothing changes.

    Pieces overlap with weights whose squares sum to one, so that contrast is the same everywhere.
    """
    if not where.any():
        return image
    x, y, width, height = cv2.boundingRect(where.astype(np.uint8))
    gain = float(np.clip(SHADED * image.mean() / max(1.0, leaves.mean()), 1.0, MOST_GAIN))
    leaves = np.clip(leaves * np.float32(gain), 0, 255).astype(np.uint8)
    middle = leaves.reshape(-1, 3).mean(axis=0).astype(np.float32)
    side = 2 * round(PIECE * leaves.shape[0] / 2)
    bump = np.hanning(side + 2)[1:-1].astype(np.float32)
    bump = np.outer(bump, bump)[..., None]
    total = np.zeros((height + 2 * side, width + 2 * side, 3), np.float32)
    squares = np.zeros((*total.shape[:2], 1), np.float32)
    for top in range(0, height + side, side // 2):
        for left in range(0, width + side, side // 2):
            down = int(rng.integers(leaves.shape[0] - side + 1))
            across = int(rng.integers(leaves.shape[1] - side + 1))
            piece = leaves[down : down + side, across : across + side].astype(np.float32) - middle
            piece = piece[:, ::-1] if rng.random() < 0.5 else piece
            total[top : top + side, left : left + side] += bump * piece
            squares[top : top + side, left : left + side] += bump**2
    inner = (slice(side // 2, side // 2 + height), slice(side // 2, side // 2 + width))
    texture = total[inner] / np.sqrt(np.maximum(squares[inner], np.float32(1e-6)))
    clumps = sum(_smooth_noise((height, width), sigma, rng) * np.float32(dark) for sigma, dark in CLUMPS)
    clumps = clumps - np.float32(FOOT) * np.linspace(0, 1, height, dtype=np.float32)[:, None] ** 2
    leafy = np.zeros(image.shape, np.float32)
    leafy[y : y + height, x : x + width] = (middle + texture) * np.exp(clumps)[..., None]
    share = np.zeros(where.shape, np.float32)
    share[y : y + height, x : x + width] = _ragged(where[y : y + height, x : x + width], texture, rng)
    share *= where
    mixed = image * (1 - share[..., None]) + np.clip(leafy, 0, 255) * share[..., None]
    return np.asarray(np.rint(mixed), np.uint8)


def _ragged(where: Mask, texture: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[np.float32]:
    """The share of leaves: less towards the edge, where dark twigs reach farther than light ones."""
    framed = cv2.copyMakeBorder(where.astype(np.uint8), 1, 1, 1, 1, cv2.BORDER_REPLICATE)
    deep = cv2.distanceTransform(framed, cv2.DIST_L2, 3)[1:-1, 1:-1]
    grey = -texture.mean(axis=2) / max(1.0, float(texture.std())) + _smooth_noise(where.shape, 3.0, rng)
    return np.asarray(np.clip((deep + grey * RAGGED * 0.6 - 1) / 2, 0, 1), np.float32)


def _smooth_noise(shape: tuple[int, int], sigma: float, rng: np.random.Generator) -> npt.NDArray[np.float32]:
    noise = cv2.GaussianBlur(rng.normal(0, 1, shape).astype(np.float32), (0, 0), sigma)
    return np.asarray(noise / max(1e-6, float(noise.std())), np.float32)
