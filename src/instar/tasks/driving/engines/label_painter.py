"""Removing and replacing by a network that paints what the wanted label map says (`imaging.painter`).

The network runs when the change is decided. What it made is kept by content hash like a cut-out, so that
the picture is the same on every machine and at every replay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from instar.core.change import Inapplicable
from instar.core.scene import Image, Mask
from instar.cutouts import CutOuts
from instar.cutouts.kept import KeptCutOuts
from instar.imaging.foliage import edge_of, lay_leaves
from instar.imaging.mask_text import ids_to_text
from instar.imaging.painter import clear_sky, paint
from instar.imaging.photometric import light_of
from instar.imaging.street_classes import STREET, street_ids
from instar.tasks.driving.engines import Edit, SceneView
from instar.tasks.driving.engines.selection import LINES, select_pixels
from instar.tasks.driving.engines.target_map import Ids, behind, hole_around, planted, with_attached
from instar.tasks.driving.engines.words import unshown
from instar.tasks.driving.ground import ROAD, ROADSIDE, STANDING
from instar.tasks.driving.maps import with_lines
from instar.tasks.driving.rules.model import Condition

__all__ = ["Painting", "camvid", "drawn", "keep_patch", "lay_patch", "without"]

SEEDS = 2**31
LINE_MARGIN = 7  # pixels across: paint is worn along its edge
ALIKE = 1.7  # times as light: leaves of such scenes look at home
ELSEWHERE = 255  # in the map of a patch: nothing changes


@dataclass(frozen=True, slots=True)
class Painting:
    """The engine of that name, with the weights of that painter.

    With `leaves`, trees get leaves and branches of trees in the scenes, laid over what was painted.
    """

    name: str
    painter: str
    leaves: bool = False

    def plan(
        self, condition: Condition, view: SceneView, rng: np.random.Generator
    ) -> tuple[Edit, ...] | Inapplicable:
        mask = select_pixels(condition, view)
        if isinstance(mask, Inapplicable):
            return mask
        seed = int(rng.integers(SEEDS))
        if condition.op == "remove":
            hole, wanted = without(mask, view, of=condition.element)
            painted = paint(view.image, hole, wanted, painter=self.painter, seed=seed)
        else:
            assert condition.new is not None, "what is replaced is replaced by something"
            assert view.gallery is not None, "a gallery is made before pictures are changed"
            if condition.new.element != "tree":
                return Inapplicable(f"no network paints a {condition.new.element!r}")
            unsaid = unshown(condition, own=tuple(condition.properties), reference=("position",))
            if unsaid is not None:
                return unsaid
            outlines = view.gallery.outlines
            if not outlines:
                return Inapplicable("no tree stands before the sky in any scene, to take its outline from")
            mask = with_attached(_ids(view), mask)
            whole = _others(mask, view) | view.labels.mask(["vegetation"])
            if self.leaves:  # the painter's ground would be seen before the trees
                whole |= view.labels.mask((*ROAD, *ROADSIDE))
            hole = hole_around(mask, whole, stands=False)
            wanted = planted(_ids(view), mask, outlines, view.ground.horizon, rng)
            painted = self._with_trees(mask, hole, wanted, view, seed)
        edit = {"engine": self.name, "of": condition.element}
        if condition.new is not None:
            edit["becomes"] = "vegetation"
        return ({**edit, **keep_patch(painted, hole, wanted, STREET, view)},)

    def _with_trees(self, gone: Mask, hole: Mask, wanted: Ids, view: SceneView, seed: int) -> Image:
        assert view.gallery is not None, "a gallery is made before pictures are changed"
        known = view.gallery.leaves if self.leaves else ()
        if not known:
            return paint(view.image, hole, wanted, painter=self.painter, seed=seed)
        light, rng = light_of(view.image).mean, np.random.default_rng(seed)
        alike = [one for one in known if light / ALIKE <= one[1] <= light * ALIKE] or known
        digest, _ = alike[int(rng.integers(len(alike)))]
        sky = np.uint8(STREET.index("sky"))
        trees = (hole & (wanted != sky)) | (gone & (wanted == STREET.index("vegetation")))
        air = edge_of(trees, wanted == sky)  # what is seen between the outermost branches
        painted, _ = clear_sky(view.image, hole, np.where(air, sky, wanted), edge=1)
        return lay_leaves(painted, trees, view.gallery.pool.pixels(digest)[..., :3], rng)

    def make(self, image: Image, edit: Edit, cutouts: CutOuts) -> Image:
        """The picture with what was painted; only the hole changes."""
        return lay_patch(image, edit, cutouts)


def without(mask: Mask, view: SceneView, *, of: str) -> tuple[Mask, Ids]:
    """The hole that a removed thing leaves, and the label map that is wanted in it."""
    ids = _ids(view)
    if of in LINES:
        hole = cv2.dilate(mask.astype(np.uint8), np.ones((LINE_MARGIN, LINE_MARGIN), np.uint8)) > 0
        hole &= view.labels.mask(ROAD) | mask
        return hole, np.where(hole, np.uint8(STREET.index("road")), ids).astype(np.uint8)
    stands = bool(set(view.ontology.elements[of].classes) & set(STANDING))
    hole = hole_around(mask, _others(mask, view), stands=stands)
    return hole, behind(ids, mask, hole, view.ground)


def keep_patch(
    picture: Image, region: Mask, ids: Ids, names: Sequence[str], view: SceneView
) -> dict[str, Any]:
    """The part of an edit that says what a region shows from now on, its pixels kept by content hash."""
    assert view.gallery is not None, "a gallery is made before pictures are changed"
    x, y, width, height = cv2.boundingRect(region.astype(np.uint8))
    rows, columns = slice(y, y + height), slice(x, x + width)
    shown = np.where(region, np.uint8(255), np.uint8(0))
    patch = np.dstack([np.where(region[..., None], picture, 0), shown])[rows, columns]
    return {
        "cutout": KeptCutOuts(view.gallery.pool.folder).keep(np.ascontiguousarray(patch, np.uint8)),
        "x": x,
        "y": y,
        "map": ids_to_text(np.where(region, ids, np.uint8(ELSEWHERE))),
        "names": ",".join(names),
    }


def lay_patch(image: Image, edit: Edit, cutouts: CutOuts) -> Image:
    """The picture with the patch in it; outside of the patch nothing changes."""
    patch = cutouts.pixels(edit["cutout"])
    result: Image = image.copy()
    place = result[edit["y"] : edit["y"] + patch.shape[0], edit["x"] : edit["x"] + patch.shape[1]]
    place[:] = np.where(patch[..., 3:] > 0, patch[..., :3], place)
    return result


def _ids(view: SceneView) -> Ids:
    return street_ids(with_lines(view.labels, view.image))


def _others(mask: Mask, view: SceneView) -> Mask:
    """Things that stand before what is changed, and must stay whole."""
    return np.asarray(view.labels.mask(STANDING) & ~mask)


drawn = Painting("painting", "drawn", leaves=True)
camvid = Painting("painting", "camvid")
