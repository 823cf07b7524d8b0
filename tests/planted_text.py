"""Locators of drawn pages with planted faults, each a thin layer over the right one."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import cv2
import numpy as np

from instar.tasks.text.answers import Quads
from instar.tasks.text.systems.page import page_exact

NOTHING = Quads(np.zeros((0, 4, 2), np.float32))


@dataclass(frozen=True)
class Locator:
    """Answers with what `locate` says about each picture."""

    name: str
    locate: object
    batch = 8

    @property
    def fingerprint(self):
        return self.name

    def predict(self, images):
        return [self.locate(image) for image in images]


def right(image):
    return page_exact().predict([image])[0]


def _only(found, which):
    return Quads(found.quads[which])


def loses_boxes_when_bright():
    """Drops the first box where the middle grey of the picture is above 225."""

    def locate(image):
        found = right(image)
        return _only(found, slice(1, None)) if np.median(image) > 225 else found

    return Locator("loses boxes when bright", locate)


def looks_at_red_only():
    def locate(image):
        return right(np.repeat(image[..., :1], 3, axis=2))

    return Locator("looks at red only", locate)


def forgets_to_scale_back():
    """Works at a fixed size and gives boxes in the pixels of that size: the homography is ignored."""

    def locate(image):
        return right(np.ascontiguousarray(cv2.resize(image, (480, 360), interpolation=cv2.INTER_AREA)))

    return Locator("forgets to scale back", locate)


def overlooks_large_words():
    def locate(image):
        found = right(image)
        sides = np.linalg.norm(found.quads - np.roll(found.quads, -1, axis=1), axis=2)
        return _only(found, sides.min(axis=1) < 46)

    return Locator("overlooks large words", locate)


def splits_large_words():
    def locate(image):
        quads = []
        for quad in right(image).quads:
            a, b, c, d = quad
            if np.linalg.norm(d - a) < 46:
                quads.append(quad)
            else:
                quads += [[a, (a + b) / 2, (c + d) / 2, d], [(a + b) / 2, b, c, (c + d) / 2]]
        return Quads(np.array(quads, np.float32).reshape(-1, 4, 2))

    return Locator("splits large words", locate)


def sees_text_where_none_is():
    """Cannot leave a page without an answer: where there is no word, the middle of it must be one."""

    def locate(image):
        found = right(image)
        if len(found):
            return found
        height, width = image.shape[:2]
        x, y = width / 2, height / 2
        return Quads(
            np.array([[[x - 40, y - 9], [x + 40, y - 9], [x + 40, y + 9], [x - 40, y + 9]]], np.float32)
        )

    return Locator("sees text where none is", locate)


def sees_through_masks():
    """Remembers nothing, but takes a patch of one flat colour on the grainy paper for text."""

    def locate(image):
        found = right(image)
        if len(found):
            return found
        flat = (cv2.morphologyEx(image, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)).max(axis=2) <= 1).view(
            np.uint8
        )
        _, _, stats, _ = cv2.connectedComponentsWithStats(flat)
        boxes = [(x, y, x + w, y + h) for x, y, w, h, area in stats[1:].tolist() if area > 300]
        quads = [[[a, b], [c, b], [c, d], [a, d]] for a, b, c, d in boxes]
        return Quads(np.array(quads, np.float32).reshape(-1, 4, 2))

    return Locator("sees through masks", locate)


def jitters():
    """Whether the first box is found depends on nothing that matters."""

    def locate(image):
        found = right(image)
        lost = zlib.crc32(image.tobytes()) % 2
        return _only(found, slice(lost, None))

    return Locator("jitters", locate)
