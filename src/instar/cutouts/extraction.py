"""Cutting one object out of a picture: by its mask, or by GrabCut where only a box is known."""

from __future__ import annotations

from typing import TypeAlias

import cv2
import numpy as np

from instar.imaging.geometry import Boxes, intersections
from instar.imaging.paste import RGBA
from instar.scene import Image, Mask

__all__ = ["cut_by_mask", "grab_mask", "why_box_unfit", "why_mask_unfit"]

Box: TypeAlias = tuple[float, float, float, float]

LEAST_SIDE = 24  # pixels; smaller ones are smudges
LEAST_FILL = 0.3  # of the box; less is scraps of a mask
LEAST_WHOLE = 0.8  # of the mask in its largest piece; less is an object behind something
LEAST_REACH = 0.85  # of the box's height and width; less is half a body
MOST_HIDDEN = 0.25  # of the box covered by another object's box
GRABBED_SIDE = 160  # GrabCut works on a copy of about this size: its cost grows with the pixels


def cut_by_mask(image: Image, mask: Mask) -> RGBA | None:
    """The object with its mask as alpha channel, cropped to it; None where the mask is empty."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
    crop, alpha = image[top:bottom, left:right], mask[top:bottom, left:right]
    return np.dstack([crop, np.where(alpha, 255, 0).astype(np.uint8)])


def grab_mask(image: Image, box: Box) -> Mask | None:
    """The object in a box by GrabCut: what differs from the surroundings. None where that fails.

    OpenCV starts the colour models from its own random numbers, so they are seeded per call.
    """
    height, width = image.shape[:2]
    x1, y1, x2, y2 = (round(value) for value in box)
    margin_x, margin_y = max(4, (x2 - x1) // 4), max(4, (y2 - y1) // 4)
    left, top = max(0, x1 - margin_x), max(0, y1 - margin_y)
    right, bottom = min(width, x2 + margin_x), min(height, y2 + margin_y)
    crop = image[top:bottom, left:right]
    scale = min(1.0, GRABBED_SIDE / max(crop.shape[:2]))
    small = cv2.resize(crop, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    inner = [round((x1 - left) * scale), round((y1 - top) * scale)]
    inner += [round((x2 - x1) * scale), round((y2 - y1) * scale)]
    if inner[2] < 4 or inner[3] < 4 or inner[2] * inner[3] >= small.shape[0] * small.shape[1]:
        return None
    labels = np.zeros(small.shape[:2], np.uint8)
    cv2.setRNGSeed(0)
    bgr = np.ascontiguousarray(small[..., ::-1])
    cv2.grabCut(bgr, labels, inner, np.zeros((1, 65)), np.zeros((1, 65)), 4, cv2.GC_INIT_WITH_RECT)
    found = np.isin(labels, (cv2.GC_FGD, cv2.GC_PR_FGD)).astype(np.uint8)
    opened = cv2.morphologyEx(found, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    whole = cv2.resize(opened, (crop.shape[1], crop.shape[0]), interpolation=cv2.INTER_LINEAR) > 0
    mask = np.zeros((height, width), bool)
    mask[top:bottom, left:right] = _largest_piece(whole)
    return mask


def why_box_unfit(box: Box, shape: tuple[int, int], others: Boxes) -> str | None:
    """Why no good cut-out can come of a box, or None; `others` are the boxes of all other objects.

    Cheap, and so asked before a mask is made.
    """
    height, width = shape
    x1, y1, x2, y2 = box
    if min(x2 - x1, y2 - y1) < LEAST_SIDE:
        return "too small"
    if x1 < 1 or y1 < 1 or x2 > width - 1 or y2 > height - 1:
        return "cut off by the picture's edge"
    hidden = intersections(np.array([box], np.float32), others).max(initial=0.0)
    return "overlaps another object" if hidden > MOST_HIDDEN * (x2 - x1) * (y2 - y1) else None


def why_mask_unfit(mask: Mask, box: Box) -> str | None:
    """Why a mask makes no good cut-out, or None."""
    height, width = mask.shape
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return "empty"
    top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
    if top == 0 or left == 0 or bottom == height or right == width:
        return "cut off by the picture's edge"
    area = int(np.count_nonzero(mask))
    if area < LEAST_FILL * (bottom - top) * (right - left):
        return "fills too little of its box"
    if bottom - top < LEAST_REACH * (box[3] - box[1]) or right - left < LEAST_REACH * (box[2] - box[0]):
        return "only a part of its box"
    if np.count_nonzero(_largest_piece(mask[top:bottom, left:right])) < LEAST_WHOLE * area:
        return "in pieces"
    return None


def _largest_piece(mask: Mask) -> Mask:
    count, pieces, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    if count <= 2:
        return mask
    return np.asarray(pieces == 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA])))
