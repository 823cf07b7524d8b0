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
import numpy.typing as npt

from instar.core.change import Inapplicable
from instar.core.scene import Image, Mask
from instar.cutouts import CutOuts
from instar.cutouts.kept import KeptCutOuts
from instar.imaging.foliage import edge_of, lay_leaves
from instar.imaging.mask_text import ids_to_text
from instar.imaging.painter import clear_sky, paint
from instar.imaging.paste import RGBA, resized
from instar.imaging.photometric import light_of
from instar.imaging.street_classes import STREET, street_ids
from instar.imaging.treeline import lay_treelines
from instar.tasks.driving.engines import Edit, SceneView
from instar.tasks.driving.engines.selection import LINES, select_pixels
from instar.tasks.driving.engines.target_map import (
    LOW,
    Ids,
    behind,
    crumbs_of,
    hole_around,
    planted,
    with_attached,
)
from instar.tasks.driving.engines.words import unshown
from instar.tasks.driving.ground import ROAD, ROADSIDE, STANDING
from instar.tasks.driving.maps import with_lines
from instar.tasks.driving.outlines import Outline
from instar.tasks.driving.rules.model import Condition

SEEDS = 2**31
LINE_MARGIN = 7  # pixels across: paint is worn along its edge
HEDGE = 0.035  # of the width: a hedge before trees is so high above the horizon
SMOOTH, UNEVEN, UNDER = 41, 4.0, 8  # pixels: of the hedge before trees, which reach down into it
HEDGES, LIFT = 0.5, (0.4, 2.0)  # of the picture's light: what hedges before a street have; times as light
SHADE = 0.6  # of the light of leaves, between them
THROUGH = (0.75, 0.93)  # of the sky's brightness: what is as bright among poles and branches is sky
SEEN = 0.5  # of a pixel: then it shows a tree
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
            outlines = outlines_for(condition, view)
            if isinstance(outlines, Inapplicable):
                return outlines
            mask, crumbs = house_and_crumbs(mask, view)
            whole = _others(mask, view) | view.labels.mask(["vegetation"])
            if self.leaves:  # the painter's ground would be seen before the trees
                whole |= view.labels.mask((*ROAD, *ROADSIDE))
            hole = hole_around(mask, whole, stands=False)
            rows = _treelines_like(view) if self.leaves else []
            low, end = HEDGE if rows else LOW, view.ground.horizon
            wanted = planted(ids_of(view), mask, outlines, end, rng, low=low, before_trees=bool(rows))
            painted, hole, wanted = self._with_trees(mask, hole, wanted, view, rows, seed)
            painted = np.where((crumbs & ~hole)[..., None], view.image, painted)
            wanted = np.where(crumbs, np.uint8(STREET.index("vegetation")), wanted)
            hole = hole | crumbs
        edit = {"engine": self.name, "of": condition.element}
        if condition.new is not None:
            edit["becomes"] = "vegetation"
        return ({**edit, **keep_patch(painted, hole, wanted, STREET, view)},)

    def _with_trees(
        self,
        gone: Mask,
        hole: Mask,
        wanted: Ids,
        view: SceneView,
        rows: Sequence[tuple[RGBA, int]],
        seed: int,
    ) -> tuple[Image, Mask, Ids]:
        """The picture with trees, and hole and map with what of them reaches into the sky."""
        assert view.gallery is not None, "a gallery is made before pictures are changed"
        known = view.gallery.leaves if self.leaves else ()
        if not known:
            return paint(view.image, hole, wanted, painter=self.painter, seed=seed), hole, wanted
        light, rng = light_of(view.image).mean, np.random.default_rng(seed)
        alike = [one for one in known if light / ALIKE <= one[1] <= light * ALIKE] or known
        digest, _ = alike[int(rng.integers(len(alike)))]
        leaves = np.asarray(view.gallery.pool.pixels(digest)[..., :3], np.float32)
        lift = np.clip(HEDGES * light / max(1.0, float(leaves.mean())), *LIFT)
        leaves = np.clip(np.rint(leaves * lift), 0, 255).astype(np.uint8)
        sky = np.uint8(STREET.index("sky"))
        trees = (hole & (wanted != sky)) | (gone & (wanted == STREET.index("vegetation")))
        air = edge_of(trees, wanted == sky)  # what is seen between the outermost branches
        painted, _ = clear_sky(view.image, hole, np.where(air, sky, wanted), edge=1)
        if rows:
            may = np.maximum(hole, _air(view))
            columns = np.asarray(gone.any(axis=0))
            painted, cover, ends = lay_treelines(painted, may, columns, rows, rng)
            lifted = cv2.blur(cv2.erode(ends.astype(np.float32)[None], np.ones((1, SMOOTH))), (SMOOTH, 1))[0]
            uneven = cv2.GaussianBlur(rng.normal(0, 1, (1, len(lifted))), (0, 0), SMOOTH / 4)[0]
            lifted += UNEVEN * uneven / max(1e-6, float(uneven.std())) - UNDER
            free = hole | ((ids_of(view) == sky) & columns)
            below = np.arange(len(gone))[:, None] - lifted
            trees |= free & (below >= 0)
            painted[trees & (below >= UNDER)] = leaves.reshape(-1, 3).mean(axis=0) * SHADE
            hole = hole | (cover > 0) | trees
            wanted = np.where(trees | (cover > SEEN), np.uint8(STREET.index("vegetation")), wanted)
        return lay_leaves(painted, trees, leaves, rng), hole, wanted

    def make(self, image: Image, edit: Edit, cutouts: CutOuts) -> Image:
        """The picture with what was painted; only the hole changes."""
        return lay_patch(image, edit, cutouts)


def outlines_for(condition: Condition, view: SceneView) -> Sequence[Outline] | Inapplicable:
    """Outlines of trees, where it is trees that take the place of something."""
    assert condition.new is not None, "what is replaced is replaced by something"
    assert view.gallery is not None, "a gallery is made before pictures are changed"
    if condition.new.element != "tree":
        return Inapplicable(f"no network paints a {condition.new.element!r}")
    unsaid = unshown(condition, own=tuple(condition.properties), reference=("position",))
    if unsaid is not None:
        return unsaid
    if not view.gallery.outlines:
        return Inapplicable("no tree stands before the sky in any scene, to take its outline from")
    return view.gallery.outlines


def house_and_crumbs(mask: Mask, view: SceneView) -> tuple[Mask, Mask]:
    """What makes room for trees with what hangs on it, and small pieces that may as well be branches."""
    mask = with_attached(ids_of(view), mask) & ~view.labels.mask(["traffic light"])
    crumbs = crumbs_of(mask)
    return mask & ~crumbs, crumbs


def without(mask: Mask, view: SceneView, *, of: str) -> tuple[Mask, Ids]:
    """The hole that a removed thing leaves, and the label map that is wanted in it."""
    ids = ids_of(view)
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


def _air(view: SceneView) -> npt.NDArray[np.float32]:
    """How much of each pixel shows the sky: maps draw poles and bare trees wider than they are."""
    ids, grey = ids_of(view), view.image.mean(axis=2)
    sky = np.asarray(ids == STREET.index("sky"))
    if not sky.any():
        return np.zeros(ids.shape, np.float32)
    level = grey / max(1.0, float(np.median(grey[sky])))
    through = np.clip((level - THROUGH[0]) / (THROUGH[1] - THROUGH[0]), 0, 1)
    bare = np.isin(ids, [STREET.index(name) for name in ("vegetation", "unlabelled")])
    bare |= (ids == STREET.index("pole")) & (through == 1)  # a pole may be nearly as bright
    bare &= np.arange(len(ids))[:, None] < view.ground.horizon
    return np.asarray(np.where(sky, 1.0, np.where(bare, through, 0.0)), np.float32)


def _treelines_like(view: SceneView) -> list[tuple[RGBA, int]]:
    """Rows of trees of scenes as light as this one, in its light, and the row of the upper edge of each."""
    assert view.gallery is not None, "a gallery is made before pictures are changed"
    light, columns = light_of(view.image).mean, view.size[1]
    end = view.ground.horizon + view.gallery.rise * view.size[0]
    found = []
    for digest, own, wide, above in view.gallery.treelines:
        if not light / ALIKE <= own <= light * ALIKE:
            continue
        pixels, scale = view.gallery.pool.pixels(digest), columns / wide
        size = (max(1, round(pixels.shape[1] * scale)), max(1, round(pixels.shape[0] * scale)))
        found.append((resized(pixels, *size), round(end - above * scale)))
    return found


def ids_of(view: SceneView) -> Ids:
    """What each pixel of the view shows, of `STREET`, lane lines too."""
    return street_ids(with_lines(view.labels, view.image))


def _others(mask: Mask, view: SceneView) -> Mask:
    """Things that stand before what is changed, and must stay whole."""
    return np.asarray(view.labels.mask(STANDING) & ~mask)


drawn = Painting("painting", "drawn", leaves=True)
camvid = Painting("painting", "camvid", leaves=True)
camvid_painted = Painting("painting", "camvid")  # trees too
