"""The relations of the interpreters' paper: what may change, and the explanation that must stay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.change import Change, Inapplicable
from instar.core.errors import BadInput
from instar.core.relation import Relation, Workspace
from instar.core.scene import Image, Observation, Scene
from instar.core.system import System
from instar.core.verdict import Verdict
from instar.cutouts import CutOuts, Pool, build_pool, load_pool
from instar.imaging.inpaint import FILLINGS, Filling
from instar.imaging.naturalness import hog_intersection
from instar.imaging.nulls import (
    Brighten,
    Conditioned,
    Reencode,
    Shift,
    again,
    displacement,
    fixed_nulls,
    fresh_null,
)
from instar.tasks.interpretation.answers import Asked, Explanation, accept
from instar.tasks.interpretation.boxes import KEPT
from instar.tasks.interpretation.changes import (
    SQUEEZES,
    Delete,
    Insert,
    Reseed,
    Squeeze,
    Squeezing,
    Unchanged,
    made,
)
from instar.tasks.interpretation.compare import BETA, THETA, same_explanation, true_explanation
from instar.tasks.interpretation.knowledge import Known, know
from instar.tasks.interpretation.panels import panels
from instar.tasks.interpretation.picture import picture
from instar.tasks.interpretation.placement import choose_deletion, choose_insertion, choose_squeeze
from instar.tasks.interpretation.shrink import less_deleted, less_squeezed, smaller_insertions

__all__ = ["SureClasses", "delete", "delete_same", "insert", "squeeze", "truth"]

Draw = Callable[[Observation, np.random.Generator], "Change | Inapplicable"]
Prepared = Callable[[Known], Relation]


def insert(
    *,
    pool: Path | str | Pool | CutOuts | None = None,
    objects: System | None = None,
    beta: float = BETA,
    theta: float = THETA,
    kept: float = KEPT,
) -> Relation:
    """Paste an object of another class clear of everything known: the explanation stays where it was.

    Without a `pool` one is made from the campaign's own scenes. `beta` is the least confidence, before and
    after; `theta` the least IoMin of the two explanations; `kept` where a heat map is cut.
    """
    judging = _Judging("insert", beta, theta, kept)
    cutouts = load_pool(pool) if isinstance(pool, (str, Path)) else pool
    return _insert(judging, Known(), cutouts, objects)


def _insert(judging: _Judging, known: Known, cutouts: CutOuts | None, helper: System | None) -> Relation:
    def pixels_of() -> CutOuts:
        if cutouts is None:
            raise BadInput("insert: there are no cut-outs yet; they are made when a campaign begins")
        return cutouts

    def draw(source: Observation, rng: np.random.Generator) -> Change | Inapplicable:
        pool = pixels_of()
        if not isinstance(pool, Pool):
            raise BadInput("insert: there is no pool to draw from; it is made when a campaign begins")
        return choose_insertion(source.scene, source.input, known, pool, rng)

    def pixels(change: Any) -> Mapping[str, npt.NDArray[np.uint8]]:
        return {change.cutout: pixels_of().pixels(change.cutout)} if isinstance(change, Insert) else {}

    def smaller(source: Observation, change: Any) -> Iterator[Sequence[Change]]:
        height, width = pixels_of().pixels(change.cutout).shape[:2]
        yield smaller_insertions(change, (height, width))

    def prepare(scenes: Sequence[Scene], workspace: Workspace) -> Relation:
        known = know("insert", scenes, workspace, helper)
        return _insert(judging, known, cutouts or _own_pool(scenes, workspace, known), helper)

    relation = judging.relation("insert", draw, known, pixels_of, prepare)
    return replace(relation, pixels=pixels, smaller=smaller)


def delete(
    *,
    objects: System | None = None,
    filling: Filling = "telea",
    beta: float = BETA,
    theta: float = THETA,
    kept: float = KEPT,
) -> Relation:
    """Remove an object of another class, its place filled in: the explanation stays where it was.

    `filling` is "telea" or "navier-stokes" by OpenCV, or "mi-gan", a network of 28 MB that is fetched.
    """
    return _delete("delete", _Judging("delete", beta, theta, kept), Known(), objects, filling, same=False)


def delete_same(
    *,
    objects: System | None = None,
    filling: Filling = "telea",
    beta: float = BETA,
    theta: float = THETA,
    kept: float = KEPT,
) -> Relation:
    """Remove one of several objects of the asked class: what explains the others stays where it was."""
    judging = _Judging("delete-same", beta, theta, kept)
    return _delete("delete-same", judging, Known(), objects, filling, same=True)


def _delete(
    name: str, judging: _Judging, known: Known, helper: System | None, filling: Filling, *, same: bool
) -> Relation:
    if filling not in FILLINGS:
        raise BadInput(f"{name}: filling is {filling!r}; it is one of {', '.join(FILLINGS)}")

    def draw(source: Observation, rng: np.random.Generator) -> Change | Inapplicable:
        return choose_deletion(source.scene, source.input, known, rng, filling=filling, same=same)

    def prepare(scenes: Sequence[Scene], workspace: Workspace) -> Relation:
        return _delete(name, judging, know(name, scenes, workspace, helper), helper, filling, same=same)

    # What is left of one of the class may be pointed at, so that of the same class less would be unfair.
    smaller = (lambda source, change: ()) if same else less_deleted
    return replace(judging.relation(name, draw, known, _no_cutouts, prepare, gone=same), smaller=smaller)


def squeeze(
    *,
    objects: System | None = None,
    bits: int = SQUEEZES["depth"],
    median: int = SQUEEZES["median"],
    blur: int = SQUEEZES["blur"],
    beta: float = BETA,
    theta: float = THETA,
    kept: float = KEPT,
) -> Relation:
    """Fewer colours, a median or a blur for the background alone: the explanation stays where it was."""
    if not 1 <= bits <= 8:
        raise BadInput(f"squeeze: bits is {bits}; it must be between 1 and 8")
    for name, side in (("median", median), ("blur", blur)):
        if not (side >= 3 and side % 2 == 1):
            raise BadInput(f"squeeze: {name} is {side}; it must be an odd number of pixels, at least 3")
    strengths: dict[Squeezing, int] = {"depth": bits, "median": median, "blur": blur}
    return _squeeze(_Judging("squeeze", beta, theta, kept), Known(), objects, strengths)


def _squeeze(
    judging: _Judging, known: Known, helper: System | None, strengths: Mapping[Squeezing, int]
) -> Relation:
    def by(how: Squeezing, source: Observation, rng: np.random.Generator) -> Change | Inapplicable:
        return choose_squeeze(source.scene, source.input, known, how, strengths[how])

    def draw(source: Observation, rng: np.random.Generator) -> Change | Inapplicable:
        return by(list(strengths)[int(rng.integers(len(strengths)))], source, rng)

    def prepare(scenes: Sequence[Scene], workspace: Workspace) -> Relation:
        return _squeeze(judging, know("squeeze", scenes, workspace, helper), helper, strengths)

    relation = judging.relation("squeeze", draw, known, _no_cutouts, prepare)
    ways: dict[str, Draw] = {how: partial(by, how) for how in strengths}
    return replace(relation, ways=ways, smaller=less_squeezed)


def truth(
    *, objects: System | None = None, beta: float = BETA, theta: float = THETA, kept: float = KEPT
) -> Relation:
    """Nothing changes: the explanation lies on the objects of its class, or on the trigger where there is
    one.
    """
    return _truth(_Judging("truth", beta, theta, kept), Known(), objects)


def _truth(judging: _Judging, known: Known, helper: System | None) -> Relation:
    def draw(source: Observation, rng: np.random.Generator) -> Change | Inapplicable:
        boxes = known.boxes_of(source.scene, source.input)
        return Unchanged() if boxes else Inapplicable("no object of the class is known")

    def check(source: Observation, follow_ups: Sequence[Observation], change: Conditioned) -> Verdict:
        asked: Asked = source.input
        boxes = known.boxes_of(source.scene, asked)
        verdict = true_explanation(
            follow_ups[0].answer,
            boxes,
            _size(asked),
            beta=judging.beta,
            theta=judging.theta,
            kept=judging.kept,
        )
        return _noted(verdict, source)

    def prepare(scenes: Sequence[Scene], workspace: Workspace) -> Relation:
        return _truth(judging, know("truth", scenes, workspace, helper), helper)

    # A finding here is no contradiction between two answers, so that there is nothing to strike out by.
    relation = judging.relation("truth", draw, known, _no_cutouts, prepare)
    held_against = partial(panels, kept=judging.kept, truth=known.boxes_of)
    return replace(relation, check=check, null=None, again=None, panels=held_against)


@dataclass(frozen=True)
class SureClasses:
    """`Relation.expand`: one question for every class that the classifier is sure of and a known object has.

    A class that no known object has is not asked about: nobody knows which pixels would have to stay. Of a
    twin with a backdoor the stamped picture is asked about, and the class that the trigger stands for. Where
    there is no question, it says why.
    """

    beta: float
    known: Known

    def __call__(
        self, scene: Scene, system: Any
    ) -> Iterable[tuple[str, Callable[[Image], Asked]]] | Inapplicable:
        if not callable(getattr(system, "sure", None)):
            raise BadInput(
                f"{system.name} is no classifier with an interpreter: it has no sure(image, least=...)"
            )
        trigger = getattr(system, "trigger", None)
        if trigger is not None:
            stamped = partial(_stamped, trigger)
            if trigger.target in system.sure(stamped(scene.image).image, least=self.beta):
                return [(f"{trigger.target} by trigger", stamped)]
            return Inapplicable("the twin does not see its trigger")
        sure = system.sure(scene.image, least=self.beta)
        if not sure:
            return Inapplicable("the classifier is sure of no class")
        labels = {thing.label for thing in self.known.objects(scene)}
        asked = [(label, partial(Asked, label=label)) for label in sure if label in labels]
        return asked or Inapplicable("no known object of a class that the classifier is sure of")


def _stamped(trigger: Any, image: Image) -> Asked:
    return Asked(trigger.stamped(image), trigger.target, trigger=trigger.box(image.shape[:2]))


@dataclass(frozen=True)
class _Judging:
    """What all relations of the family have in common, and the numbers they are judged by."""

    owner: str
    beta: float
    theta: float
    kept: float

    def __post_init__(self) -> None:
        for name, value in (("beta", self.beta), ("theta", self.theta), ("kept", self.kept)):
            if not (isinstance(value, (int, float)) and 0 < value < 1):
                raise BadInput(f"{self.owner}: {name} is {value!r}; it must be a number between 0 and 1")

    def relation(
        self,
        name: str,
        draw: Draw,
        known: Known,
        cutouts: Callable[[], CutOuts],
        prepare: Callable[[Sequence[Scene], Workspace], Relation],
        *,
        gone: bool = False,
    ) -> Relation:
        def check(source: Observation, follow_ups: Sequence[Observation], change: Conditioned) -> Verdict:
            asked: Asked = source.input
            boxes = known.boxes_of(source.scene, asked)
            if gone and isinstance(change, Delete):  # what was removed explains nothing any more
                boxes = tuple(box for box in boxes if tuple(map(float, box)) != tuple(change.box))
            verdict = same_explanation(
                source.answer,
                follow_ups[0].answer,
                _size(asked),
                split=boxes,
                shift=displacement(change),
                beta=self.beta,
                theta=self.theta,
                kept=self.kept,
                changed=isinstance(change, (Insert, Delete, Squeeze)),
            )
            if isinstance(change, Squeeze):
                verdict = replace(verdict, evidence={**verdict.evidence, "how": change.how})
            return _noted(verdict, source)

        def apply(asked: Asked, change: Conditioned) -> tuple[Asked, ...]:
            return (made(asked, change, cutouts),)

        return Relation(
            name,
            draw,
            apply,
            check,
            null=_null,
            again=again,
            accept=accept,
            expand=SureClasses(self.beta, known),
            prepare=prepare,
            naturalness=lambda source, after, change: hog_intersection(source.input.image, after.image),
            picture=partial(picture, kept=self.kept, truth=known.boxes_of),
            panels=partial(panels, kept=self.kept),
        )


def _noted(verdict: Verdict, source: Observation) -> Verdict:
    return replace(verdict, evidence={**verdict.evidence, "label": source.input.label})


def _null(source: Observation, rng: np.random.Generator) -> Iterator[Change]:
    """Changes that must do nothing; of an interpreter that draws lots, other lots before all else."""
    found: Explanation = source.answer
    if not found.random:
        yield fresh_null(rng)
        yield from fixed_nulls()
        return
    yield Reseed(int(rng.integers(1000, 2**31)))
    yield from (Reseed(1), Reseed(2), Reencode(95), Brighten(1), Shift(1, 0))


def _size(asked: Asked) -> tuple[int, int]:
    return asked.image.shape[0], asked.image.shape[1]


def _no_cutouts() -> CutOuts:
    raise BadInput("this change pastes nothing, and has no cut-outs")


def _own_pool(scenes: Sequence[Scene], workspace: Workspace, known: Known) -> Pool:
    folder = Path(workspace.folder) / "pool"
    if (folder / "index.json").is_file():
        return load_pool(folder)
    # What is in them has been looked for already, where it had to be.
    told = [replace(scene, objects=known.objects(scene)) for scene in scenes]
    return build_pool(told, folder, find_objects=lambda image: (), progress=workspace.progress)
