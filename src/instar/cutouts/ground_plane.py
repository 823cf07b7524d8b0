"""How large things are where they stand: the ground plane that their sizes tell of.

A camera held level at height c sees the horizon at row h, and a thing m metres high whose feet are at row y
as m * (y - h) / c pixels. Two numbers, h and c, say how large everything is everywhere. They are told from
things of known heights, together with what is usual: cameras are held at about 1.5 metres and point a little
down. One thing is enough for an answer, and things that fit no plane (on a balcony, a child) do little harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

HORIZONS = np.linspace(-0.6, 0.9, 76)  # as shares of the picture's height
CAMERAS = np.exp(np.linspace(np.log(0.35), np.log(8.0), 48))  # metres above the ground
USUAL_HORIZON, HORIZON_SPREAD = 0.38, 0.2
USUAL_CAMERA, CAMERA_SPREAD = 1.5, 0.4  # metres; the spread is of the logarithm
WORST = 2.5  # spreads: beyond it a thing says nothing about the plane


@dataclass(frozen=True, slots=True)
class Standing:
    """A thing of known height: the row of its feet, pixels for a metre there, and how sure (of the log)."""

    foot: float
    scale: float
    spread: float = 0.2


@dataclass(frozen=True, slots=True)
class LevelGround:
    """The horizon's row in pixels, and the camera's height in metres."""

    horizon: float
    camera: float

    def scale(self, foot: float) -> float:
        """Pixels for a metre where the feet are at that row; 0 above the horizon."""
        return max(0.0, foot - self.horizon) / self.camera

    def fits(self, thing: Standing, factor: float = 1.45) -> bool:
        """Whether a thing is about as large as the plane says."""
        expected = self.scale(thing.foot)
        return expected > 0 and 1 / factor <= thing.scale / expected <= factor


def fit_ground_plane(things: Sequence[Standing], rows: int) -> LevelGround:
    """The most likely plane, for a picture of so many rows; without things, the usual one."""
    horizons, cameras = np.meshgrid(HORIZONS * rows, CAMERAS, indexing="ij")
    cost = ((horizons / rows - USUAL_HORIZON) / HORIZON_SPREAD) ** 2
    cost += (np.log(cameras / USUAL_CAMERA) / CAMERA_SPREAD) ** 2
    for thing in things:
        expected = np.maximum(thing.foot - horizons, 1e-3) / cameras
        off = np.log(thing.scale / expected) / thing.spread
        cost += np.minimum(off**2, WORST**2)
    best = np.unravel_index(int(cost.argmin()), cost.shape)
    return LevelGround(float(horizons[best]), float(cameras[best]))
