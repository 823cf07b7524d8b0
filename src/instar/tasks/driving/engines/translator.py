"""Night made by light, depth and label map, then brought closer to photographs by a network.

The network runs when the change is decided, on a small picture. Its maps of light are kept by content hash
like a cut-out, so that the picture is the same on every machine and at every replay, at any strength.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.change import Inapplicable
from instar.core.scene import Image
from instar.cutouts import CutOuts
from instar.cutouts.kept import KeptCutOuts
from instar.imaging.mask_text import ids_from_text
from instar.imaging.street_light import HEIGHT, apply_light, light_maps
from instar.tasks.driving.engines import Edit, SceneView, atmosphere
from instar.tasks.driving.engines.darkness import night
from instar.tasks.driving.engines.surroundings import Light, surroundings_of
from instar.tasks.driving.rules.model import Condition

LEAST = 10.0  # squared grey levels: a network that changes less of what was made does nothing


@dataclass(frozen=True, slots=True)
class Translating:
    """The engine of that name."""

    name: str

    def plan(
        self, condition: Condition, view: SceneView, rng: np.random.Generator
    ) -> tuple[Edit, ...] | Inapplicable:
        edits = atmosphere.plan(condition, view, rng)
        if isinstance(edits, Inapplicable):
            return edits
        (edit,) = edits
        if edit["kind"] != "night":  # it learned dusk too, but makes dark spots on the road
            return Inapplicable(f"no network has learned {edit['kind']}")
        assert view.gallery is not None, "a gallery is made before pictures are changed"
        small, ids, end = _smaller(view.image, edit)
        made, even, sky = _made(small, ids, end, edit)
        maps = light_maps(made, even, sky, ids, is_night=True)
        translated = apply_light(maps, made, even, sky, ids)
        if float(np.square(translated.astype(np.float32) - made).mean()) < LEAST:
            return Inapplicable("the network changes nothing of what was made")
        kept = KeptCutOuts(view.gallery.pool.folder).keep(maps)
        return ({**edit, "engine": self.name, "cutout": kept},)

    def alter(self, edit: Edit, comparative: str, view: SceneView) -> Edit | Inapplicable:
        return atmosphere.alter(edit, comparative, view)

    def less(self, edit: Edit, view: SceneView) -> Iterator[Sequence[Edit]]:
        return atmosphere.less(edit, view)

    def make(self, image: Image, edit: Edit, cutouts: CutOuts) -> Image:
        """The picture at night, in the light that the network told."""
        ids, end = ids_from_text(edit["classes"]), (float(edit["horizon"]), float(edit["vanishing"]))
        made, even, sky = _made(image, ids, end, edit)
        return apply_light(cutouts.pixels(edit["cutout"]), made, even, sky, ids)


def _smaller(image: Image, edit: Edit) -> tuple[Image, npt.NDArray[np.uint8], tuple[float, float]]:
    """Picture, classes and the end of the road at the size that the network was trained on."""
    ids, scale = ids_from_text(edit["classes"]), HEIGHT / image.shape[0]
    size = (round(image.shape[1] * scale), HEIGHT)
    end = (float(edit["horizon"]) * scale, float(edit["vanishing"]) * scale)
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    return (
        np.asarray(small, np.uint8),
        np.asarray(cv2.resize(ids, size, interpolation=cv2.INTER_NEAREST)),
        end,
    )


def _made(
    image: Image, ids: npt.NDArray[np.uint8], end: tuple[float, float], edit: Edit
) -> tuple[Image, Image, Light]:
    """The picture made by light, depth and map, the one by day without shadows, and the share of sky."""
    light = image.astype(np.float32) / np.float32(255)
    around = surroundings_of(light, ids, *end)
    even = around.shadowless(light)
    made = night(light, even, around, float(edit["strength"]), np.random.default_rng(edit["seed"]))
    pictures = [np.clip(np.rint(one * 255), 0, 255).astype(np.uint8) for one in (made, even)]
    return pictures[0], pictures[1], around.sky[..., 0]


camvid = Translating("translator")
