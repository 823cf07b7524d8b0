"""Label maps of scenes: known ones, and those that a segmentation system makes."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping
from functools import lru_cache, partial
from typing import Any, cast

import numpy as np

from instar.core.errors import BadInput
from instar.core.scene import Scene
from instar.core.system import System, ask
from instar.imaging.labels import LabelMap
from instar.scenes.palettes import COMMON

__all__ = ["labels_of", "read_labels", "with_maps"]

KEPT = 32


def labels_of(scene: Scene) -> LabelMap | None:
    """The label map that a scene knows, made when asked for."""
    make: Any = scene.knowledge.get("labels")
    return None if make is None else make()


def with_maps(scene: Scene, maps: System | None) -> Scene:
    """The scene with label maps of the system, where it knows none."""
    if maps is None or "labels" in scene.knowledge:
        return scene
    return dataclasses.replace(
        scene, knowledge={**scene.knowledge, "labels": partial(_found, scene, cast(Hashable, maps))}
    )


@lru_cache(maxsize=KEPT)
def _found(scene: Scene, maps: Any) -> LabelMap:
    image = scene.image
    (reply,) = ask(maps, [image], retries=0)
    if reply.error is not None:
        raise BadInput(f"{maps.name} makes no label map of {scene.id}: {reply.error}")
    try:
        labels = read_labels(reply.answer)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{maps.name}, {scene.id}: {error}") from None
    if labels.ids.shape != image.shape[:2]:
        raise BadInput(
            f"{maps.name}: its map of {scene.id} is {labels.ids.shape}, and the picture {image.shape[:2]}"
        )
    return labels


def read_labels(answer: Any) -> LabelMap:
    """A label map out of what a segmentation system says: ids `(H, W)` and the names of the classes.

    `{"labels": ids, "names": [...]}`, a pair of both, or a `LabelMap`; names may be those of other data sets.

    >>> read_labels({"labels": [[0, 1]], "names": ["Road", "Pedestrian"]}).names
    ('road', 'person')
    """
    if isinstance(answer, LabelMap):
        return answer
    if isinstance(answer, Mapping):
        if set(answer) != {"labels", "names"}:
            raise ValueError(f"a label map has the keys labels and names, not {sorted(map(str, answer))}")
        ids, names = answer["labels"], answer["names"]
    elif isinstance(answer, (tuple, list)) and len(answer) == 2:
        ids, names = answer
    else:
        raise TypeError(f"a label map is a mapping with labels and names, not {type(answer).__name__}")
    array = np.asarray(ids)
    if (
        array.ndim != 2
        or array.dtype.kind not in "iu"
        or array.min(initial=0) < 0
        or array.max(initial=0) > 255
    ):
        raise ValueError(
            f"labels are whole numbers from 0 to 255 in rows and columns, not {array.dtype} {array.shape}"
        )
    plain = [str(name).strip().lower().replace("_", " ") for name in names]
    return LabelMap(array.astype(np.uint8), tuple(COMMON.get(name, name) for name in plain))
