"""Known words carried along with a change."""

from __future__ import annotations

import numpy as np

from instar.text.accuracy import Truth
from instar.text.changes import Conditioned, Masks, Watermark, carried_along
from instar.text.polygons import areas, intersections

__all__ = ["truth_after"]

MOSTLY = 0.5  # of a word is masked: then nobody can be expected to find it


def truth_after(truth: Truth, change: Conditioned) -> Truth:
    """The words of the follow-up: moved, one more with a watermark, some out of reach behind masks."""
    quads, ignored = carried_along(truth.quads, change), truth.ignored
    if isinstance(change, Watermark):
        word = carried_along(change.quad(), change)
        return Truth(np.concatenate([quads, word]), np.append(ignored, False))
    if isinstance(change, Masks):
        masks = carried_along(np.array(change.quads, np.float32).reshape(-1, 4, 2), change)
        hidden = intersections(quads, masks).sum(axis=1) >= MOSTLY * areas(quads)
        return Truth(quads, ignored | hidden)
    return Truth(quads, ignored)
