"""The relations of the interpreters' paper: what may change, and the explanation that must stay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
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
from instar.core.verdict import Verdict
from instar.cutouts import CutOuts, Pool, build_pool, load_pool
from instar.cutouts.pool import bundled_pool
from instar.imaging.inpaint import FILLINGS, Filling
from instar.tasks.interpretation.boxes import KEPT_SHARE
from instar.tasks.interpretation.changes import (
    SQUEEZES,
    Insert,
    PlaceboInsert,
    Squeeze,
    Squeezing,
    Unchanged,
    paste_object,
    remove_object,
    squeeze_background,
)
from instar.tasks.interpretation.compare import BETA, true_explanation
from instar.tasks.interpretation.known_objects import KnownObjects
from instar.tasks.interpretation.placement import (
    choose_deletion,
    choose_deletion_placebo,
    choose_insertion,
    choose_squeeze,
)
from instar.tasks.interpretation.relations.settings import Kept, naturalness, settings_of
from instar.tasks.interpretation.shrink import delete_less, shrink_insertion, squeeze_less
from instar.tasks.interpretation.task import size_of


@recorded
def insert(
    *,
    pool: Path | str | Pool | CutOuts | None = None,
    objects: System | None = None,
    beta: float = BETA,
    kept: float = KEPT_SHARE,
    paper: bool = False,
    theta: float | None = None,
) -> Relation:
    """Paste an object of another class: the explanation stays, and no heat falls on what was pasted.

    It is pasted clear of everything known. Without a `pool` one is made from the campaign's own scenes.
    `objects` is a helper that finds objects where scenes have no annotations. `beta` is the least confidence,
    before and after; `kept` where a heat map is cut. With `paper` only IoMin counts, which is at least
    `theta` (0.5).
    """
    given = load_pool(pool) if isinstance(pool, (str, Path)) else pool
    asked = Kept("insert", settings_of("insert", beta=beta, kept=kept, paper=paper, theta=theta))

    def make(how: Kept, cutouts: CutOuts | None) -> Relation:
        def the_cutouts() -> CutOuts:
            if cutouts is None:
                raise BadInput("insert: there are no cut-outs yet; they are made when a campaign begins")
            return cutouts

        def draw(source: Observation, rng: np.random.Generator) -> Insert | Inapplicable:
            return _draw_insertion(how.known, the_cutouts(), source, rng)

        def apply(image: Image, change: Insert) -> Image:
            return paste_object(image, change, the_cutouts())

        def pixels(change: Insert) -> Mapping[str, npt.NDArray[np.uint8]]:
            return {change.cutout: the_cutouts().pixels(change.cutout)}

        def smaller(source: Observation, change: Insert) -> Iterator[Sequence[Insert]]:
            height, width = the_cutouts().pixels(change.cutout).shape[:2]
            yield shrink_insertion(change, (height, width))

        return how.relation(apply, draw=draw, pixels=pixels, smaller=smaller, naturalness=naturalness)

    def prepare(scenes: Sequence[Scene], workspace: Workspace) -> Relation:
        known = asked.with_objects(scenes, workspace, objects)
        cutouts = given or _own_pool(scenes, workspace, known.known)

        def draw(source: Observation, rng: np.random.Generator) -> Insert | Inapplicable:
            drawn = _draw_insertion(known.known, cutouts, source, rng)
            return drawn if isinstance(drawn, Inapplicable) else _without_object(drawn)

        def apply(image: Image, change: Insert) -> Image:
            return paste_object(image, change, cutouts)

        return make(known.with_floor(workspace, {"apply": apply, "draw": draw}), cutouts)

    return replace(make(asked, given), prepare=prepare)


def _draw_insertion(
    known: KnownObjects, cutouts: CutOuts, source: Observation, rng: np.random.Generator
) -> Insert | Inapplicable:
    if not isinstance(cutouts, Pool):
        raise BadInput("insert: there is no pool to draw from; it is made when a campaign begins")
    return choose_insertion(source, known, cutouts, rng)


def _without_object(change: Insert) -> PlaceboInsert:
    return PlaceboInsert(**{one.name: getattr(change, one.name) for one in fields(change)})


@recorded
def delete(
    *,
    objects: System | None = None,
    filling: Filling = "telea",
    beta: float = BETA,
    kept: float = KEPT_SHARE,
    paper: bool = False,
    theta: float | None = None,
) -> Relation:
    """Remove an object of another class: the explanation stays, and no heat falls on its place.

    The place is filled in: `filling` is "telea" or "navier-stokes" by OpenCV, or "mi-gan", a network of 28 MB
    that is fetched.
    """
    settings = settings_of("delete", beta=beta, kept=kept, paper=paper, theta=theta)
    return _delete(Kept("delete", settings), objects, filling, same=False)


@recorded
def delete_same(
    *,
    objects: System | None = None,
    filling: Filling = "telea",
    beta: float = BETA,
    kept: float = KEPT_SHARE,
    paper: bool = True,
    theta: float | None = None,
) -> Relation:
    """Remove one of several objects of the asked class: what explains the others stays where it was.

    Its heat must go elsewhere, so that only IoMin can be asked for here.
    """
    if not paper:
        raise BadInput("delete-same: only IoMin of the paper fits what explains the others; leave paper out")
    settings = settings_of("delete-same", beta=beta, kept=kept, paper=True, theta=theta)
    return _delete(Kept("delete-same", settings), objects, filling, same=True)


def _delete(asked: Kept, objects: System | None, filling: Filling, *, same: bool) -> Relation:
    require_one_of(asked.name, "filling", filling, FILLINGS)

    def make(how: Kept) -> Relation:
        draw = partial(choose_deletion, known=how.known, filling=filling, same=same)
        # A rest of an object of the class may be pointed at: removing less of it would be unfair.
        smaller = (lambda source, change: ()) if same else delete_less
        return how.relation(remove_object, draw=draw, smaller=smaller, naturalness=naturalness)

    def prepare(scenes: Sequence[Scene], workspace: Workspace) -> Relation:
        known = asked.with_objects(scenes, workspace, objects)
        draw = partial(choose_deletion_placebo, known=known.known, filling=filling, same=same)
        return make(known.with_floor(workspace, {"apply": remove_object, "draw": draw}))

    return replace(make(asked), prepare=prepare)


@recorded
def squeeze(
    *,
    objects: System | None = None,
    bits: int = SQUEEZES["depth"],
    median: int = SQUEEZES["median"],
    blur: int = SQUEEZES["blur"],
    beta: float = BETA,
    kept: float = KEPT_SHARE,
    paper: bool = False,
    theta: float | None = None,
) -> Relation:
    """Fewer colours, a median or a blur for the background alone: the explanation stays as it was."""
    require_whole_number("squeeze", "bits", bits, least=1, most=8)
    for name, side in (("median", median), ("blur", blur)):
        if not (side >= 3 and side % 2 == 1):
            raise BadInput(f"squeeze: {name} is {side}; it must be an odd number of pixels, at least 3")
    strengths: dict[Squeezing, int] = {"depth": bits, "median": median, "blur": blur}
    settings = settings_of("squeeze", beta=beta, kept=kept, paper=paper, theta=theta)

    def make(kept_as: Kept) -> Relation:
        def by(how: Squeezing, source: Observation, rng: np.random.Generator) -> Squeeze | Inapplicable:
            return choose_squeeze(source, kept_as.known, how, strengths[how])

        def draw(source: Observation, rng: np.random.Generator) -> Squeeze | Inapplicable:
            return by(list(strengths)[int(rng.integers(len(strengths)))], source, rng)

        ways: dict[str, Draw] = {how: partial(by, how) for how in strengths}
        more: dict[str, Any] = {"draw": draw, "ways": ways, "smaller": squeeze_less}
        return kept_as.relation(squeeze_background, naturalness=naturalness, **more)

    return Kept("squeeze", settings).prepared(make, objects)


@recorded
def truth(
    *, objects: System | None = None, beta: float = BETA, theta: float | None = None, kept: float = KEPT_SHARE
) -> Relation:
    """Nothing changes: the explanation lies on the objects of its class, or on the trigger where one is."""
    asked = Kept("truth", settings_of("truth", beta=beta, kept=kept, paper=True, theta=theta))

    def make(how: Kept) -> Relation:
        task, known = how.task, how.known

        def expect(source: Observation, follow_ups: Sequence[Observation], change: Unchanged) -> Verdict:
            boxes, size = known.boxes_of(source.scene, source.input), size_of(source.input.image)
            if not boxes:
                return Verdict.inapplicable("no known object of the class")
            verdict = true_explanation(follow_ups[0].answer, boxes, size, settings=how.settings)
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

    return asked.prepared(make, objects)


def _own_pool(scenes: Sequence[Scene], workspace: Workspace, known: KnownObjects) -> Pool:
    """Cut-outs of the scenes' own objects; rendered ones where nothing is known of the scenes."""
    folder = Path(workspace.folder) / "pool"
    if (folder / "index.json").is_file():
        return load_pool(folder)
    with_objects = [replace(scene, objects=known.objects(scene)) for scene in scenes]
    if not any(scene.objects for scene in with_objects):
        return bundled_pool()
    return build_pool(with_objects, folder, find_objects=lambda image: (), progress=workspace.progress)
