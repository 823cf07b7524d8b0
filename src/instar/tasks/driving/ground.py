"""Where the ground is, seen in a label map: horizon, road, roadside, and how large things are on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from instar.core.scene import Mask
from instar.imaging.labels import LabelMap

__all__ = ["GroundPlane", "ground_of"]

ROAD = ("road", "line", "crosswalk", "stop line")
ROADSIDE = ("sidewalk", "terrain", "parking")
STANDING = (
    "person", "rider", "bicycle", "motorcycle", "car", "truck", "bus", "van", "animal", "traffic light",
    "traffic sign", "pole",
)  # fmt: skip
LEAST_ROAD = 0.02  # of the picture; less is no street
LEAST_WIDTH = 0.02  # of a row; less is a crumb of road above the horizon
SOLE = 0.06  # of the height: how much of a thing must stand on the ground


@dataclass(frozen=True, slots=True, eq=False)
class GroundPlane:
    """The ground plane of a picture. `horizon` is a row; `vanishing` the column where the road ends."""

    road: Mask
    roadside: Mask
    crosswalk: Mask
    taken: Mask
    horizon: float
    vanishing: float

    @property
    def size(self) -> tuple[int, int]:
        return self.road.shape[0], self.road.shape[1]

    def edge(self, row: int, side: int) -> int | None:
        """The first column beyond the road on the left (-1) or the right (+1), where the roadside begins.

        That is where the label changes from road to something else (Eq. 3 of the paper), and that
        something is ground to stand on.
        """
        road, beyond = self.road[row], np.roll(self.roadside[row], -side)
        changes = np.flatnonzero(road & beyond)
        if not len(changes):
            return None
        return int(changes[-1] + 1 if side > 0 else changes[0] - 1)

    def path(self, row: int) -> float:
        """The column of the ego-vehicle's way in a row: from the middle of the lower edge to the horizon."""
        height, width = self.size
        share = (row - self.horizon) / (height - 1 - self.horizon)
        return self.vanishing + (width / 2 - self.vanishing) * share

    def can_stand(self, left: int, top: int, width: int, height: int, where: Mask) -> bool:
        """Whether a thing can stand there: inside, on the mask with its feet, and in nobody's way."""
        rows, columns = self.size
        right, bottom = left + width, top + height
        if left < 1 or top < 1 or right > columns - 1 or bottom > rows - 1:
            return False
        if self.taken[top:bottom, left:right].any():
            return False
        sole = max(1, round(SOLE * height))
        inner = max(1, width // 4)
        return bool(where[bottom - sole : bottom, left + inner : max(left + inner + 1, right - inner)].all())


def ground_of(labels: LabelMap, *, rise: float = 0.0) -> GroundPlane | None:
    """The ground plane that a label map shows; None where there is no road.

    The road is lost from sight before the horizon: that lies higher by `rise`, a share of the picture.
    """
    road = labels.mask(ROAD)
    if road.mean() < LEAST_ROAD:
        return None
    rows = np.flatnonzero(road.mean(axis=1) >= LEAST_WIDTH)
    horizon = int(rows[0]) if len(rows) else 0
    if horizon >= road.shape[0] - 2:
        return None
    end = np.flatnonzero(road[horizon])
    return GroundPlane(
        road,
        labels.mask(ROADSIDE),
        labels.mask(["crosswalk"]),
        labels.mask(STANDING),
        horizon - rise * road.shape[0],
        float(end.mean()),
    )
