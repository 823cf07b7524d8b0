"""Which pixels a condition speaks of, where something is removed or replaced."""

from __future__ import annotations

import cv2
import numpy as np

from instar.driving.engines import View
from instar.driving.rules.model import Condition
from instar.relation import Inapplicable
from instar.scene import Mask

__all__ = ["selected"]

LEAST_LINES, LEAST_OBJECTS = 0.01, 0.05  # of the picture; less cannot be expected to matter


def selected(condition: Condition, view: View) -> Mask | Inapplicable:
    """The pixels of the element, all or as many pieces as are counted, the largest first."""
    kinds = view.ontology.elements[condition.element].classes
    kind = condition.properties.get("type")
    narrowed = [name for name in kinds if name == kind] if condition.element == "vehicle" and kind else kinds
    if set(condition.properties) - ({"type"} if condition.element == "vehicle" else set()):
        return Inapplicable("the label map does not know its properties")
    if condition.reference not in (None, "road", "scene"):
        return Inapplicable("the label map does not tell where it is")
    mask = view.labels.mask(narrowed)
    if condition.count is not None:
        mask = _largest(mask, condition.count)
    least = LEAST_LINES if condition.element in ("line", "stop line", "crosswalk") else LEAST_OBJECTS
    if not mask.any():
        return Inapplicable("nothing of that class is there")
    if mask.mean() < least:
        return Inapplicable("too little of that class is there")
    return mask


def _largest(mask: Mask, count: int) -> Mask:
    _, pieces, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    order = 1 + np.argsort(-stats[1:, cv2.CC_STAT_AREA], kind="stable")
    return np.asarray(np.isin(pieces, order[:count]))
