"""Interpreters of the drawn street with planted faults, and one that is right; none needs torch.

All find the street's objects from its pixels, exactly. They differ in what they point at.
"""

from __future__ import annotations

import hashlib

import numpy as np

from instar.tasks.detection.systems.street import street_exact
from instar.tasks.interpretation import Classes, Explanation, SeenClasses


class Perfect:
    """Sure of every class that is there, and points at its objects."""

    name = "perfect"
    random = False
    trigger = None

    def __init__(self, only=None):
        self._street, self._only = street_exact(), only

    def found(self, image):
        answer = self._street.predict([image])[0].confident()
        return list(zip(answer.labels, answer.boxes.tolist()))

    def sure(self, image):
        labels = {label for label, _ in self.found(image) if self._only in (None, label)}
        return dict.fromkeys(sorted(labels), 0.95)

    def predict(self, questions):
        return [self._see(one) if isinstance(one, Classes) else self._explain(one) for one in questions]

    def _see(self, one):
        return SeenClasses(self.sure(one.image), self.trigger)

    def _explain(self, one):
        found = self.found(one.image)
        sure = 0.95 if any(label == one.label for label, _ in found) else 0.05
        return Explanation(sure, self.heat(one, found), self.random)

    def heat(self, one, found):
        return painted(one.image, [box for label, box in found if label == one.label])


class FollowsThePasted(Perfect):
    """Points at whatever was not in the picture when it was first seen."""

    name = "follows-the-pasted"

    def __init__(self, scenes):
        super().__init__()
        self._known = [[box for _, box in self.found(scene.image)] for scene in scenes]

    def heat(self, one, found):
        boxes = [box for _, box in found]
        known = min(self._known, key=lambda known: sum(not near(box, known) for box in boxes))
        new = [box for box in boxes if not near(box, known)]
        return painted(one.image, new) if new else super().heat(one, found)


class BrightestCorner(Perfect):
    """Points at the corner of the picture with the most light, whatever it is asked about."""

    name = "brightest-corner"

    def heat(self, one, found):
        height, width = one.image.shape[:2]
        rows, columns = height // 5, width // 5
        corners = [(x, y, x + columns, y + rows) for x in (0, width - columns) for y in (0, height - rows)]
        light = [one.image[y1:y2, x1:x2].mean() for x1, y1, x2, y2 in corners]
        return painted(one.image, [corners[int(np.argmax(light))]])


class Everywhere(Perfect):
    """Points at everything, which IoMin never minds."""

    name = "everywhere"

    def heat(self, one, found):
        return np.ones((12, 16), np.float32)


class Random(Perfect):
    """Points at a place that it draws from the seed and the picture."""

    name = "random"
    random = True

    def heat(self, one, found):
        bits = hashlib.sha256(one.image.tobytes() + str(one.seed).encode()).digest()
        rng = np.random.default_rng(int.from_bytes(bits[:8], "big"))
        heat = np.zeros((12, 16), np.float32)
        y, x = rng.integers(0, 10), rng.integers(0, 14)
        heat[y : y + 2, x : x + 2] = 1
        return heat


def painted(image, boxes):
    heat = np.zeros(image.shape[:2], np.float32)
    for x1, y1, x2, y2 in boxes:
        heat[max(0, round(y1)) : round(y2), max(0, round(x1)) : round(x2)] = 1
    return heat


def near(box, known):
    return any(np.abs(np.subtract(box, other)).max() <= 6 for other in known)
