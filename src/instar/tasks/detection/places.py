"""A place for a cut-out in a picture, and the ways of looking for one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from instar.core.scene import Image, Mask
from instar.cutouts import CutOut, Window, close_to, free_places, one_of, ring_around
from instar.cutouts.placement import Places
from instar.imaging.geometry import Boxes
from instar.imaging.ground import standing_places

Scale = Literal["nearest", "paper"]
Way = Literal["guided", "random", "close"]
BoxArray: TypeAlias = npt.NDArray[np.float32]

SHRINKING = (1.0, 0.85, 0.7, 0.55, 0.45)
CLOSE = 0.03  # of the picture's diagonal: the gap to an object that counts as close
GUIDED_CUTOUTS, CLOSE_CUTOUTS = 4, 5  # of a class; anywhere, only the best one
CLOSE_SIZES = (1.25, 1.0, 0.8, 0.6, 0.45)  # times the size of the model
LEAST_GROUND = 0.8  # of the strip under a thing


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """A cut-out at a size (height, width), and a window in which it has at least one free place.

    `model` is the box of the found object whose size and light it gets, `float32 (4,)`. `anchor` is the
    index in the answer of the object that it is put beside. `ground` is where its feet may be.
    """

    cutout: CutOut
    size: tuple[int, int]
    window: Window
    model: BoxArray
    anchor: int | None
    ground: Mask | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Placements:
    """All placements of a picture, and the boxes to keep clear of."""

    options: tuple[Placement, ...]
    taken: Boxes


@dataclass(frozen=True, slots=True)
class Method:
    """A way of placing: the window beside an anchor (None: anywhere), and the sizes to try.

    With `every_size` each size that fits is a placement, else only the largest.
    """

    window: Callable[[tuple[int, int], tuple[int, int], BoxArray], Window] | None
    sizes: Sequence[float] = SHRINKING
    every_size: bool = False
    cutouts: int = 1  # of a class


def _close_window(shape: tuple[int, int], size: tuple[int, int], anchor: BoxArray) -> Window:
    return close_to(shape, size, anchor, CLOSE * math.hypot(*shape))


METHODS: dict[Way, Method] = {
    "guided": Method(ring_around, cutouts=GUIDED_CUTOUTS),
    "random": Method(None),
    "close": Method(_close_window, CLOSE_SIZES, every_size=True, cutouts=CLOSE_CUTOUTS),
}


def open_places(place: Placement, taken: Boxes) -> Places:
    """Where in its window it covers nothing and has its feet on the ground."""
    window, size = place.window, place.size
    free = free_places(window, size, taken)
    if place.ground is None or not free.any():
        return free
    standing = standing_places(place.ground, size, window.top, window.left, free.shape, least=LEAST_GROUND)
    return np.asarray(free & standing)


def choose_place(placements: Placements, rng: np.random.Generator) -> tuple[Placement, int, int]:
    """A placement and a corner (x, y) in it: every placement is equally likely, and so is every corner."""
    chosen = placements.options[int(rng.integers(len(placements.options)))]
    x, y = one_of(open_places(chosen, placements.taken), chosen.window, rng)
    return chosen, x, y


def crop_box(image: Image, box: BoxArray) -> Image:
    """What a box shows, at least one pixel of it."""
    height, width = image.shape[:2]
    x1, y1, x2, y2 = box.tolist()
    left, top = min(max(int(x1), 0), width - 1), min(max(int(y1), 0), height - 1)
    return image[top : max(top + 1, int(np.ceil(y2))), left : max(left + 1, int(np.ceil(x2)))]
