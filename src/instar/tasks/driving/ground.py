"""Where the ground is, seen in a label map: horizon, road, roadside, and what stands on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Mask
from instar.imaging.labels import LabelMap

ROAD = ("road", "line", "crosswalk", "stop line")
ROADSIDE = ("sidewalk", "terrain", "parking")
STANDING = (
    "person", "rider", "bicycle", "motorcycle", "car", "truck", "bus", "van", "animal", "traffic light",
    "traffic sign", "pole",
)  # fmt: skip
TRAFFIC = ("car", "truck", "bus", "van")
LEAST_ROAD = 0.02  # of the picture; less is no street
LEAST_WIDTH = 0.02  # of a row; less is a crumb of road above the horizon
ENOUGH_ROWS = 12  # rows in which both edges are seen, to follow a bend
SMALL = 0.001  # of the picture: nobody misses what is hidden of it
DISTANT = 0.16  # of the way down from the horizon: whoever is that far away, a vehicle may hide
HIDDEN = 0.3  # of a thing farther away: as much may be hidden
MARGIN = 0.15  # of a lane may be missing: a row of parked cars is no lane
THIRD = 0.35  # of a lane: as much there is of the other lane of a narrow street
ASIDE, NEAR = 0.15, 0.55  # of the width; of the way down to the lower edge
SOLE = 0.06  # of the height: how much of a thing must stand on the ground


@dataclass(frozen=True, eq=False)
class GroundPlane:
    """The ground plane of a picture. `horizon` is a row; `vanishing` the column where the road ends.

    What a rule has `placed` already may not be hidden at all; what is `thin` may, and `traffic` by traffic.
    """

    road: Mask
    roadside: Mask
    crosswalk: Mask
    taken: Mask
    horizon: float
    vanishing: float
    thin: Mask
    traffic: Mask
    placed: Mask

    @property
    def size(self) -> tuple[int, int]:
        return self.road.shape[0], self.road.shape[1]

    def edge(self, row: int, side: int, reach: float = math.inf) -> int | None:
        """The first column beyond the road on the left (-1) or the right (+1), where the roadside begins.

        That is where the label changes from road to something else (Eq. 3 of the paper), and that
        something is ground to stand on; a thing on the edge may hide the change itself, but no more than
        `reach` columns of it: far behind a parked car is no roadside.
        """
        road = np.flatnonzero(self.road[row])
        if not len(road):
            return None
        last = int(road[-1] if side > 0 else road[0])
        beyond = np.flatnonzero(self.roadside[row])
        beyond = beyond[beyond > last] if side > 0 else beyond[beyond < last]
        if not len(beyond):
            return None
        first = int(beyond[0] if side > 0 else beyond[-1])
        return first if abs(first - last) <= reach else None

    def lanes(self, row: int, wide: float) -> list[float]:
        """The middle columns of the lanes in a row from left to right, where one is `wide` pixels.

        The ego-vehicle's lane lies around its path; others are beside it, as far as the road goes. Where
        there seems to be none, a third of a lane to one side is one, for narrow streets have two.
        """
        road, own = np.flatnonzero(self.road[row]), self.path(row)
        if not len(road) or wide <= 0:
            return []
        left, right = ((abs(float(edge) - own) / wide - 0.5) for edge in (road[0], road[-1]))
        steps = range(-int(max(left, 0) + MARGIN), int(max(right, 0) + MARGIN) + 1)
        is_whole = road[0] > 0 and road[-1] < self.size[1] - 1
        is_at_edge = (left < THIRD) != (right < THIRD)
        if len(steps) > 1 or not (is_at_edge and is_whole):
            return [own + step * wide for step in steps]
        beside = 0.5 + max(left, right) / 2  # the middle of what is there
        return [own - beside * wide, own] if left > right else [own, own + beside * wide]

    @cached_property
    def pieces(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """What stands there, piece by piece: the number of each pixel's piece, and the pixels of each."""
        count, found = cv2.connectedComponents(self.taken.astype(np.uint8))
        numbers = np.asarray(found, np.int32)
        return numbers, np.bincount(numbers.ravel(), minlength=count).astype(np.int64)

    def path(self, row: int) -> float:
        """The column of the ego-vehicle's way in a row: it keeps its place between the edges of the road."""
        return float(self._paths[min(max(row, 0), len(self._paths) - 1)])

    def is_bent(self, row: int, reach: float) -> bool:
        """Whether the road bends away there, by more than so many pixels: then its lanes are not known.

        A road that ends far from the middle of the picture bends, wherever its edges are hidden.
        """
        height, width = self.size
        aside = abs(self.vanishing - width / 2) > ASIDE * width
        is_far = row - self.horizon < NEAR * (height - 1 - self.horizon)
        return (aside and is_far) or abs(self.path(row) - float(self._straight[row])) > reach

    @cached_property
    def _straight(self) -> npt.NDArray[np.float64]:
        """The way in every row if the road were straight: from the lower edge's middle to the road's end."""
        height, width = self.size
        share = np.clip((np.arange(height) - self.horizon) / (height - 1 - self.horizon), 0, 1)
        return np.asarray(self.vanishing + (width / 2 - self.vanishing) * share)

    @cached_property
    def _paths(self) -> npt.NDArray[np.float64]:
        """The way in every row: straight, or as the road bends where both of its edges are seen."""
        width, straight = self.size[1], self._straight
        left = np.where(self.road.any(axis=1), self.road.argmax(axis=1), -1)
        right = width - 1 - self.road[:, ::-1].argmax(axis=1)
        seen = np.flatnonzero((left > 1) & (right < width - 2) & (right - left > 0.1 * width))
        near = seen[-max(1, len(seen) // 3) :]  # a bend begins farther away
        if len(seen) < ENOUGH_ROWS:
            return straight
        place = np.median((straight[near] - left[near]) / (right[near] - left[near]))
        if not 0.1 < place < 0.9:
            return straight
        bent = straight.copy()
        bent[seen] = left[seen] + place * (right[seen] - left[seen])
        return np.asarray(cv2.blur(bent[:, None], (1, 9))[:, 0], np.float64)

    def can_stand(
        self,
        left: int,
        top: int,
        width: int,
        height: int,
        where: Mask,
        *,
        slender: bool = False,
        traffic: bool = False,
    ) -> bool:
        """Whether a thing can stand there: inside, on the mask with its feet, and in nobody's way.

        It may hide poles, what is small, and a little of what else is farther away; nothing nearer. What is
        `slender` stands on a trunk or a pole; `traffic` may hide the traffic before it, and who is far away.
        """
        rows, columns = self.size
        right, bottom = left + width, top + height
        if left < 1 or top < 1 or right > columns - 1 or bottom > rows - 1:
            return False
        if self.placed[top:bottom, left:right].any():
            return False
        inner = max(1, width // (2 if slender else 4) - 1)
        trunk = inner if slender else 0
        if self._hides(left + trunk, top, right - trunk, bottom, traffic):
            return False
        sole = 2 if slender else max(1, round(SOLE * height))
        return bool(where[bottom - sole : bottom, left + inner : max(left + inner + 1, right - inner)].all())

    def _hides(self, left: int, top: int, right: int, bottom: int, traffic: bool) -> bool:
        numbers, sizes = self.pieces
        inside = numbers[top:bottom, left:right]
        for number in np.unique(inside[inside > 0]).tolist():
            rows = np.flatnonzero((numbers[:, left:right] == number).any(axis=1))
            if int(rows[-1]) >= bottom - 1:
                return True  # it is nearer
            depth = self.size[0] - 1 - self.horizon
            if traffic and int(rows[-1]) - self.horizon < DISTANT * depth:
                continue
            may_hide = self.thin | self.traffic if traffic else self.thin
            if sizes[number] < SMALL * numbers.size or may_hide[numbers == number].mean() > 0.5:
                continue
            if np.count_nonzero(inside == number) > HIDDEN * sizes[number]:
                return True
        return False


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
        labels.mask(["pole"]),
        labels.mask(TRAFFIC),
        np.zeros_like(road),
    )
