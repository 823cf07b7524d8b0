"""Whether a change that was drawn for another locator's answer is fair with this one's."""

from __future__ import annotations

import numpy as np

from instar.core.change import Inapplicable
from instar.core.scene import Observation
from instar.imaging.nulls import Conditioned
from instar.tasks.text.answers import Quads
from instar.tasks.text.changes import Masks, Watermark
from instar.tasks.text.polygons import areas, intersections

__all__ = ["fair"]

COVERED = 0.9
"""Of a box that must lie under masks: then none of its text is left."""


def fair(source: Observation, change: Conditioned) -> Inapplicable | None:
    """A word may not be written over what is found, and masks have to cover all that is found."""
    found: Quads = source.answer
    if isinstance(change, Watermark) and (intersections(change.quad(air=0.5), found.quads) > 0).any():
        return Inapplicable("it would cover what this system finds")
    if isinstance(change, Masks):
        masks = np.array(change.quads, np.float32).reshape(-1, 4, 2)
        covered = intersections(found.quads, masks).sum(axis=1)
        if not len(found):
            return Inapplicable("no text found in the source")
        if (covered < COVERED * areas(found.quads)).any():
            return Inapplicable("it leaves text that this system finds")
    return None
