"""Replacing things that stand on the ground: each is filled in, and a cut-out put in its place."""

from __future__ import annotations

import cv2
import numpy as np

from instar.core.change import Inapplicable
from instar.core.scene import Image, Mask
from instar.cutouts import CutOuts
from instar.imaging.mask_text import mask_from_text, mask_to_text
from instar.imaging.paste import pasted, resized, toned
from instar.tasks.driving.engines import Edit, SceneView
from instar.tasks.driving.engines.paste import cutout_of, paste_of, times_usual
from instar.tasks.driving.engines.placement import on_feet, size_at
from instar.tasks.driving.engines.removal import fill
from instar.tasks.driving.engines.selection import select_pixels
from instar.tasks.driving.engines.words import unshown
from instar.tasks.driving.rules.model import Condition

__all__ = ["make", "plan"]

LEAST_PIXELS = 60


def plan(condition: Condition, view: SceneView, rng: np.random.Generator) -> tuple[Edit, ...] | Inapplicable:
    """One edit for each piece: the feet and the middle stay, the size is what the other has there."""
    new = condition.new
    assert new is not None, "what is replaced is replaced by something"
    mask = select_pixels(condition, view)
    if isinstance(mask, Inapplicable):
        return mask
    if new.element not in ("vehicle", "pedestrian", "bicyclist"):
        return Inapplicable(f"no cut-out of a {new.element!r} takes its place")
    unsaid = unshown(
        condition,
        own=tuple(condition.properties),
        new=("type", "color", "size", "age"),
        reference=("position",),
    )
    if unsaid is not None:
        return unsaid
    edits: list[Edit] = []
    for piece in _pieces(mask):
        cutout = cutout_of(new, view, rng)
        if isinstance(cutout, Inapplicable):
            return cutout
        edit = _in_place_of(piece, paste_of(cutout, view), view, cutout.label, times_usual(new))
        if edit is not None:
            edits.append({**edit, "engine": "swap", "of": condition.element})
    return tuple(edits) if edits else Inapplicable("no free place")


def make(image: Image, edit: Edit, cutouts: CutOuts) -> Image:
    """The picture with the one thing gone and the other there."""
    empty = fill.without(image, mask_from_text(edit["old"]))
    pixels = resized(cutouts.pixels(edit["cutout"]), edit["width"], edit["height"])
    return pasted(empty, toned(pixels, edit["gain"], edit["offset"]), edit["x"], edit["y"], "feather")


def _pieces(mask: Mask) -> list[Mask]:
    count, pieces, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    return [pieces == i for i in range(1, count) if stats[i, cv2.CC_STAT_AREA] >= LEAST_PIXELS]


def _in_place_of(piece: Mask, edit: Edit, view: SceneView, label: str, times: float) -> Edit | None:
    assert view.gallery is not None, "a gallery is made before pictures are pasted"
    rows, columns = np.flatnonzero(piece.any(axis=1)), np.flatnonzero(piece.any(axis=0))
    foot, middle = int(rows[-1]), (int(columns[0]) + int(columns[-1])) / 2
    size = view.gallery.heights[label] * times
    height, width = size_at(edit, foot, size, view.ground)
    left = round(middle - width / 2)
    if height < 6 or left < 0 or foot + 1 < height or left + width > view.size[1]:
        return None
    return {**on_feet(edit, foot, size, left, (height, width)), "old": mask_to_text(piece)}
