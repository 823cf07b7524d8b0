"""What stands on feet, and whether a mask shows all of it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instar.core.scene import Mask
from instar.imaging.geometry import mask_bounds

__all__ = ["BODIES", "is_part_of_a_body", "stands"]

UPRIGHT = frozenset(("person", "pedestrian"))
BODIES = UPRIGHT | {"dog", "cat", "horse", "cow", "sheep", "elephant", "bear", "zebra", "giraffe"}
"""Without feet it is half a body, and nothing tells how large the whole is."""

LEAST_UPRIGHT = 1.8  # height over width of a standing figure; less sits, bends down or ends at the waist
SLENDER = 2.5  # height over width of a figure that is whole even where its legs are one
MOST_SOLID_END = 0.42  # of a body's width in one piece at its lower end


def stands(label: str, shape: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Whether something of that height over width may be a whole body of its class, element by element."""
    least = LEAST_UPRIGHT if label in UPRIGHT else 0.0
    return np.asarray(np.asarray(shape) >= least)


def is_part_of_a_body(mask: Mask, label: str) -> bool:
    """Whether the object in a mask should stand on feet and does not."""
    bounds = mask_bounds(mask)
    if label not in BODIES or bounds is None:
        return False
    left, top, right, bottom = bounds
    body = mask[top:bottom, left:right]
    height, width = body.shape
    if label in UPRIGHT:
        if not stands(label, height / width):
            return True
        if height >= SLENDER * width:
            return False
    # A bust ends in one solid stretch; whole bodies end in legs.
    low = body[int(0.9 * height)].astype(np.int8)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], low, [0]])))
    longest = int((edges[1::2] - edges[::2]).max(initial=0))
    return bool(longest > MOST_SOLID_END * width)
