"""Whole rows of trees out of photographs, with the sky between their branches taken out."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt
from scipy.ndimage import median_filter

from instar.core.scene import Image, Mask

ABOVE = 12  # pixels of sky above trees, where maps leave out twigs
CLEAR, DENSE = 0.93, 0.6  # of the sky's brightness: all sky, and none
MOSTLY = 0.3  # of its columns are wanted: then a row of trees stands there
BEFORE = 30  # pixels: where the first row begins, at most
SEEN = 0.7  # of the sky behind is hidden by a branch
SOLID = 60  # of 255: what covers more ends in a hedge
OVERLAP = 0.38  # of a row of trees: stands before or behind the next
RAGGED, SOFT = 0.10, 3.0  # of half its width; pixels
DIMMEST = 0.24  # of the sky's light: darker trees are mere outlines
POLE = 25  # pixels: nothing that is narrower ends trees
UNEVEN = 0.2  # of their height: where their feet differ more, something hides them
LEAST, THINNEST = 1500, 0.35  # pixels; of the sky behind them is hidden
CROWN, BROAD = 0.8, 0.75  # of a tree's height; of the crown's height
SMALLEST = 40  # pixels: narrower crowns are too coarse to stand near
FULL, FINE = 0.5, 24.0  # of a crown hides what is behind; grey levels from pixel to pixel
EVEN, MOST_WALL = 20.0, 0.25  # grey levels: hedges and walls; of a crown
TRUNK, BARK = (0.04, 0.012), 0.7  # of its height, at the foot and in the crown; of the light of branches

RGBA = npt.NDArray[np.uint8]
Light = npt.NDArray[np.float32]


def cut_treeline(image: Image, trees: Mask, sky: Mask, first: int, last: int) -> tuple[RGBA, int] | None:
    """The trees of these columns as `uint8 (h, w, 4)`, and the row of its upper edge.

    Where light is as bright as the sky nothing is there; the colour of what is thinner than a pixel is what
    is left without the sky behind it. None where something else stands among them.
    """
    part, own, air = image[:, first:last], trees[:, first:last], sky[:, first:last]
    top = own.argmax(axis=0)
    rows = np.arange(len(own))[:, None]
    other = (~own & ~air) & (rows > top)
    bottom = np.where(other.any(axis=0), other.argmax(axis=0), len(own))
    bottom = median_filter(bottom, size=min(POLE, len(bottom)) | 1, mode="nearest")  # poles among them stay
    if not air.any() or np.median(bottom) - np.percentile(bottom, 15) > UNEVEN * np.median(bottom - top):
        return None
    strange = cv2.dilate((~own & ~air & (rows < bottom)).astype(np.uint8), np.ones((3, 3), np.uint8))
    part = np.asarray(cv2.inpaint(np.ascontiguousarray(part), strange, 3, cv2.INPAINT_TELEA), np.float32)
    upper, lower = max(0, int(top.min()) - ABOVE), int(bottom.max())
    behind = np.median(part[air], axis=0)
    level = part.mean(axis=2) / max(1.0, float(behind.mean()))
    cover = np.clip((CLEAR - level) / (CLEAR - DENSE), 0, 1)
    cover *= (rows >= top - ABOVE) & (rows < bottom)
    colours = (part - behind * (1 - cover[..., None])) / np.maximum(cover[..., None], 0.25)
    inside = (rows >= top) & (rows < bottom)
    if inside.sum() < LEAST or cover[inside].mean() < THINNEST:
        return None
    solid = inside & (cover > SEEN)
    if level[solid].mean() < DIMMEST:
        return None
    usual = np.median(part[solid], axis=0)  # what hides little has taken colour from the sky
    colours = usual + (colours - usual) * cover[..., None]
    if usual[2] > usual[0]:  # the blue of dusk, which trees have nowhere else
        colours *= usual.mean() / np.maximum(usual, 1)
    made = np.dstack([np.clip(colours, 0, 255), 255 * cover]).astype(np.uint8)
    return np.ascontiguousarray(made[upper:lower]), upper


def lay_treelines(
    image: Image,
    may: Light,
    wanted: Mask,
    rows_of_trees: Sequence[tuple[RGBA, int]],
    rng: np.random.Generator,
) -> tuple[Image, Light, npt.NDArray[np.int64]]:
    """The picture with rows of trees side by side, how much they cover, and the row where they end.

    Each comes with the row of its upper edge; `may` is how much each pixel may change, from 0 to 1, and
    `wanted` are the columns for trees.
    """
    height, width = may.shape
    cover, colours = np.zeros((height, width), np.float32), np.zeros((height, width, 3), np.float32)
    ends = np.full(width, height, np.int64)
    free = np.flatnonzero(wanted)
    left, order = int(free[:1].sum()) - int(rng.integers(BEFORE)), rng.permutation(len(rows_of_trees))
    number = 0
    while len(free) and left < int(free[-1]):
        pixels, top = rows_of_trees[int(order[number % len(order)])]
        pixels = pixels[:, ::-1] if rng.random() < 0.5 else pixels
        wide = pixels.shape[1]
        shape = pixels[..., 3].astype(np.float32) / 255 * _crown(pixels.shape[:2], rng)
        x1, x2 = max(0, left), min(width, left + wide)
        y1, y2 = max(0, top), min(height, top + len(pixels))
        if x1 < x2 and y1 < y2 and wanted[x1:x2].mean() > MOSTLY:
            inside = (slice(y1 - top, y2 - top), slice(x1 - left, x2 - left))
            share, there = shape[inside], (slice(y1, y2), slice(x1, x2))
            colours[there] = (
                colours[there] * (1 - share[..., None]) + pixels[inside][..., :3] * share[..., None]
            )
            cover[there] = cover[there] * (1 - share) + share
            ends[x1:x2] = np.minimum(ends[x1:x2], top + _end(pixels))
        left += max(1, round(wide * (1 - OVERLAP)))
        number += 1
    shown = colours * may[..., None] + image * (1 - (cover * may)[..., None])
    return np.clip(np.rint(shown), 0, 255).astype(np.uint8), np.asarray(cover * may, np.float32), ends


def cut_tree(row_of_trees: RGBA, rng: np.random.Generator) -> RGBA | None:
    """A single tree `uint8 (h, w, 4)`: the finest branches of a row as its crown, on a trunk of their colour.

    None where the row is too narrow, or shows no branches but hedges and walls.
    """
    tall = min(len(row_of_trees), round(row_of_trees.shape[1] / BROAD))
    wide = round(BROAD * tall)
    if wide < SMALLEST:
        return None
    cover = np.asarray(row_of_trees[..., 3] / 255, np.float32)
    seen = 255 - cover * (255 - row_of_trees[..., :3].mean(axis=2, dtype=np.float32))  # before a white sky
    fine = np.asarray(np.abs(cv2.Laplacian(seen, cv2.CV_32F)), np.float32)
    even = np.asarray((cv2.blur(fine, (5, 5)) < EVEN) & (cover > SEEN), np.float32)
    fineness, mean, walls = (_windows(values, tall, wide) for values in (fine, cover, even))
    fineness[(mean < FULL) | (walls > MOST_WALL)] = 0
    top, left = np.unravel_index(int(np.argmax(fineness)), fineness.shape)
    if fineness[top, left] < FINE:
        return None
    crown = row_of_trees[top : top + tall, left : left + wide].astype(np.float32)
    shape = np.vstack([_crown((tall // 2, wide), rng), _crown((tall - tall // 2, wide), rng)[::-1]])
    share = crown[..., 3] / 255 * shape
    height = round(tall / CROWN)
    down = np.linspace(0, 1, height, dtype=np.float32)[:, None]
    widths = (TRUNK[1] + (TRUNK[0] - TRUNK[1]) * down) * height / 2
    aside = np.arange(wide, dtype=np.float32)[None] - (wide - 1) / 2
    trunk = np.clip(widths - np.abs(aside) + 0.5, 0, 1) * np.clip((down / CROWN - 0.5) * 4, 0, 1)
    grain = cv2.GaussianBlur(rng.normal(0, 1, (height, wide)).astype(np.float32), (0, 0), 0.8, sigmaY=6)
    bark = BARK * (1 - 0.25 * np.clip(aside / widths, -1, 1)) * (1 + 0.8 * grain)
    colours = np.median(crown[crown[..., 3] > SOLID][:, :3], axis=0) * bark[..., None]
    covers = np.asarray(trunk, np.float32)
    behind = covers[:tall] * (1 - share)
    covers[:tall] = share + behind
    colours[:tall] = (crown[..., :3] * share[..., None] + colours[:tall] * behind[..., None]) / np.maximum(
        covers[:tall, :, None], 1e-3
    )
    return np.asarray(np.clip(np.rint(np.dstack([colours, 255 * covers])), 0, 255), np.uint8)


def _windows(values: Light, tall: int, wide: int) -> Light:
    """The mean over each window of that size, by its upper left corner."""
    sums = cv2.integral(values, sdepth=cv2.CV_64F)
    whole = sums[tall:, wide:] - sums[:-tall, wide:] - sums[tall:, :-wide] + sums[:-tall, :-wide]
    return np.asarray(whole / (tall * wide), np.float32)


def _crown(shape: tuple[int, int], rng: np.random.Generator) -> Light:
    """Round above and ragged to both sides, as trees that stand alone are."""
    height, width = shape
    up = np.linspace(1, 0, height, dtype=np.float32)[:, None]
    across = np.abs(np.linspace(-1, 1, width, dtype=np.float32))[None]
    noise = sum(
        cv2.GaussianBlur(rng.normal(0, 1, shape).astype(np.float32), (0, 0), sigma) * sigma
        for sigma in (1.5, 4, 10)
    )
    ragged = np.asarray(noise, np.float32) / max(1e-6, float(np.std(noise)))
    reach = np.sqrt(np.clip(1.05 - up**4, 0, 1)) * (0.86 + RAGGED * ragged)
    return np.asarray(np.clip((reach - across) * width / 2 / SOFT, 0, 1), np.float32)


def _end(pixels: RGBA) -> int:
    """The row where trees end below: the middle over their columns."""
    solid = pixels[..., 3] > SOLID
    rows = len(pixels) - solid[::-1].argmax(axis=0)
    return int(np.median(rows[solid.any(axis=0)])) if solid.any() else len(pixels)
