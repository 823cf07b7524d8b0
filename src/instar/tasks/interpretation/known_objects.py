"""What is known to be in the pictures: annotations, or what a helper system found in them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from instar.core.answer_values import numbers, plain_list
from instar.core.errors import BadInput, UnreadablePicture
from instar.core.relation import Workspace
from instar.core.scene import Mask, Observation, Scene, SceneObject
from instar.core.system import System, describe_error
from instar.imaging.by_identity import by_identity
from instar.imaging.geometry import Box, Boxes
from instar.tasks.interpretation.answers import Asked
from instar.tasks.interpretation.boxes import locate_heat
from instar.user_file import read_json, write_whole

_CONFIDENCE = 0.5


@dataclass(frozen=True)
class KnownObjects:
    """The objects of scenes; `file` has those that a helper found where there are no annotations."""

    file: str | None = None

    def objects(self, scene: Scene) -> tuple[SceneObject, ...]:
        if scene.objects is not None:
            return scene.objects
        return _load(self.file).get(scene.id, ()) if self.file is not None else ()

    def boxes_of(self, scene: Scene, asked: Asked) -> tuple[Box, ...]:
        """The true reasons for the label: the trigger where there is one, else all objects of that class."""
        if asked.trigger is not None:
            return (asked.trigger,)
        return tuple(thing.box for thing in self.objects(scene) if thing.label == asked.label)

    def reasons(self, source: Observation) -> tuple[Box, ...]:
        """What must not be touched: the known objects of the label, else what the explanation marks."""
        known = self.boxes_of(source.scene, source.input)
        if known:
            return known
        image = source.input.image
        marked = locate_heat(source.answer.heat, (image.shape[0], image.shape[1])).whole
        return () if marked is None else (marked,)

    def taken(self, source: Observation) -> Boxes:
        """`float32 (n, 4)`: the boxes of everything known, and of the reasons for the label."""
        boxes = [thing.box for thing in self.objects(source.scene)]
        return np.array([*boxes, *self.reasons(source)], np.float32).reshape(-1, 4)


def find_objects(
    relation: str, scenes: Sequence[Scene], workspace: Workspace, helper: System | None
) -> KnownObjects:
    """Let the helper find the objects of scenes that know none; what it finds is kept with the run."""
    unknown = [scene for scene in scenes if scene.objects is None]
    if not unknown:
        return KnownObjects()
    path = Path(workspace.folder) / "objects.json"
    if not path.is_file():
        if helper is None:  # then the explanations themselves say what not to touch
            return KnownObjects()
        found: dict[str, Any] = {}
        with workspace.progress(f"looking for objects with {helper.name}", len(unknown)) as bar:
            for scene in unknown:
                try:
                    things = _ask_helper(relation, helper, scene)
                except UnreadablePicture:
                    things = []  # counted where the scene itself is tested
                found[scene.id] = [[thing.label, *map(float, thing.box)] for thing in things]
                bar.advance(1)
        write_whole(path, json.dumps(found) + "\n")
    return KnownObjects(str(path))


def _ask_helper(relation: str, helper: System, scene: Scene) -> list[SceneObject]:
    """What a detector is sure of in a scene; any answer with boxes, labels and scores will do."""
    image = scene.image
    try:
        return list(_read(helper.predict([image])[0], image.shape[:2]))
    except Exception as error:  # whatever a helper raises; hiding it would leave objects unprotected
        raise BadInput(
            f"{relation}: {helper.name} cannot find the objects of {scene.id} ({describe_error(error)}); "
            "give another system as objects"
        ) from error


def mask_of(thing: SceneObject, size: tuple[int, int], *, margin: int = 0) -> Mask:
    """`bool (height, width)`: the object's own mask or else its box, and so many pixels around it."""
    return _mask_of(thing, size, margin)


@by_identity(64)  # a mask is drawn or unpacked each time that it is asked for
def _mask_of(thing: SceneObject, size: tuple[int, int], margin: int) -> Mask:
    if margin:
        kernel = np.ones((2 * margin + 1, 2 * margin + 1), np.uint8)
        grown = cv2.dilate(_mask_of(thing, size, 0).astype(np.uint8), kernel)
        return np.asarray(grown.astype(np.bool_), np.bool_)
    mask = thing.mask() if thing.mask is not None else None
    if mask is None or mask.shape != size or not mask.any():
        mask = box_mask(thing.box, size)
    return np.asarray(mask, np.bool_)


def box_mask(box: Box, size: tuple[int, int]) -> Mask:
    """`bool (height, width)`: every pixel that the box touches."""
    mask = np.zeros(size, np.bool_)
    x1, y1, x2, y2 = box
    mask[max(0, int(np.floor(y1))) : int(np.ceil(y2)), max(0, int(np.floor(x1))) : int(np.ceil(x2))] = True
    return mask


def _read(answer: Any, size: tuple[int, int]) -> Iterator[SceneObject]:
    def part(name: str) -> Any:
        return answer[name] if isinstance(answer, dict) else getattr(answer, name)

    boxes = numbers("boxes", part("boxes")).reshape(-1, 4)
    scores = numbers("scores", part("scores"))
    sure = getattr(answer, "confidence", _CONFIDENCE)
    for label, score, box in zip(plain_list("labels", part("labels"), "names"), scores, boxes):
        x1, x2 = np.clip(box[[0, 2]], 0, size[1]).tolist()
        y1, y2 = np.clip(box[[1, 3]], 0, size[0]).tolist()
        if score >= sure and x2 > x1 and y2 > y1:
            yield SceneObject(str(label), (x1, y1, x2, y2))


@lru_cache(maxsize=4)
def _load(file: str) -> dict[str, tuple[SceneObject, ...]]:
    found = read_json(Path(file))
    try:
        return {
            scene: tuple(SceneObject(label, (x1, y1, x2, y2)) for label, x1, y1, x2, y2 in things)
            for scene, things in found.items()
        }
    except (AttributeError, ValueError, TypeError) as error:
        raise BadInput(
            f"{file} cannot be read ({error}); delete it, and the objects are found anew"
        ) from error
