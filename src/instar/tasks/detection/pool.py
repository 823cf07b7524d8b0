"""Cut-outs from scenes: by annotated masks, by a system's masks, or by outlines within a detector's boxes."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from instar.core.errors import BadInput, UnknownName, UnreadablePicture
from instar.core.scene import Image, Mask, Scene, SceneObject
from instar.core.system import System, describe_error
from instar.cutouts import Pool, build_pool
from instar.cutouts.build import FindOutline
from instar.cutouts.extraction import grab_mask
from instar.imaging.geometry import Box, mask_bounds
from instar.imaging.paste import RGBA
from instar.tasks.detection.answers import read
from instar.tasks.detection.class_names import canonical_class
from instar.tasks.detection.outlines import sam2_outliner
from instar.tasks.detection.recognition import recognition
from instar.tasks.detection.whole_objects import LEAST_QUALITY

OutlineName = Literal["grabcut", "u2net-p", "sam2"]
RECOGNISED = 0.3  # the least score
OUTLINES: tuple[OutlineName, ...] = ("grabcut", "u2net-p", "sam2")


def find_outline(name: OutlineName) -> FindOutline:
    """How the outline of an object is found where only its box is known."""
    if name == "grabcut":
        return grab_mask
    if name == "u2net-p":
        from instar.tasks.detection.systems.u2net import u2net_outline  # fetched only when it is wanted

        return u2net_outline()
    find = sam2_outliner()

    def outline(image: Image, box: Box) -> Mask | None:
        found = find(image, box)
        return found.alpha > 127 if found.quality >= LEAST_QUALITY else None

    return outline


def pool_from_scenes(
    scenes: Sequence[Scene],
    folder: Path,
    *,
    objects: System | str,
    outline: OutlineName,
    progress: Callable[[str, int | None], Any],
    keep: float = 0.10,
    least: int = 5,
    rendered: Container[str] = (),
) -> Pool:
    """Cut out what the scenes know, else what the helper `objects` finds.

    A helper may answer with boxes, whose outlines are then looked for, or with masks: a mapping with
    `masks` (n, H, W) and `labels`. What was found and outlined is kept only if the helper finds it again
    where it stands alone (see `recognition`); annotated masks need no such proof. Of `rendered` classes only
    what has a mask is cut out: a guessed outline lacks an arm or a leg too often. Questions to a helper are
    no queries. Outlines by SAM 2 count as masks; they take seconds for each picture.
    """
    if outline not in OUTLINES:
        raise UnknownName("outline", outline, OUTLINES)
    find = lru_cache(maxsize=1)(lambda: _helper(objects))  # loaded only when a scene knows no objects

    def recognised(thing: SceneObject, pixels: RGBA) -> bool:
        return thing.mask is not None or recognition(find(), pixels, thing.label) >= RECOGNISED

    slow = lru_cache(maxsize=1)(lambda: find_outline(outline))

    def find_objects(image: Image) -> Iterable[SceneObject]:
        helper = find()
        try:
            (answer,) = helper.predict([image])
            return tuple(_objects_in(image, answer))
        except UnreadablePicture:
            raise
        except Exception as error:  # whatever a helper raises; hiding it would leave a pool of too few
            raise BadInput(
                f"insertion: {helper.name} cannot find objects to cut out ({describe_error(error)}); "
                "give another system as objects, or a pool"
            ) from error

    return build_pool(
        scenes,
        folder,
        find_objects=find_objects,
        outline=lambda image, box: slow()(image, box),
        accept=recognised,
        wanted=lambda thing: (
            thing.mask is not None or outline == "sam2" or canonical_class(thing.label) not in rendered
        ),
        progress=progress,
        keep=keep,
        least=least,
    )


def _objects_in(image: Image, answer: Any) -> Iterator[SceneObject]:
    if not (isinstance(answer, Mapping) and "masks" in answer):
        found = read(image, answer).confident()
        for label, (x1, y1, x2, y2) in zip(found.labels, found.boxes.tolist()):
            yield SceneObject(label, (x1, y1, x2, y2))
        return
    masks, labels = np.asarray(answer["masks"]).astype(np.bool_), list(answer["labels"])
    if masks.ndim != 3 or masks.shape[1:] != image.shape[:2] or len(masks) != len(labels):
        raise ValueError(f"masks {masks.shape} and {len(labels)} labels do not fit a picture {image.shape}")
    for mask, label in zip(masks, labels):
        box = mask_bounds(mask)
        if box is not None:
            yield SceneObject(str(label), box, partial(np.asarray, mask))


def _helper(objects: System | str) -> System:
    if not isinstance(objects, str):
        return objects
    if objects != "yolox-nano":
        raise BadInput(f"insertion: objects is {objects!r}; give a system, or 'yolox-nano'")
    from instar.tasks.detection.systems.onnx import yolox  # onnxruntime only when it is needed

    return yolox()
