"""Replacing things that stand on the ground: each is painted over, and a cut-out put in its place."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from instar.core.change import Inapplicable
from instar.core.scene import Image, Mask
from instar.cutouts import CutOuts
from instar.imaging.painter import paint
from instar.imaging.paste import resized
from instar.imaging.street_classes import STREET
from instar.tasks.driving.engines import Edit, SceneView, paste
from instar.tasks.driving.engines.label_painter import keep_patch, lay_patch, without
from instar.tasks.driving.engines.paste import cutout_of, paste_of, times_usual
from instar.tasks.driving.engines.placement import on_feet, size_at
from instar.tasks.driving.engines.selection import select_pixels
from instar.tasks.driving.engines.words import unshown
from instar.tasks.driving.ground import STANDING
from instar.tasks.driving.rules.model import Condition

LEAST_PIXELS, LEAST_HEIGHT = 60, 6
OPAQUE = 128


@dataclass(frozen=True, slots=True)
class Swap:
    """The engine of that name, with the weights of that painter."""

    name: str
    painter: str

    def plan(
        self, condition: Condition, view: SceneView, rng: np.random.Generator
    ) -> tuple[Edit, ...] | Inapplicable:
        """One edit for all pieces: feet and middle of each stay, the size is what the other has there."""
        new = condition.new
        assert new is not None, "what is replaced is replaced by something"
        assert view.gallery is not None, "a gallery is made before pictures are pasted"
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
        placed: list[tuple[Mask, Edit]] = []
        for piece in _pieces(mask):
            cutout = cutout_of(new, view, rng, facing=_facing(piece, view))
            if isinstance(cutout, Inapplicable):
                return cutout
            edit = _in_place_of(piece, paste_of(cutout, view, new), view, cutout.label, times_usual(new))
            if isinstance(edit, Inapplicable):
                return edit
            if edit is not None:
                placed.append((piece, edit))
        if not placed:
            return Inapplicable("no free place")
        gone = np.any([piece for piece, _ in placed], axis=0)
        region, ids = without(gone, view, of=condition.element)
        picture = paint(view.image, region, ids, painter=self.painter, seed=int(rng.integers(2**31)))
        names = (*STREET, placed[0][1]["label"])
        # The farthest first: what is nearer stands before it.
        for _, edit in sorted(placed, key=lambda one: int(one[1]["foot"])):
            nearer = _nearer(edit, gone, view)
            made = paste.make(picture, edit, view.gallery.pool)
            picture = np.where(nearer[..., None], picture, made)
            covered = _covered(edit, view) & ~nearer
            region, ids = (
                region | (_box(edit, view) & ~nearer),
                np.where(covered, len(STREET), ids).astype(np.uint8),
            )
        told: Edit = {"engine": self.name, "of": condition.element, "becomes": names[-1]}
        told = {**told, "placed": [edit for _, edit in placed]}
        return ({**told, **keep_patch(picture, region, ids, names, view)},)

    def make(self, image: Image, edit: Edit, cutouts: CutOuts) -> Image:
        """The picture with the one thing gone and the other there."""
        return lay_patch(image, edit, cutouts)


def _pieces(mask: Mask) -> list[Mask]:
    count, pieces, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    return [pieces == i for i in range(1, count) if stats[i, cv2.CC_STAT_AREA] >= LEAST_PIXELS]


def _facing(piece: Mask, view: SceneView) -> str:
    """Which way what stands there looks: on the other side of the road things come towards us."""
    assert view.gallery is not None, "a gallery is made before pictures are pasted"
    if not view.gallery.keeps:
        return ""
    rows, columns = np.flatnonzero(piece.any(axis=1)), np.flatnonzero(piece.any(axis=0))
    own, wide = view.ground.path(int(rows[-1])), int(columns[-1]) - int(columns[0])
    aside = float(columns.mean()) - own
    other = aside > wide / 2 if view.gallery.keeps == "left" else aside < -wide / 2
    return "here" if other else "away"


def _in_place_of(
    piece: Mask, edit: Edit, view: SceneView, label: str, times: float
) -> Edit | Inapplicable | None:
    """Where the piece stands, inside the picture; None for what is too far away to be seen."""
    assert view.gallery is not None, "a gallery is made before pictures are pasted"
    rows, columns = np.flatnonzero(piece.any(axis=1)), np.flatnonzero(piece.any(axis=0))
    foot, middle = int(rows[-1]), (int(columns[0]) + int(columns[-1])) / 2
    size = view.gallery.heights[label] * times
    height, width = size_at(edit, foot, size, view.ground)
    left = min(max(round(middle - width / 2), 0), view.size[1] - width)
    if height < LEAST_HEIGHT:
        return None
    if left < 0 or foot + 1 < height:
        return Inapplicable("no free place")  # all are replaced, or none
    return on_feet(edit, foot, size, left, (height, width))


def _box(edit: Edit, view: SceneView) -> Mask:
    """Where pasting may change something: the shadow at the feet too."""
    mask = np.zeros(view.size, np.bool_)
    mask[edit["y"] : edit["y"] + edit["height"], edit["x"] : edit["x"] + edit["width"]] = True
    return mask


def _nearer(edit: Edit, gone: Mask, view: SceneView) -> Mask:
    """What stands before the new thing: posts, railings and people whose feet are lower in the picture."""
    box = _box(edit, view)
    things = (view.labels.mask((*STANDING, "fence")) & ~gone & box).astype(np.uint8)
    count, pieces, stats, _ = cv2.connectedComponentsWithStats(things)
    last = edit["y"] + edit["height"] - 1
    ends = stats[:, cv2.CC_STAT_TOP] + stats[:, cv2.CC_STAT_HEIGHT] - 1
    return np.isin(pieces, [number for number in range(1, count) if ends[number] >= last - 1])


def _covered(edit: Edit, view: SceneView) -> Mask:
    """Where the cut-out hides what is behind it."""
    assert view.gallery is not None, "a gallery is made before pictures are pasted"
    mask = np.zeros(view.size, np.bool_)
    pixels = resized(view.gallery.pool.pixels(edit["cutout"]), edit["width"], edit["height"])
    rows, columns = slice(edit["y"], edit["y"] + edit["height"]), slice(edit["x"], edit["x"] + edit["width"])
    mask[rows, columns] = pixels[..., 3] >= OPAQUE
    return mask


drawn = Swap("swap", "drawn")
camvid = Swap("swap", "camvid")
