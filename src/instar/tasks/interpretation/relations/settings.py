"""What the relations have in common: options, known objects, the floor, and how sameness is judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from instar.core.change import Change
from instar.core.errors import BadInput
from instar.core.frame import Moved
from instar.core.relation import Relation, Workspace
from instar.core.scene import Image, Mask, Observation, Scene
from instar.core.system import System
from instar.core.task import Task
from instar.core.verdict import Verdict
from instar.imaging.naturalness import hog_intersection
from instar.imaging.nulls import Brighten, Reencode, Shift
from instar.tasks.interpretation.answers import Asked
from instar.tasks.interpretation.boxes import KEPT_SHARE
from instar.tasks.interpretation.changes import Delete, Insert, Squeeze
from instar.tasks.interpretation.compare import THETA, Settings, measure, same_explanation, unfit
from instar.tasks.interpretation.floor import rehearse_floor
from instar.tasks.interpretation.known_objects import KnownObjects, box_mask, find_objects
from instar.tasks.interpretation.measures import is_empty
from instar.tasks.interpretation.task import interpretation, size_of

NULLS = (Reencode(95), Reencode(92), Brighten(2), Shift(1, 0), Shift(0, -1))
SEEDS = (11, 12)
PLACEBOS = 2  # of each question


def settings_of(
    name: str, *, beta: float, kept: float, paper: bool = False, theta: float | None = None
) -> Settings:
    """The settings that the options of a relation say."""
    if theta is not None and not paper:
        raise BadInput(f"{name}: theta is the least IoMin of the paper; give paper=true with it")
    try:
        return Settings(beta, kept, paper, THETA if theta is None else theta)
    except BadInput as wrong:
        raise BadInput(f"{name}: {wrong}") from None


@dataclass(frozen=True)
class Again(Change):
    """The same question under a null change, or with other lots drawn."""

    label: str
    null: int = 0
    seed: int = 0


def rehearse_nulls(workspace: Workspace, settings: Settings, known: KnownObjects) -> Settings:
    """The settings with the floor that null changes set."""

    def draw(null: int, seed: int, source: Observation, rng: np.random.Generator) -> Again:
        return Again(source.input.label, null, seed if source.answer.random else 0)

    def apply(picture: Image, change: Again) -> Any:
        if change.seed:
            return Asked(picture, change.label, change.seed)
        return NULLS[change.null].apply(picture)

    # An interpreter that draws lots is asked with others in place of the first null changes.
    several = [(i, SEEDS[i] if i < len(SEEDS) else 0) for i in range(len(NULLS))]
    ways = {str(i): _draw_with(draw, i, seed) for i, seed in several}
    quiet = quiet_relation("null changes", settings, known, apply, ways=ways)
    return replace(settings, floor=rehearse_floor(workspace, quiet, n=1))


def _draw_with(draw: Callable[..., Again], null: int, seed: int) -> Callable[..., Again]:
    return lambda source, rng: draw(null, seed, source, rng)


def quiet_relation(
    name: str,
    settings: Settings,
    known: KnownObjects,
    apply: Callable[[Image, Any], Any],
    **more: Any,
) -> Relation:
    """One that only measures: how much explanations differ where nothing matters."""

    def expect(source: Observation, follow_ups: Sequence[Observation], change: Any) -> Verdict:
        before, after = source.answer, follow_ups[0].answer
        ended = unfit(before, after, settings.beta)
        if ended is not None:
            return ended
        if is_empty(after.heat):
            return Verdict.inapplicable("the explanation is gone")
        size = size_of(source.input.image)
        objects = known.boxes_of(source.scene, source.input)
        changed = changed_part(change, size)
        different = measure(before, after, size, objects=objects, kept=settings.kept, changed=changed)
        return Verdict.held(0.0, **different)

    task = replace(interpretation(settings, known), nulls=None)
    if settings.kept != KEPT_SHARE:  # what is rehearsed under one name is rehearsed once
        name = f"{name}, cut at {settings.kept:g}"
    return Relation(name, task, apply, expect=expect, **more)


@dataclass(frozen=True, eq=False)
class Kept:
    """A relation under which the explanation stays as it was, and does not point everywhere."""

    name: str
    settings: Settings
    known: KnownObjects = KnownObjects()  # noqa: RUF009  # frozen

    @property
    def task(self) -> Task:
        return interpretation(self.settings, self.known)

    def relation(self, apply: Callable[[Image, Any], Image | Moved], **more: Any) -> Relation:
        def expect(source: Observation, follow_ups: Sequence[Observation], change: Any) -> Verdict:
            boxes = self.known.boxes_of(source.scene, source.input)
            if isinstance(change, Delete) and change.label == source.input.label:
                # What was removed explains nothing any more.
                boxes = tuple(box for box in boxes if tuple(map(float, box)) != change.whole)
            size = size_of(source.input.image)
            verdict = same_explanation(
                source.answer,
                follow_ups[0].answer,
                size,
                objects=boxes,
                settings=self.settings,
                changed=changed_part(change, size),
                is_real=True,
            )
            how = {"how": change.how} if isinstance(change, Squeeze) else {}
            return verdict.with_evidence(label=source.input.label, **how)

        return Relation(self.name, self.task, apply, expect=expect, **more)

    def prepared(self, make: Callable[[Kept], Relation], objects: System | None) -> Relation:
        """The relation as it is with annotations alone; before a campaign the helper finds what they lack and
        null changes set the floor.
        """

        def prepare(scenes: Sequence[Scene], workspace: Workspace) -> Relation:
            return make(self.with_objects(scenes, workspace, objects).with_floor(workspace))

        return replace(make(self), prepare=prepare)

    def with_objects(self, scenes: Sequence[Scene], workspace: Workspace, helper: System | None) -> Kept:
        return replace(self, known=find_objects(self.name, scenes, workspace, helper))

    def with_floor(self, workspace: Workspace, placebo: Mapping[str, Any] | None = None) -> Kept:
        """With the floor that null changes set, or a placebo: how it is drawn and applied."""
        if self.settings.paper:
            return self
        settings = rehearse_nulls(workspace, self.settings, self.known)
        if placebo is not None:
            quiet = quiet_relation(f"placebo of {self.name}", settings, self.known, **placebo)
            floor = rehearse_floor(workspace, quiet, n=PLACEBOS)
            settings = replace(settings, floor=settings.floor.or_more(floor))
        return replace(self, settings=settings)


def changed_part(change: Any, size: tuple[int, int]) -> Mask | None:
    """Where something was pasted or filled in; None where the change is in no part alone."""
    if isinstance(change, Delete):
        return change.mask
    return box_mask(change.box, size) if isinstance(change, Insert) else None


def naturalness(source: Observation, follow_up: Any, change: Any) -> float:
    return hog_intersection(source.input.image, follow_up.image)
