"""Removing and replacing by a network that paints what the wanted label map says (`imaging.painter`).

The network runs when the change is decided. What it made is kept by content hash like a cut-out, so that
the picture is the same on every machine and at every replay.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from instar.core.change import Inapplicable
from instar.core.scene import Image, Mask
from instar.cutouts import CutOuts
from instar.cutouts.kept import KeptCutOuts
from instar.imaging.labels import LabelMap
from instar.imaging.mask_text import mask_to_text
from instar.imaging.painter import paint
from instar.imaging.street_classes import STREET, street_ids
from instar.tasks.driving.engines import Edit, SceneView
from instar.tasks.driving.engines.selection import LINES, select_pixels
from instar.tasks.driving.engines.wanted import Ids, behind, hole_around, planted
from instar.tasks.driving.ground import ROAD, STANDING
from instar.tasks.driving.maps import with_lines
from instar.tasks.driving.rules.model import Condition

__all__ = ["Painting", "camvid", "drawn", "painted_without"]

SEED = 2**31
LINE_MARGIN = 5  # pixels across: paint is worn along its edge


@dataclass(frozen=True, slots=True)
class Painting:
    """The engine of that name, with the weights of that painter."""

    name: str
    painter: str

    def plan(
        self, condition: Condition, view: SceneView, rng: np.random.Generator
    ) -> tuple[Edit, ...] | Inapplicable:
        mask = select_pixels(condition, view)
        if isinstance(mask, Inapplicable):
            return mask
        seed = int(rng.integers(SEED))
        ids = street_ids(with_lines(view.labels, view.image))
        if condition.op == "remove":
            hole, wanted = without(ids, mask, view, of=condition.element)
        else:
            assert condition.new is not None, "what is replaced is replaced by something"
            if condition.new.element != "tree":
                return Inapplicable("the network paints trees, and nothing else in the place of things")
            assert view.gallery is not None, "a gallery is made before pictures are changed"
            outlines = view.gallery.outlines
            if not outlines:
                return Inapplicable("no tree stands before the sky in any scene, to take its outline from")
            hole = hole_around(mask, stands=False)
            wanted = planted(ids, mask, outlines, view.ground.horizon, rng)
        painted = paint(view.image, hole, wanted, painter=self.painter, seed=seed)
        return (self._edit(condition, view, hole, wanted, painted),)

    def make(self, image: Image, edit: Edit, cutouts: CutOuts) -> Image:
        """The picture with what was painted; only the hole changes."""
        patch = cutouts.pixels(edit["cutout"])
        result: Image = image.copy()
        place = result[edit["y"] : edit["y"] + patch.shape[0], edit["x"] : edit["x"] + patch.shape[1]]
        place[:] = np.where(patch[..., 3:] > 0, patch[..., :3], place)
        return result

    def _edit(self, condition: Condition, view: SceneView, hole: Mask, wanted: Ids, painted: Image) -> Edit:
        assert view.gallery is not None, "a gallery is made before pictures are changed"
        x, y, width, height = cv2.boundingRect(hole.astype(np.uint8))
        rows, columns = slice(y, y + height), slice(x, x + width)
        shown = np.where(hole, np.uint8(255), np.uint8(0))
        patch = np.dstack([np.where(hole[..., None], painted, 0), shown])[rows, columns]
        kept = KeptCutOuts(view.gallery.pool.folder).keep(np.ascontiguousarray(patch, np.uint8))
        classes = {STREET[i]: mask_to_text(hole & (wanted == i)) for i in np.unique(wanted[hole]).tolist()}
        edit = {
            "engine": self.name,
            "of": condition.element,
            "cutout": kept,
            "x": x,
            "y": y,
            "classes": classes,
        }
        return edit if condition.new is None else {**edit, "becomes": "vegetation"}


def without(ids: Ids, mask: Mask, view: SceneView, *, of: str) -> tuple[Mask, Ids]:
    """The hole that a removed thing leaves, and the label map that is wanted in it."""
    if of in LINES:
        hole = cv2.dilate(mask.astype(np.uint8), np.ones((LINE_MARGIN, LINE_MARGIN), np.uint8)) > 0
        hole &= view.labels.mask(ROAD) | mask
        return hole, np.where(hole, np.uint8(STREET.index("road")), ids).astype(np.uint8)
    stands = bool(set(view.ontology.elements[of].classes) & set(STANDING))
    hole = hole_around(mask, stands=stands)
    return hole, behind(ids, mask, hole, view.ground)


def painted_without(image: Image, labels: LabelMap, view: SceneView, mask: Mask, of: str, painter: str) -> Image:
    """The picture without a thing, painted over by the network."""
    hole, wanted = without(street_ids(with_lines(labels, image)), mask, view, of=of)
    return paint(image, hole, wanted, painter=painter)


drawn = Painting("painting", "drawn")
camvid = Painting("camvid", "camvid")
