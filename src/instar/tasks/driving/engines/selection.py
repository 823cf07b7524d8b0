"""Which pixels a condition speaks of, where something is removed or replaced."""

from __future__ import annotations

import cv2
import numpy as np

from instar.core.change import Inapplicable
from instar.core.scene import Mask
from instar.tasks.driving.engines import SceneView
from instar.tasks.driving.rules.model import Condition

__all__ = ["find_shortage", "select_pixels"]

LINES = ("line", "stop line", "crosswalk")


def select_pixels(condition: Condition, view: SceneView) -> Mask | Inapplicable:
    """The pixels of the element, all or as many pieces as are counted, the largest first."""
    if set(condition.properties) - ({"type"} if condition.element == "vehicle" else set()):
        return Inapplicable("the label map does not know its properties")
    if condition.reference not in (None, "road", "scene"):
        return Inapplicable("the label map does not tell where it is")
    mask = _whole(condition, view)
    if condition.count is not None:
        mask = _largest(mask, condition.count)
    return _shortage(mask, condition, view) or mask


def find_shortage(condition: Condition, view: SceneView) -> Inapplicable | None:
    """Why the element cannot be removed or replaced, by how much of it is there."""
    return _shortage(_whole(condition, view), condition, view)


def _whole(condition: Condition, view: SceneView) -> Mask:
    classes = view.ontology.elements[condition.element].classes
    kind = condition.properties.get("type")
    if condition.element == "vehicle" and kind:
        classes = tuple(name for name in classes if name == kind)
    return view.labels.mask(classes)


def _shortage(mask: Mask, condition: Condition, view: SceneView) -> Inapplicable | None:
    least = view.least_lines if condition.element in LINES else view.least_objects
    if not mask.any():
        return Inapplicable("nothing of that class is there")
    return Inapplicable("too little of that class is there") if mask.mean() < least else None


def _largest(mask: Mask, count: int) -> Mask:
    _, pieces, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    order = 1 + np.argsort(-stats[1:, cv2.CC_STAT_AREA], kind="stable")
    return np.asarray(np.isin(pieces, order[:count]))
