"""A case that was made again, as something to look at: its panels, or one picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from instar.core.marks import Panel
from instar.core.relation import Relation
from instar.core.replay import Replay
from instar.core.scene import Image
from instar.imaging.sheets import sheet

__all__ = ["panels_of", "picture_of"]


def panels_of(relation: Relation, again: Replay) -> Sequence[Panel]:
    """The relation's own panels, or else the bare pictures; none where there are no pictures."""
    if again.source is None or not again.follow_ups:
        return []
    if relation.panels is not None:
        # The record knows which findings were struck out; the bare comparison does not.
        verdict = again.record.verdict if again.same else again.verdict
        return relation.panels(again.source, again.follow_ups, again.record.change, verdict)
    inputs = [again.source.input, *(follow_up.input for follow_up in again.follow_ups)]
    if not all(isinstance(i, np.ndarray) and i.dtype == np.uint8 and i.ndim == 3 for i in inputs):
        return []
    return [Panel("after" if i else "before", image) for i, image in enumerate(inputs)]


def picture_of(relation: Relation, again: Replay) -> Image | None:
    """The relation's own drawing, or else source and follow-ups side by side; None without pictures."""
    if again.source is None or not again.follow_ups:
        return None
    if relation.picture is not None:
        verdict = again.record.verdict if again.same else again.verdict
        return relation.picture(again.source, again.follow_ups, again.record.change, verdict)
    bare = [panel.picture for panel in panels_of(relation, again)]
    return sheet(bare, str(again.record.change)) if bare else None
