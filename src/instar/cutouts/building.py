"""Building a pool: every object of every scene is looked at, the good ones are kept."""

from __future__ import annotations

import math
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from instar.cutouts.extraction import cut_by_mask, grab_mask, why_unfit
from instar.cutouts.pool import CutOut, Pool, load_pool, save_pool, write_cutout
from instar.errors import BadInput, UnreadablePicture
from instar.imaging.hashing import average_hash
from instar.imaging.paste import RGBA
from instar.scene import Image, Scene, SceneObject

__all__ = ["FindObjects", "build_pool"]

FindObjects = Callable[[Image], Iterable[SceneObject]]
"""A helper that finds objects in a picture whose scene knows none."""


def build_pool(
    scenes: Sequence[Scene],
    folder: Path,
    *,
    find_objects: FindObjects,
    progress: Callable[[str, int | None], Any],
    keep: float = 0.10,
    least: int = 5,
) -> Pool:
    """Cut out what the scenes know, or what the helper finds, and keep the best of each class.

    Of each class the largest share `keep` by mask area stays, but never fewer than `least`. What is
    being built lies in a folder beside `folder` until it is complete; scenes that cannot be read are
    passed over.
    """
    building = folder.with_name(folder.name + ".building")
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)
    found: dict[str, list[CutOut]] = defaultdict(list)
    with progress("cutting out objects", len(scenes)) as bar:
        for scene in scenes:
            for cutout in _cutouts_of(scene, building, find_objects):
                found[cutout.label].append(cutout)
            bar.advance(1)
    kept = [cutout for group in found.values() for cutout in _largest(group, keep, least)]
    _sweep(building, {cutout.digest for cutout in kept})
    save_pool(building, kept)
    building.rename(folder)
    return load_pool(folder)


def _cutouts_of(scene: Scene, folder: Path, find_objects: FindObjects) -> Iterator[CutOut]:
    try:
        image = scene.image
    except UnreadablePicture:
        return  # counted where the scene itself is tested
    objects = list(scene.objects if scene.objects is not None else find_objects(image))
    boxes = np.array([thing.box for thing in objects], np.float32).reshape(-1, 4)
    for i, thing in enumerate(objects):
        pixels = _cut(image, thing, np.delete(boxes, i, axis=0))
        if pixels is not None:
            name = write_cutout(folder, pixels)
            height, width = pixels.shape[:2]
            area = int(np.count_nonzero(pixels[..., 3]))
            yield CutOut(name, thing.label, scene.id, width, height, area, average_hash(pixels))


def _cut(image: Image, thing: SceneObject, others: Any) -> RGBA | None:
    if thing.crowd:
        return None
    try:
        mask = thing.mask() if thing.mask is not None else grab_mask(image, thing.box)
    except BadInput:
        return None  # an annotation that cannot be decoded
    if mask is None or mask.shape != image.shape[:2] or why_unfit(mask, thing.box, others):
        return None
    return cut_by_mask(image, mask)


def _largest(group: Sequence[CutOut], keep: float, least: int) -> list[CutOut]:
    distinct = {cutout.digest: cutout for cutout in group}.values()
    ranked = sorted(distinct, key=lambda cutout: (-cutout.area, cutout.digest))
    return ranked[: max(least, math.ceil(keep * len(ranked)))]


def _sweep(folder: Path, wanted: set[str]) -> None:
    for path in folder.glob("*.png"):
        if path.stem not in wanted:
            path.unlink()
