"""Discs and boxes on a lawn under a sky, a detector that is right about them, and their true outlines."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from instar.core.scene import Image, Observation, Scene
from instar.cutouts.outlines import SoftOutline
from instar.tasks.detection import Detections

HEIGHT, WIDTH, HORIZON = 240, 360, 90
SKY, LAWN = (150, 190, 240), (90, 150, 60)
COLOURS = {"disc": (210, 40, 40), "box": (40, 60, 210)}


def scene(name: str, *objects: tuple[str, int, int, int]) -> Scene:
    """Discs and boxes (label, left edge, row of the feet, side) before one another as they are listed."""
    image = np.empty((HEIGHT, WIDTH, 3), np.uint8)
    image[:HORIZON], image[HORIZON:] = SKY, LAWN
    for label, x, foot, side in objects:
        if label == "disc":
            cv2.circle(image, (x + side // 2, foot - side // 2), side // 2, COLOURS[label], -1)
        else:
            image[foot - side : foot, max(0, x) : x + side] = COLOURS[label]
    return Scene.of(name, image)


def coloured(image: Image, label: str) -> np.ndarray:
    """`bool (H, W)`: the pixels of that kind of thing."""
    strongest = int(np.argmax(COLOURS[label]))
    rest = [channel for channel in range(3) if channel != strongest]
    pixels = image.astype(int)
    return pixels[..., strongest] - pixels[..., rest].max(axis=2) > 95


def inner_pixels(image: Image) -> np.ndarray:
    """`bool (H, W)`: the pixels of things, without their edges, which are soft."""
    things = np.stack([coloured(image, label) for label in COLOURS]).astype(np.uint8)
    return np.any([cv2.erode(one, np.ones((5, 5), np.uint8)) > 0 for one in things], axis=0)


class ByColour:
    """Finds every disc and box: a detector that is right about what is drawn here."""

    name = "by-colour"

    def predict(self, images: Sequence[Image]) -> list[Detections]:
        return [self.answer(image) for image in images]

    def answer(self, image: Image) -> Detections:
        found = []
        for label in COLOURS:
            _, _, stats, _ = cv2.connectedComponentsWithStats(coloured(image, label).astype(np.uint8))
            found += [(label, (x, y, x + w, y + h)) for x, y, w, h, area in stats[1:].tolist() if area > 60]
        boxes = np.array([box for _, box in found], np.float32).reshape(-1, 4)
        return Detections(boxes, tuple(label for label, _ in found), np.full(len(found), 0.9, np.float32))


class TrueOutlines:
    """Outlines whatever has a colour of its own in a box, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, picture: Image, box: tuple[float, float, float, float]) -> SoftOutline:
        self.asked += 1
        x1, y1, x2, y2 = (round(side) for side in box)
        inside = np.zeros(picture.shape[:2], np.bool_)
        inside[max(0, y1 - 2) : y2 + 2, max(0, x1 - 2) : x2 + 2] = True
        masks = [coloured(picture, label) & inside for label in COLOURS]
        mask = max(masks, key=np.count_nonzero).astype(np.uint8) * np.uint8(255)
        return SoftOutline(np.asarray(cv2.GaussianBlur(mask, (0, 0), 0.6), np.uint8), 0.97)


def observed(one: Scene) -> Observation:
    return Observation.of(one.image, ByColour().answer(one.image), one)
