"""Cut-outs to add to a street, and how large each class is on the ground."""

from __future__ import annotations

import dataclasses
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import cv2
import numpy as np

from instar.cutouts import Pool, build_pool, load_pool
from instar.cutouts.pool import CutOut, save_pool, write_cutout
from instar.driving.ground import ground_of
from instar.driving.maps import labels_of
from instar.imaging.hashing import average_hash
from instar.imaging.labels import LabelMap
from instar.relation import Workspace
from instar.scene import Mask, Scene, SceneObject
from instar.worlds.drive.models import models

__all__ = ["Gallery", "collect_gallery"]

CLASSES = ("person", "rider", "bicycle", "car", "truck", "bus", "van", "traffic light", "animal")
LEAST_PIXELS = 300  # of a piece of a label map; less is a crumb


@dataclass(frozen=True, slots=True, eq=False)
class Gallery:
    """The pool, and for each class its height over how far its feet are below the horizon."""

    pool: Pool
    heights: Mapping[str, float]

    def of(self, labels: Sequence[str], *, not_from: str) -> list[CutOut]:
        """The cut-outs of these classes that do not come from a scene."""
        return [
            cutout
            for cutout in self.pool.cutouts
            if cutout.label in labels and cutout.scene != not_from and cutout.label in self.heights
        ]


def collect_gallery(scenes: Sequence[Scene], workspace: Workspace) -> Gallery:
    """Cut the objects out of the scenes, by their masks or by their label maps.

    Of drawn drives there are models, which are near and whole.
    """
    folder: Path = workspace.folder / "gallery"
    sizes = folder.with_name("gallery-heights.json")
    if not ((folder / "index.json").is_file() and sizes.is_file()):
        sizes.parent.mkdir(parents=True, exist_ok=True)
        if any(scene.knowledge.get("drive") is not None for scene in scenes):
            heights = _keep_models(folder)
        else:
            known = [_with_objects(scene) for scene in scenes]
            heights = _heights(known)
            build_pool(known, folder, find_objects=lambda image: (), progress=workspace.progress)
        sizes.write_text(json.dumps(heights), encoding="utf-8")
    return Gallery(load_pool(folder), json.loads(sizes.read_text(encoding="utf-8")))


def _keep_models(folder: Path) -> dict[str, float]:
    """A pool of drawn things, and how large each class is."""
    folder.mkdir(parents=True, exist_ok=True)
    kept, seen = [], defaultdict(list)
    for label, pixels, height in models():
        name = write_cutout(folder, pixels)
        tall, wide = pixels.shape[:2]
        area = int(np.count_nonzero(pixels[..., 3]))
        kept.append(CutOut(name, label, "", wide, tall, area, average_hash(pixels)))
        seen[label].append(height)
    save_pool(folder, kept)
    return {label: median(heights) for label, heights in sorted(seen.items())}


def _with_objects(scene: Scene) -> Scene:
    """The scene with the pieces of its label map as objects, where it knows no objects."""
    labels = labels_of(scene)
    if scene.objects is not None or labels is None:
        return scene
    return dataclasses.replace(scene, objects=tuple(_pieces(scene, labels)))


def _pieces(scene: Scene, labels: LabelMap) -> Iterator[SceneObject]:
    for name in CLASSES:
        mask = labels.mask([name]).astype(np.uint8)
        _, _, stats, _ = cv2.connectedComponentsWithStats(mask)
        for number, (left, top, width, height, area) in enumerate(stats[1:].tolist(), start=1):
            if area >= LEAST_PIXELS:
                box = (float(left), float(top), float(left + width), float(top + height))
                yield SceneObject(name, box, mask=partial(_piece, scene, name, number))


def _piece(scene: Scene, name: str, number: int) -> Mask:
    labels = labels_of(scene)
    assert labels is not None, "it had one when its pieces were found"
    _, pieces = cv2.connectedComponents(labels.mask([name]).astype(np.uint8))
    return np.asarray(pieces == number)


def _heights(scenes: Sequence[Scene]) -> dict[str, float]:
    """The median of height over distance below the horizon, for each class that stands on the ground."""
    seen: dict[str, list[float]] = defaultdict(list)
    for scene in scenes:
        labels = labels_of(scene)
        ground = None if labels is None else ground_of(labels)
        if ground is None:
            continue
        for thing in scene.objects or ():
            _, top, _, bottom = thing.box
            below = bottom - ground.horizon
            if below > 0.1 * (ground.size[0] - ground.horizon) and bottom < ground.size[0] - 1:
                seen[thing.label].append((bottom - top) / below)
    return {label: median(ratios) for label, ratios in sorted(seen.items())}
