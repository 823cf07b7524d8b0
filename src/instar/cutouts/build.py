"""Building a pool: of every class the largest objects that make good cut-outs."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from instar.core.errors import BadInput, UnreadablePicture
from instar.core.scene import Image, Mask, Scene, SceneObject
from instar.cutouts.extraction import (
    OVERLAPS,
    cut_by_mask,
    grab_mask,
    hidden_by,
    is_part_of_a_body,
    largest_piece,
    why_box_unfit,
    why_mask_unfit,
)
from instar.cutouts.pool import CutOut, Pool, load_pool, new_pool, save_pool, write_cutout
from instar.imaging.average_hash import average_hash
from instar.imaging.geometry import Box, Boxes, intersections
from instar.imaging.paste import RGBA

TRIED = 6  # times as many candidates as cut-outs wanted

FindObjects = Callable[[Image], Iterable[SceneObject]]
"""A helper that finds objects in a picture whose scene knows none."""

FindOutline = Callable[[Image, Box], Mask | None]
"""The mask of the object in a box, in the whole picture; None where it cannot be told."""

Accept = Callable[[SceneObject, RGBA], bool]
"""Whether a cut-out of an object shows what it should."""

Candidate = tuple[Scene, SceneObject, Sequence[SceneObject]]
"""An object, its scene, and everything else in it."""


def build_pool(
    scenes: Sequence[Scene],
    folder: Path,
    *,
    find_objects: FindObjects,
    outline: FindOutline = grab_mask,
    accept: Accept = lambda thing, pixels: True,
    wanted: Callable[[SceneObject], bool] = lambda thing: True,
    progress: Callable[[str, int | None], Any],
    keep: float = 0.10,
    least: int = 5,
) -> Pool:
    """Cut out what the scenes know, or what the helper finds, and keep the best of each class.

    Of each class the largest share `keep` stays, but never fewer than `least` where there are so many
    good ones. Candidates are tried from the largest down until there are enough, since cutting out is the
    costly part, and not far beyond that share: a tiny good one is worse than none. What is being built
    lies beside `folder` until it is complete. Where only a box is known, `outline` finds the object; what
    `accept` refuses is left out, and what is not `wanted` is not tried. Scenes that cannot be read are passed
    over.
    """
    candidates = _candidates(scenes, find_objects, wanted, progress)
    read = lru_cache(maxsize=16)(lambda scene: scene.image)
    with new_pool(folder) as building:
        kept: list[CutOut] = []
        with progress("cutting them out", len(candidates)) as bar:
            for label in sorted(candidates):
                enough = max(least, math.ceil(keep * len(candidates[label])))
                kept += _cut_until(
                    candidates[label][: enough * TRIED], enough, building, read, outline, accept
                )
                bar.advance(1)
        save_pool(building, kept, sorted(set(candidates) - {cutout.label for cutout in kept}))
    return load_pool(folder)


def _candidates(
    scenes: Sequence[Scene],
    find_objects: FindObjects,
    wanted: Callable[[SceneObject], bool],
    progress: Callable[[str, int | None], Any],
) -> dict[str, list[Candidate]]:
    """Every object of every scene by class, largest first."""
    found: dict[str, list[Candidate]] = defaultdict(list)
    with progress("looking for objects", len(scenes)) as bar:
        for scene in scenes:
            with suppress(UnreadablePicture):  # counted where the scene itself is tested
                objects = tuple(find_objects(scene.image)) if scene.objects is None else scene.objects
                for i, thing in enumerate(objects):
                    if not thing.crowd and wanted(thing):
                        found[thing.label].append((scene, thing, (*objects[:i], *objects[i + 1 :])))
            bar.advance(1)
    for group in found.values():
        group.sort(key=lambda candidate: -_area(candidate[1].box))
    return found


def _cut_until(
    candidates: Sequence[Candidate],
    enough: int,
    folder: Path,
    read: Callable[[Scene], Image],
    outline: FindOutline,
    accept: Accept,
) -> list[CutOut]:
    kept: dict[str, CutOut] = {}
    for candidate in candidates:
        if len(kept) == enough:
            break
        pixels = _cut(candidate, read, outline)
        scene, thing, _ = candidate
        if pixels is not None and accept(thing, pixels):
            name = write_cutout(folder, pixels)
            height, width = pixels.shape[:2]
            area = int(np.count_nonzero(pixels[..., 3]))
            kept[name] = CutOut(name, thing.label, scene.id, width, height, area, average_hash(pixels))
    return list(kept.values())


def _cut(candidate: Candidate, read: Callable[[Scene], Image], outline: FindOutline) -> RGBA | None:
    scene, thing, others = candidate
    try:
        image = read(scene)
        shape = (image.shape[0], image.shape[1])
        overlapped = why_box_unfit(thing.box, shape, _boxes(others)) == OVERLAPS
        # Boxes overlap wherever one thing stands beside another; outlines, where known, tell what is hidden.
        unclear = others if thing.mask is None else [other for other in others if other.mask is None]
        if why_box_unfit(thing.box, shape, _boxes(unclear)):
            return None
        mask = thing.mask() if thing.mask is not None else outline(image, thing.box)
        if mask is None or mask.shape != shape or why_mask_unfit(mask, thing.box):
            return None
        if is_part_of_a_body(largest_piece(mask), thing.label):
            return None
        if overlapped and hidden_by(mask, _neighbours(thing, others, shape)):
            return None
    except BadInput:
        return None  # a picture or an annotation that cannot be decoded
    return cut_by_mask(image, mask)


def _neighbours(thing: SceneObject, others: Sequence[SceneObject], shape: tuple[int, int]) -> Mask:
    """Everything else that is outlined and whose box reaches into the object's."""
    around: Mask = np.zeros(shape, np.bool_)
    common = intersections(_boxes([thing]), _boxes(others))[0]
    for other, area in zip(others, common.tolist()):
        if area > 0 and other.mask is not None:
            mask = other.mask()
            if mask.shape == shape:
                around |= mask
    return around


def _boxes(things: Sequence[SceneObject]) -> Boxes:
    return np.array([thing.box for thing in things], np.float32).reshape(-1, 4)


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
