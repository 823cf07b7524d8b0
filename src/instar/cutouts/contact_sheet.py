"""A pool to look at: every cut-out on a chequered ground, by class."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from instar.core.scene import Image
from instar.cutouts.pool import CutOut, Pool
from instar.imaging.paste import RGBA
from instar.imaging.sheets import FONT, INK, PAPER

TILE, GAP, LINE = 112, 6, 18  # pixels: side of a tile, between tiles, height of the words below
CHECK = 8
COLUMNS = 10


def contact_sheet(pool: Pool, cutouts: Sequence[CutOut]) -> Image:
    """The cut-outs in rows, each under its class, its size and where it is from."""
    tiles = [_tile(pool.pixels(cutout.digest), cutout) for cutout in cutouts]
    columns = max(1, min(COLUMNS, len(tiles)))
    blank = np.full_like(tiles[0], PAPER) if tiles else np.full((LINE, TILE, 3), PAPER, np.uint8)
    rows = [tiles[i : i + columns] for i in range(0, len(tiles), columns)]
    return np.ascontiguousarray(np.vstack([np.hstack([*r, *[blank] * (columns - len(r))]) for r in rows]))


def _tile(pixels: RGBA, cutout: CutOut) -> Image:
    y, x = np.indices((TILE, TILE)) // CHECK
    ground = np.repeat(np.where((x + y) % 2, 214, 236).astype(np.uint8)[..., None], 3, axis=2)
    scale = min(1.5, TILE / max(pixels.shape[:2]))
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    width, height = (max(1, round(side * scale)) for side in (pixels.shape[1], pixels.shape[0]))
    small = cv2.resize(pixels, (width, height), interpolation=how)
    top, left = (TILE - height) // 2, (TILE - width) // 2
    place = ground[top : top + height, left : left + width]
    alpha = small[..., 3:].astype(np.float32) / 255
    place[:] = np.rint(small[..., :3] * alpha + place * (1 - alpha))
    words = np.full((2 * LINE, TILE, 3), PAPER, np.uint8)
    for row, text in enumerate((cutout.label, f"{cutout.width}x{cutout.height} {cutout.scene[-12:]}")):
        cv2.putText(words, text, (2, LINE * row + 12), FONT, 0.36, INK, 1, cv2.LINE_AA)
    tile = np.vstack([ground, words])
    return np.asarray(cv2.copyMakeBorder(tile, 0, GAP, 0, GAP, cv2.BORDER_CONSTANT, value=PAPER), np.uint8)
