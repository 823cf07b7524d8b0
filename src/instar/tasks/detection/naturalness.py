"""How believable an insertion is, 0 to 1: the probability that it passes at a glance.

Measures that people go by are weighed by a logistic model: how large the object is for the place where it
stands, whether its feet are on ground, how far it stands out, and whether it is as soft as what is around
it. The weights were fitted to judgements made by looking (`benchmarks/naturalness.py`, which
also says how well they do on photographs that they were not fitted to).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from types import MappingProxyType

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image, Mask, Observation
from instar.cutouts.ground_plane import LevelGround
from instar.cutouts.known_sizes import KNOWN_HEIGHTS
from instar.imaging.geometry import Boxes
from instar.imaging.ground import ground_below
from instar.imaging.harmony import edge_width
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.changes import Insertion
from instar.tasks.detection.class_names import canonical_class
from instar.tasks.detection.ground_places import fit_plane, ground_under, is_whole

DIFFERENT = 6  # grey levels by which a pixel shows the object
AROUND = 0.5  # of the object's sides: its surroundings
BLUE = 122  # of b in Lab with 8 bits; grey has 128
WHOLE_FIRST = 0.2  # of the picture's height: so much nearer counts a whole thing


@dataclass(frozen=True, slots=True)
class Naturalness:
    """What gives a pasted object away, measure by measure; 0 is mostly best.

    - `plane`, `neighbour`: how far its height is from what the ground plane, and what the found thing with
      the nearest feet, ask for: logarithms without sign;
    - `above`: how far its feet are over the nearest feet of what was found, in its heights;
    - `ground`: the share of the strip at its feet that looks like the ground below others' feet, and
      `blue`: the share that has the colour of sky or water, where it is no thing that flies or swims;
    - `area`: the logarithm of its box's share of the picture;
    - `stands_out`: how different it is from what it covers, and `colour`: from the whole picture;
    - `crisp`, `soft`: pixels by which its edges are narrower or wider than those around.
    """

    plane: float
    neighbour: float
    above: float
    ground: float
    blue: float
    area: float
    stands_out: float
    colour: float
    crisp: float
    soft: float

    @property
    def overall(self) -> float:
        """The probability that it passes at a glance."""
        weighed = sum(WEIGHTS[one.name] * getattr(self, one.name) for one in fields(self))
        return 1 / (1 + math.exp(-(WEIGHTS[""] + weighed)))


WEIGHTS = MappingProxyType(
    {
        **{"": -0.538, "plane": -0.101, "neighbour": -0.522, "above": -0.343, "ground": 0.14, "blue": -1.544},
        **{"area": -0.443, "stands_out": -0.626, "colour": -0.626, "crisp": -0.8, "soft": 0.219},
    }
)
"""By measure; "" is the constant. Fitted by `benchmarks/naturalness.py` to one half of the judgements."""


@dataclass(frozen=True, slots=True, eq=False)
class _Scene:
    """What is the same for every insertion into a picture."""

    boxes: Boxes
    labels: Sequence[str]
    plane: LevelGround
    ground: Mask
    colour: npt.NDArray[np.float32]
    spread: npt.NDArray[np.float32]


@lru_cache(maxsize=16)
def _look_at(source: Observation) -> _Scene:
    found: Detections = source.answer.confident()
    labels = [canonical_class(label) for label in found.labels]
    mean, spread = _mean_and_spread(cv2.cvtColor(source.input, cv2.COLOR_RGB2LAB))
    return _Scene(
        found.boxes,
        labels,
        fit_plane(found.boxes, labels, source.input.shape),
        ground_under(source.input, found.boxes, found.boxes),
        mean,
        spread,
    )


def _mean_and_spread(picture: Image) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """NumPy's `mean` and `std` over all pixels, bit by bit, in a fifth of its time along an axis of three."""
    values = picture.reshape(-1, 3).astype(np.float32)
    count = np.float32(len(values))
    mean = cv2.reduce(values, 0, cv2.REDUCE_SUM)[0] / count
    values -= mean
    values *= values
    return mean, np.sqrt(cv2.reduce(values, 0, cv2.REDUCE_SUM)[0] / count)


def measure_naturalness(source: Observation, follow_up: Image, change: Insertion) -> Naturalness:
    return measure_part(source, follow_up[change.part], change)


def measure_part(source: Observation, pasted: Image, change: Insertion) -> Naturalness:
    """The same, of the box of the object alone, with the object in it."""
    scene: Image = source.input
    known = _look_at(source)
    label, foot = canonical_class(change.label), change.y + change.height
    covered, pasted = (np.ascontiguousarray(one) for one in (scene[change.part], pasted))
    shown: Mask = np.asarray((cv2.absdiff(covered, pasted) > DIFFERENT).any(axis=2))
    own_edge, edge = edge_width(_object(pasted, shown)), edge_width(_around(scene, change))
    return Naturalness(
        plane=_off(change.height, known.plane.scale(foot), label),
        neighbour=_off(change.height, _nearest_scale(known.boxes, known.labels, foot, scene.shape), label),
        above=_above(known.boxes, change),
        ground=_standing(known.ground, change),
        blue=_blue(scene, change) if label in KNOWN_HEIGHTS else 0.0,
        area=math.log(change.width * change.height / (scene.shape[0] * scene.shape[1])),
        stands_out=_difference(covered, pasted, shown),
        colour=_colour(known, pasted, shown),
        crisp=max(0.0, edge - own_edge),
        soft=max(0.0, own_edge - edge),
    )


def _off(height: float, scale: float | None, label: str) -> float:
    """How far a height is from that of its class, at so many pixels for a metre; 0 where nobody knows."""
    if scale is None or label not in KNOWN_HEIGHTS:
        return 0.0
    return min(2.0, abs(math.log(height / max(1.0, scale * KNOWN_HEIGHTS[label]))))


def _nearest_scale(boxes: Boxes, labels: Sequence[str], foot: float, shape: tuple[int, ...]) -> float | None:
    """Pixels for a metre at the found thing with the nearest feet, whole ones first."""
    known = [
        (abs(foot - box[3]) / shape[0] - WHOLE_FIRST * is_whole(box, label, shape), box, label)
        for box, label in zip(boxes, labels)
        if label in KNOWN_HEIGHTS
    ]
    if not known:
        return None
    _, box, label = min(known, key=lambda one: one[0])
    return float(box[3] - box[1]) / KNOWN_HEIGHTS[label]


def _above(boxes: Boxes, change: Insertion) -> float:
    if not len(boxes):
        return 1.0
    off = (boxes[:, 3] - change.y - change.height) / change.height
    nearest = float(off[np.abs(off).argmin()])
    return min(2.0, max(0.0, nearest))


def _blue(scene: Image, change: Insertion) -> float:
    """The share of the strip at its feet that is bluer than grey."""
    foot, strip = change.y + change.height, max(3, round(0.06 * change.height))
    part = scene[max(0, foot - strip) : foot + strip, change.x : change.x + change.width]
    return float((cv2.cvtColor(np.ascontiguousarray(part), cv2.COLOR_RGB2LAB)[..., 2] < BLUE).mean())


def _object(pasted: Image, shown: Mask) -> npt.NDArray[np.uint8]:
    """RGBA of what is pasted, as it shows."""
    alpha = np.where(shown, 255, 0).astype(np.uint8)
    return np.dstack([pasted, alpha])


def _around(scene: Image, change: Insertion) -> Image:
    dx, dy = round(AROUND * change.width) + 8, round(AROUND * change.height) + 8
    top, left = max(0, change.y - dy), max(0, change.x - dx)
    return scene[top : change.y + change.height + dy, left : change.x + change.width + dx]


def _standing(ground: Mask, change: Insertion) -> float:
    """The share of the strip at its feet that is ground, in tenths."""
    size = (change.height, change.width)
    on_ground, area = ground_below(ground, size, change.y, change.x, (1, 1))
    shares = [share / 10 for share in range(1, 11)]
    return max((s for s in shares if (on_ground >= s * area).all()), default=0.0)


def _difference(covered: Image, pasted: Image, shown: Mask) -> float:
    """How much the object differs from what it covers, 0 to about 1."""
    if not shown.any():
        return 0.0
    return float(np.abs(pasted[shown].astype(np.float32) - covered[shown]).mean() / 100)


def _colour(known: _Scene, pasted: Image, shown: Mask) -> float:
    """How far its mean colour is from the picture's, against the picture's own spread."""
    if not shown.any():
        return 0.0
    here = cv2.cvtColor(pasted, cv2.COLOR_RGB2LAB)[shown].astype(np.float32).mean(axis=0)
    return min(4.0, float(np.linalg.norm((here - known.colour) / (known.spread + 4)) / 2))
