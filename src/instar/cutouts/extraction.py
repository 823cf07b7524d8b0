"""Cutting one object out of a picture: by its mask, or by GrabCut where only a box is known."""

from __future__ import annotations

import math
from typing import TypeAlias

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image, Mask
from instar.imaging.geometry import Box, Boxes, intersections, mask_bounds
from instar.imaging.paste import RGBA

Outline: TypeAlias = npt.NDArray[np.int32]

UPRIGHT = frozenset(("person", "pedestrian"))
BODIES = UPRIGHT | {"dog", "cat", "horse", "cow", "sheep", "elephant", "bear", "zebra", "giraffe"}
"""Without feet it is half a body, and nothing tells how large the whole is."""

LEAST_UPRIGHT = 1.8  # height over width of a standing figure; less sits, bends down or ends at the waist
SLENDER = 2.5  # height over width of a figure that is whole even where its legs are one
MOST_SOLID_END = 0.42  # of a body's width in one piece at its lower end

OVERLAPS = "overlaps another object"
LEAST_SIDE, LEAST_AREA = 10, 24 * 24  # pixels of the box; smaller ones are smudges
LEAST_FILL = 0.3  # of the box; less is scraps of a mask
LEAST_WHOLE = 0.85  # of the mask in its largest piece; less is an object behind something
MOST_HOLES = 0.05  # of the silhouette; more is something in front of the object
MOST_STRAIGHT = 0.55  # of the width, in one line across the lower part; more is an object behind something
LEAST_CONVEX = 0.97  # of the convex hull; boxes, trains and screens end straight by nature
EDGE = 0.01  # of the picture: annotated masks often end a few pixels before the edge that cuts them off
LEAST_REACH = 0.85  # of the box's height and width; less is half a body
MOST_HIDDEN = 0.25  # of the box covered by another object's box
MOST_IN_HULL = 0.06  # of the object's area that others may have within the hull around it
MOST_TOUCHING = 0.15  # of the outline that may lie against another object
GRABBED_SIDE = 160  # GrabCut works on a copy of about this size: its cost grows with the pixels


def cut_by_mask(image: Image, mask: Mask) -> RGBA | None:
    """The largest piece of a mask cut out, as alpha channel; None where the mask is empty."""
    piece = largest_piece(mask)
    extent = mask_bounds(piece)
    if extent is None:
        return None
    left, top, right, bottom = extent
    alpha = piece[top:bottom, left:right].astype(np.uint8) * np.uint8(255)
    return np.dstack([image[top:bottom, left:right], alpha])


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
    # Between the coarse pixels the edge runs where half of the weight is: it is smooth, and lies within.
    smooth = cv2.resize(opened * np.uint8(255), (crop.shape[1], crop.shape[0]), interpolation=cv2.INTER_CUBIC)
    mask = np.zeros((height, width), bool)
    mask[top:bottom, left:right] = largest_piece(smooth > 127)
    return mask


def why_box_unfit(box: Box, shape: tuple[int, int], others: Boxes) -> str | None:
    """Why no good cut-out can come of a box, or None; `others` are the boxes of all other objects.

    Cheap, and so asked before a mask is made.
    """
    height, width = shape
    x1, y1, x2, y2 = box
    if min(x2 - x1, y2 - y1) < LEAST_SIDE or (x2 - x1) * (y2 - y1) < LEAST_AREA:
        return "too small"
    if x1 < EDGE * width or y1 < EDGE * height or x2 > (1 - EDGE) * width or y2 > (1 - EDGE) * height:
        return "cut off by the picture's edge"
    hidden = intersections(np.array([box], np.float32), others).max(initial=0.0)
    return OVERLAPS if hidden > MOST_HIDDEN * (x2 - x1) * (y2 - y1) else None


def why_mask_unfit(mask: Mask, box: Box) -> str | None:
    """Why the largest piece of a mask makes no good cut-out of the object in a box, or None."""
    whole = largest_piece(mask)
    extent = mask_bounds(whole)
    if extent is None:
        return "empty"
    left, top, right, bottom = extent
    if top == 0 or left == 0 or bottom == mask.shape[0] or right == mask.shape[1]:
        return "cut off by the picture's edge"
    piece = whole[top:bottom, left:right]
    area = np.count_nonzero(piece)
    if area < LEAST_WHOLE * np.count_nonzero(mask):
        return "in pieces"
    if bottom - top < LEAST_REACH * (box[3] - box[1]) or right - left < LEAST_REACH * (box[2] - box[0]):
        return "only a part of its box"
    if area < LEAST_FILL * piece.size:
        return "fills too little of its box"
    outline = _outline(piece)
    silhouette = cv2.drawContours(np.zeros(piece.shape, np.uint8), [outline], -1, (1,), cv2.FILLED)
    if area < (1 - MOST_HOLES) * np.count_nonzero(silhouette):
        return "something is in front of it"
    return "cut off in a straight line" if _ends_straight(outline, piece.shape) else None


def hidden_by(mask: Mask, others: Mask) -> bool:
    """Whether other things, outlined by `others`, may hide a part of the object: they reach into the hull
    around it, or share too much of its outline.
    """
    extent = mask_bounds(mask)
    if extent is None or not others.any():
        return False
    left, top, right, bottom = extent
    # A little more than the object itself, so that what touches it from outside is seen.
    rows, columns = slice(max(0, top - 3), bottom + 3), slice(max(0, left - 3), right + 3)
    piece, around = mask[rows, columns], others[rows, columns].astype(np.uint8)
    outline = _outline(piece)
    hull = cv2.drawContours(np.zeros(piece.shape, np.uint8), [cv2.convexHull(outline)], -1, (1,), cv2.FILLED)
    if np.count_nonzero(cv2.bitwise_and(hull, around)) > MOST_IN_HULL * np.count_nonzero(piece):
        return True
    x, y = outline[:, 0].T
    touching = cv2.dilate(around, np.ones((5, 5), np.uint8))[y, x]
    return bool(touching.mean() > MOST_TOUCHING)


def stands_whole(label: str, shape: npt.ArrayLike) -> npt.NDArray[np.bool_]:
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
        if not stands_whole(label, height / width):
            return True
        if height >= SLENDER * width:
            return False
    # A bust ends in one solid stretch; whole bodies end in legs.
    low = body[int(0.9 * height)].astype(np.int8)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], low, [0]])))
    longest = int((edges[1::2] - edges[::2]).max(initial=0))
    return bool(longest > MOST_SOLID_END * width)


def _ends_straight(outline: Outline, shape: tuple[int, ...]) -> bool:
    """Whether the lower end is one straight line, as a table edge leaves of a person."""
    height, width = shape
    hull = cv2.contourArea(cv2.convexHull(outline))
    if cv2.contourArea(outline) >= LEAST_CONVEX * hull:
        return False
    corners = cv2.approxPolyDP(outline, 0.015 * math.hypot(height, width), True)[:, 0].astype(np.float64)
    following = np.roll(corners, -1, axis=0)
    across, down = np.abs(following - corners).T
    level = (down <= 0.5 * across) & ((corners + following)[:, 1] / 2 > 0.65 * height)
    return bool(across[level].max(initial=0.0) >= MOST_STRAIGHT * width)


def _outline(piece: Mask) -> Outline:
    """`int32 (n, 1, 2)`: the outer contour."""
    contours, _ = cv2.findContours(piece.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    return np.asarray(max(contours, key=cv2.contourArea), np.int32)


def largest_piece(mask: Mask) -> Mask:
    count, pieces, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    if count <= 2:
        return mask
    return np.asarray(pieces == 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA])))
