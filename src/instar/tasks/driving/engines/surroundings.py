"""What light meets in a street, told from its label map: how far things are, shadows, sky, and the ground."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt
from scipy.ndimage import mean, median_filter

from instar.core.scene import Mask
from instar.imaging.street_classes import STREET

Light = npt.NDArray[np.float32]
"""`float32 (H, W, 3)` or `(H, W, 1)` from 0 to 1."""
Ids = npt.NDArray[np.uint8]

FARTHEST = 14.0  # times as far as the lower edge of the picture: sky, and what is at the horizon
GROUND = ("road", "line", "sidewalk")
UPRIGHT = ("pole", "traffic sign", "car", "person", "rider")
BACKGROUND = ("building", "vegetation", "fence")
EDGE = 0.45  # in logarithms of light: what differs more is another patch of light, not texture
PATCH = 0.05  # of the height: how far light is told to be the same
FLAT = {"ground": 0.85, "upright": 0.35}  # how much of shadows and sunny spots goes
EXPOSED = {"ground": 0.36, "upright": 0.26}  # how light a camera shows them when no sun outshines the shade
LIFT = 0.7  # how much of the way a darker street is brought there
BRANCHES = (0.55, 0.92)  # of the sky's brightness: between branches that is sky


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """`depth` `(H, W, 1)` is 1 at the lower edge; `sky` `(H, W, 1)` is the share of sky; `ids` are classes.

    `contact` `(H, W)` is, for ground, the row above at which something stands on it.
    """

    ids: Ids
    horizon: float
    vanishing: float
    depth: Light
    sky: Light
    ground: Mask
    contact: npt.NDArray[np.int32]

    def of(self, *names: str) -> Mask:
        """Where these classes are."""
        return np.isin(self.ids, [STREET.index(name) for name in names])

    def shadowless(self, light: Light) -> Light:
        """The picture as under a clouded sky: shadows and sunny spots are evened out, texture stays."""
        level = np.log(np.maximum(light.mean(axis=2), 0.02)).astype(np.float32)
        reach = max(5, round(PATCH * level.shape[0]) | 1)
        patches = cv2.bilateralFilter(level, reach, EDGE, reach / 3)
        ground, upright = self.ground, ~self.ground & (self.sky[..., 0] < 0.5)
        change = np.zeros_like(level)
        for name, where, wide in (("ground", ground, 0.25), ("upright", upright, 0.2)):
            if where.any():
                even = _blurred_within(patches, where & ~self.of("line"), wide * level.shape[0])
                lift = LIFT * max(0.0, float(np.log(EXPOSED[name]) - np.median(even[where])))
                change = np.where(where, FLAT[name] * (even - patches) + lift, change)
        # Paint on the road is brighter than it: it goes with the road around, and is not evened out itself.
        line = self.of("line")
        around = _blurred_within(change, ground & ~line, 0.02 * level.shape[0])
        change = np.where(line, around, change)
        change = np.clip(cv2.GaussianBlur(change, (0, 0), 1.0), -0.7, 1.1)
        return np.asarray(np.clip(light * np.exp(change)[..., None], 0, 1), np.float32)


def surroundings_of(light: Light, ids: Ids, horizon: float, vanishing: float) -> Surroundings:
    """What the label map of a picture says about it."""
    rows = ids.shape[0]
    ground = np.isin(ids, [STREET.index(name) for name in GROUND])
    row = np.broadcast_to(np.arange(rows, dtype=np.int32)[:, None], ids.shape)
    # A thing stands where the first ground below it is.
    below = np.where(ground, row, rows - 1)
    base = np.minimum.accumulate(below[::-1], axis=0)[::-1].astype(np.float32)
    behind = np.isin(ids, [STREET.index(name) for name in BACKGROUND])
    base = np.where(behind, _foot_of_background(behind, ground)[None], base)
    base = _foot_of_each(ids, base)
    base = np.where(ground, row, base)
    depth = (rows - horizon) / np.maximum(base - horizon, (rows - horizon) / FARTHEST)
    sky = _sky(light, ids, horizon)
    depth = depth * (1 - sky[..., 0]) + FARTHEST * sky[..., 0]
    contact = np.maximum.accumulate(np.where(ground, -1, row), axis=0).astype(np.int32)
    return Surroundings(
        ids, horizon, vanishing, np.asarray(depth[..., None], np.float32), sky, ground, contact
    )


def _foot_of_each(ids: Ids, base: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The rows where people, cars and poles stand, one for the whole of each."""
    for name in UPRIGHT:
        own = ids == STREET.index(name)
        count, pieces, stats, _ = cv2.connectedComponentsWithStats(own.astype(np.uint8))
        feet = (stats[:count, cv2.CC_STAT_TOP] + stats[:count, cv2.CC_STAT_HEIGHT] - 1).astype(np.float32)
        if name == "traffic sign":  # it hangs on a pole, whose foot is below it
            feet = np.maximum(feet, mean(base, pieces, np.arange(count)))
        base = np.where(own, feet[pieces].astype(np.float32), base)
    return base


def _foot_of_background(behind: Mask, ground: Mask) -> npt.NDArray[np.float32]:
    """For each column the row where houses and trees meet the ground; people before them do not count."""
    rows, columns = ground.shape
    meets = ground[1:] & behind[:-1]
    known = meets.any(axis=0)
    if not known.any():
        return np.full(columns, rows - 1, np.float32)
    foot = (rows - 1 - np.argmax(meets[::-1], axis=0)).astype(np.float32)
    at = np.arange(columns)
    filled = np.interp(at, at[known], foot[known]).astype(np.float32)
    return np.asarray(median_filter(filled, size=max(3, columns // 40) | 1, mode="nearest"), np.float32)


def _sky(light: Light, ids: Ids, horizon: float) -> Light:
    """The share of sky: label maps draw trees as blobs, through whose branches it is seen."""
    sky = ids == STREET.index("sky")
    share = cv2.GaussianBlur(sky.astype(np.float32), (0, 0), 1.0)
    if sky.any():
        usual = float(np.median(light[sky].mean(axis=1)))
        level = light.mean(axis=2) / max(usual, 0.05)
        through = np.clip((level - BRANCHES[0]) / (BRANCHES[1] - BRANCHES[0]), 0, 1)
        high = np.arange(ids.shape[0])[:, None] < horizon
        trees = np.isin(ids, [STREET.index("vegetation"), STREET.index("pole")]) & high
        share = np.where(trees, np.maximum(share, through), share)
    return np.asarray(share[..., None], np.float32)


def _blurred_within(values: Light, where: Mask, sigma: float) -> Light:
    """A mean over the neighbourhood that leaves out what is not `where`."""
    weight = where.astype(np.float32)
    total = cv2.GaussianBlur(values * weight, (0, 0), sigma)
    return np.asarray(total / np.maximum(cv2.GaussianBlur(weight, (0, 0), sigma), 1e-3), np.float32)


def greyed(light: Light, amount: float) -> Light:
    """So much less colour."""
    mean = light.mean(axis=2, keepdims=True)
    return np.asarray(light + (mean - light) * np.float32(amount), np.float32)
