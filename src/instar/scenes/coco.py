"""Scenes from COCO instances files: boxes, polygons and run lengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from instar.core.scene import Mask, Scene, SceneObject
from instar.scenes.coco_file import entry_box, entry_size, listed_scenes, read_document, read_entries, telling
from instar.scenes.masks import polygons_mask, runs_mask

__all__ = ["coco"]


def coco(path: str | Path, *, images: str | Path | None = None, limit: int | None = None) -> list[Scene]:
    """The scenes of a COCO instances file, with labels and boxes, and masks made when asked for.

    Pictures are looked for in the folder `images`, or else beside the file, in `images/` and where
    COCO itself keeps them; one with another suffix will do. A picture that is listed and not there is
    a scene that cannot be read. In a file without annotations nothing is known of any scene.
    Annotations of pictures that are not listed and boxes without area are left out.
    """
    path = Path(path)
    document = read_document(path)
    listed = read_entries(document, "images", path)
    with telling(path, "a category"):
        labels = {
            key: str(entry["name"]) for key, entry in read_entries(document, "categories", path).items()
        }
    objects: dict[Any, list[SceneObject]] = {key: [] for key in listed}
    for number, entry in enumerate(document.get("annotations", ())):
        with telling(path, f"annotation {number}"):
            if entry["image_id"] in listed:
                found = _object(entry, labels, entry_size(listed[entry["image_id"]]))
                objects[entry["image_id"]] += found
    bare = listed_scenes(path, listed, images=images, limit=limit)
    if "annotations" not in document:
        return list(bare.values())
    return [Scene(scene.id, scene.read, tuple(objects[key])) for key, scene in bare.items()]


def _object(entry: Mapping[str, Any], labels: Mapping[Any, str], size: tuple[int, int]) -> list[SceneObject]:
    box = entry_box(entry)
    if box is None:
        return []
    if entry["category_id"] not in labels:
        raise ValueError(f"there is no category {entry['category_id']!r}")
    mask = _mask(entry.get("segmentation"), size)
    return [SceneObject(labels[entry["category_id"]], box, mask, bool(entry.get("iscrowd", 0)))]


def _mask(segmentation: Any, size: tuple[int, int]) -> Callable[[], Mask] | None:
    if not segmentation:
        return None
    if isinstance(segmentation, Mapping):
        counts = segmentation["counts"]
        height, width = segmentation.get("size", size)
        if (height, width) != size:
            raise ValueError(f"its mask is {width} x {height}, its picture {size[1]} x {size[0]}")
        return partial(runs_mask, counts if isinstance(counts, str) else [int(n) for n in counts], size)
    # Arrays take a tenth of the memory of the lists that JSON gave.
    polygons = [np.array(numbers, np.float32).reshape(-1, 2) for numbers in segmentation]
    if not all(np.isfinite(polygon).all() for polygon in polygons):
        raise ValueError("a polygon with a number that is not finite")
    return partial(polygons_mask, polygons, size)
