"""The relations of the interpreters' paper: what may change, and the explanation that must stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.change import Inapplicable
from instar.core.errors import BadInput
from instar.core.marks import Mark, Panel
from instar.core.options import require_one_of, require_whole_number
from instar.core.recipe import recorded
from instar.core.relation import Draw, Relation, Workspace
from instar.core.scene import Image, Observation, Scene
from instar.core.system import System
from instar.core.task import Task
from instar.core.verdict import Verdict
from instar.cutouts import CutOuts, Pool, build_pool, load_pool
from instar.imaging.inpaint import FILLINGS, Filling
from instar.imaging.naturalness import hog_intersection
from instar.tasks.interpretation.boxes import KEPT_SHARE
from instar.tasks.interpretation.changes import (
    SQUEEZES,
    Delete,
    Insert,
    Squeeze,
    Squeezing,
    Unchanged,
    paste_object,
    remove_object,
    squeeze_background,
)
from instar.tasks.interpretation.compare import BETA, THETA, same_explanation, true_explanation
from instar.tasks.interpretation.known_objects import KnownObjects, find_objects
from instar.tasks.interpretation.placement import choose_deletion, choose_insertion, choose_squeeze
from instar.tasks.interpretation.shrink import delete_less, shrink_insertion, squeeze_less
from instar.tasks.interpretation.task import interpretation, size_of

__all__ = ["delete", "delete_same", "insert", "squeeze", "truth"]


@recorded
def insert(
    *,
    pool: Path | str | Pool | CutOuts | None = None,
    objects: System | None = None,
    beta: float = BETA,
    theta: float = THETA,
    kept: float = KEPT_SHARE,
) -> Relation:
    """Paste an object of another class clear of everything known: the explanation stays where it was.

    Without a `pool` one is made from the campaign's own scenes. `objects` is a helper that finds objects
    where scenes have no annotations. `beta` is the least confidence, before and after; `theta` the least
    IoMin of the two explanations; `kept` where a heat map is cut.
    """
    given = load_pool(pool) if isinstance(pool, (str, Path)) else pool
    settings = _Settings("insert", beta, theta, kept)

    def make(known: KnownObjects, cutouts: CutOuts | None) -> Relation:
        def the_cutouts() -> CutOuts:
            if cutouts is None:
                raise BadInput("insert: there are no cut-outs yet; they are made when a campaign begins")
            return cutouts

        def draw(source: Observation, rng: np.random.Generator) -> Insert | Inapplicable:
            found = the_cutouts()
            if not isinstance(found, Pool):
                raise BadInput("insert: there is no pool to draw from; it is made when a campaign begins")
            return choose_insertion(source, known, found, rng)

        def apply(image: Image, change: Insert) -> Image:
            return paste_object(image, change, the_cutouts())

        def pixels(change: Insert) -> Mapping[str, npt.NDArray[np.uint8]]:
            return {change.cutout: the_cutouts().pixels(change.cutout)}

        def smaller(source: Observation, change: Insert) -> Iterator[Sequence[Insert]]:
            height, width = the_cutouts().pixels(change.cutout).shape[:2]
            yield shrink_insertion(change, (height, width))

        return settings.relation(known, apply, draw=draw, pixels=pixels, smaller=smaller)

    def prepare(scenes: Sequence[Scene], workspace: Workspace) -> Relation:
        known = find_objects("insert", scenes, workspace, objects)
        return make(known, given or _own_pool(scenes, workspace, known))

    return replace(make(KnownObjects(), given), prepare=prepare)


@recorded
def delete(
    *,
    objects: System | None = None,
    filling: Filling = "telea",
    beta: float = BETA,
    theta: float = THETA,
    kept: float = KEPT_SHARE,
) -> Relation:
    """Remove an object of another class, its place filled in: the explanation stays where it was.

    `filling` is "telea" or "navier-stokes" by OpenCV, or "mi-gan", a network of 28 MB that is fetched.
    """
    return _delete(_Settings("delete", beta, theta, kept), objects, filling, same=False)


@recorded
def delete_same(
    *,
    objects: System | None = None,
    filling: Filling = "telea",
    beta: float = BETA,
    theta: float = THETA,
    kept: float = KEPT_SHARE,
) -> Relation:
    """Remove one of several objects of the asked class: what explains the others stays where it was."""
    return _delete(_Settings("delete-same", beta, theta, kept), objects, filling, same=True)


def _delete(settings: _Settings, objects: System | None, filling: Filling, *, same: bool) -> Relation:
    require_one_of(settings.name, "filling", filling, FILLINGS)

    def make(known: KnownObjects) -> Relation:
        draw = partial(choose_deletion, known=known, filling=filling, same=same)
        # A rest of an object of the class may be pointed at: removing less of it would be unfair.
        smaller = (lambda source, change: ()) if same else delete_less
        return settings.relation(known, remove_object, draw=draw, smaller=smaller)

    return _find_objects_first(settings.name, objects, make)


@recorded
def squeeze(
    *,
    objects: System | None = None,
    bits: int = SQUEEZES["depth"],
    median: int = SQUEEZES["median"],
    blur: int = SQUEEZES["blur"],
    beta: float = BETA,
    theta: float = THETA,
    kept: float = KEPT_SHARE,
) -> Relation:
    """Fewer colours, a median or a blur for the background alone: the explanation stays where it was."""
    require_whole_number("squeeze", "bits", bits, least=1, most=8)
    for name, side in (("median", median), ("blur", blur)):
        if not (side >= 3 and side % 2 == 1):
            raise BadInput(f"squeeze: {name} is {side}; it must be an odd number of pixels, at least 3")
    strengths: dict[Squeezing, int] = {"depth": bits, "median": median, "blur": blur}
    settings = _Settings("squeeze", beta, theta, kept)

    def make(known: KnownObjects) -> Relation:
        def by(how: Squeezing, source: Observation, rng: np.random.Generator) -> Squeeze | Inapplicable:
            return choose_squeeze(source, known, how, strengths[how])

        def draw(source: Observation, rng: np.random.Generator) -> Squeeze | Inapplicable:
            return by(list(strengths)[int(rng.integers(len(strengths)))], source, rng)

        ways: dict[str, Draw] = {how: partial(by, how) for how in strengths}
        return settings.relation(known, squeeze_background, draw=draw, ways=ways, smaller=squeeze_less)

    return _find_objects_first("squeeze", objects, make)


@recorded
def truth(
    *, objects: System | None = None, beta: float = BETA, theta: float = THETA, kept: float = KEPT_SHARE
) -> Relation:
    """Nothing changes: the explanation lies on the objects of its class, or on the trigger where one is."""
    settings = _Settings("truth", beta, theta, kept)

    def make(known: KnownObjects) -> Relation:
        task = settings.task(known)

        def expect(source: Observation, follow_ups: Sequence[Observation], change: Unchanged) -> Verdict:
            boxes, size = known.boxes_of(source.scene, source.input), size_of(source.input.image)
            verdict = true_explanation(follow_ups[0].answer, boxes, size, beta=beta, theta=theta, kept=kept)
            return verdict.with_evidence(label=source.input.label)

        def marks(seen: Observation) -> Panel:
            panel = task.marks(seen)
            objects = [
                Mark.box(box, label=seen.input.label) for box in known.boxes_of(seen.scene, seen.input)
            ]
            return replace(panel, marks=(*panel.marks, *objects))

        # A finding here is no contradiction between two answers: null changes cannot strike it out.
        return Relation(
            "truth",
            replace(task, nulls=None, marks=marks),
            lambda image, change: image,
            draw=lambda source, rng: Unchanged(),
            expect=expect,
        )

    return _find_objects_first("truth", objects, make)


@dataclass(frozen=True)
class _Settings:
    """The name of a relation and the numbers that it is judged by."""

    name: str
    beta: float
    theta: float
    kept: float

    def __post_init__(self) -> None:
        for name, value in (("beta", self.beta), ("theta", self.theta), ("kept", self.kept)):
            if not (isinstance(value, (int, float)) and 0 < value < 1):
                raise BadInput(f"{self.name}: {name} is {value!r}; it must be a number between 0 and 1")

    def task(self, known: KnownObjects) -> Task:
        return interpretation(beta=self.beta, theta=self.theta, kept=self.kept, known=known)

    def relation(self, known: KnownObjects, apply: Callable[[Image, Any], Image], **more: Any) -> Relation:
        """A relation whose explanation stays where it was, and does not point everywhere."""

        def expect(source: Observation, follow_ups: Sequence[Observation], change: Any) -> Verdict:
            boxes = known.boxes_of(source.scene, source.input)
            if isinstance(change, Delete) and change.label == source.input.label:
                # What was removed explains nothing any more.
                boxes = tuple(box for box in boxes if tuple(map(float, box)) != change.whole)
            verdict = same_explanation(
                source.answer,
                follow_ups[0].answer,
                size_of(source.input.image),
                split=boxes,
                beta=self.beta,
                theta=self.theta,
                kept=self.kept,
                changed=True,
            )
            how = {"how": change.how} if isinstance(change, Squeeze) else {}
            return verdict.with_evidence(label=source.input.label, **how)

        return Relation(self.name, self.task(known), apply, expect=expect, naturalness=_naturalness, **more)


def _find_objects_first(
    name: str, objects: System | None, make: Callable[[KnownObjects], Relation]
) -> Relation:
    """The relation as it is with annotations alone; before a campaign the helper finds what they lack."""

    def prepare(scenes: Sequence[Scene], workspace: Workspace) -> Relation:
        return make(find_objects(name, scenes, workspace, objects))

    return replace(make(KnownObjects()), prepare=prepare)


def _naturalness(source: Observation, follow_up: Any, change: Any) -> float:
    return hog_intersection(source.input.image, follow_up.image)


def _own_pool(scenes: Sequence[Scene], workspace: Workspace, known: KnownObjects) -> Pool:
    folder = Path(workspace.folder) / "pool"
    if (folder / "index.json").is_file():
        return load_pool(folder)
    with_objects = [replace(scene, objects=known.objects(scene)) for scene in scenes]
    return build_pool(with_objects, folder, find_objects=lambda image: (), progress=workspace.progress)
