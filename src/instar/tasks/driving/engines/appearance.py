"""Cut-outs that look at home in a photograph: no silhouettes, and the light and sharpness of their place."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from instar.core.scene import Image
from instar.cutouts import CutOuts
from instar.cutouts.pool import CutOut
from instar.imaging.harmony import blurred, edge_width, grain_of, grained
from instar.imaging.paste import RGBA, toned

BRIGHT = 80  # per cent of a cut-out's pixels are darker
SHADE = 0.55  # of the picture's light: if even the bright parts are darker, it is a silhouette
PLACE = (0.8, 1.15)  # how much lighter or darker than the picture a place makes what stands in it
SOFTEST = 1.5  # pixels
FALL, SIDE, DIRT = 0.34, 0.16, 0.035  # how much darker a model is below and to one side, and its dirt
AROUND = 0.5  # of its size: the neighbourhood that it is compared with


def well_lit(cutouts: Sequence[CutOut], pool: CutOuts, light: float) -> list[CutOut]:
    """Those that show more than their outline in a picture of such light; all where there are none."""
    shown = [one for one in cutouts if _bright(pool.pixels(one.digest)) >= SHADE * light]
    return shown or list(cutouts)


def at_home(pixels: RGBA, image: Image, x: int, y: int) -> RGBA:
    """The cut-out as lit, as soft and as grainy as its neighbourhood."""
    height, width = pixels.shape[:2]
    down, across = round(AROUND * height), round(AROUND * width) + 8
    near = image[max(0, y - down) : y + height + down, max(0, x - across) : x + width + across]
    share = float(np.clip(near.mean() / max(1.0, float(image.mean())), *PLACE)) ** 0.5
    sigma = max(0.0, edge_width(near) ** 2 - edge_width(pixels) ** 2) ** 0.5
    soft = blurred(toned(pixels, share, 0.0), min(SOFTEST, sigma))
    missing = max(0.0, grain_of(near) ** 2 - grain_of(soft) ** 2) ** 0.5
    return grained(soft, missing, seed=x + 4099 * y)


def weathered(pixels: RGBA, seed: int) -> RGBA:
    """A drawn model with light from above, dark below, and dirt: in a photograph nothing is of one colour."""
    height, width = pixels.shape[:2]
    down = np.linspace(0, 1, height, dtype=np.float32)[:, None]
    across = np.linspace(-1, 1, width, dtype=np.float32)
    rng = np.random.default_rng(seed)
    dirt = np.zeros((height, width), np.float32)
    for share in (0.02, 0.08, 0.25):
        grime = rng.normal(0, 1, (height, width)).astype(np.float32)
        dirt += share * cv2.GaussianBlur(grime, (0, 0), share * height)
    dirt /= max(1e-6, float(dirt.std()))
    shade = 1.04 - FALL * down**2 - SIDE * (across * rng.choice([-1.0, 1.0]) + 1) / 2 + DIRT * dirt
    colours = pixels[..., :3] * np.asarray(shade, np.float32)[..., None]
    return np.dstack([np.clip(np.rint(colours), 0, 255).astype(np.uint8), pixels[..., 3]])


def _bright(pixels: RGBA) -> float:
    """How light the lighter parts of a cut-out are, in grey levels."""
    grey = cv2.cvtColor(np.ascontiguousarray(pixels[..., :3]), cv2.COLOR_RGB2GRAY)
    inside = grey[pixels[..., 3] > 128]
    return float(np.percentile(inside, BRIGHT)) if len(inside) else 0.0
