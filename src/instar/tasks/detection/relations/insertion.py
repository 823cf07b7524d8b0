"""Paste one more object: everything else must still be found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from instar.core.change import Inapplicable
from instar.core.errors import BadInput
from instar.core.options import require_one_of
from instar.core.recipe import recorded
from instar.core.relation import Draw, Relation, Workspace
from instar.core.scene import Image, Observation, Scene
from instar.core.system import System
from instar.core.verdict import Verdict
from instar.cutouts import CutOuts, Pool, load_pool
from instar.cutouts.pool import bundled_pool, join_pools
from instar.imaging.geometry import intersections
from instar.imaging.naturalness import hog_intersection
from instar.imaging.paste import BLENDS, Blend
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.average_precision import map_equal
from instar.tasks.detection.changes import Insertion, paste
from instar.tasks.detection.class_names import canonical_class
from instar.tasks.detection.compare import same_objects
from instar.tasks.detection.harm import load_harm, with_harm
from instar.tasks.detection.naturalness import measure_naturalness
from instar.tasks.detection.placement import (
    Placement,
    Placements,
    Scale,
    Way,
    choose_place,
    find_placements,
    match_look,
)
from instar.tasks.detection.pool import OUTLINES, OutlineName, pool_from_scenes
from instar.tasks.detection.shrink import smaller_insertions
from instar.tasks.detection.task import TASK, require_threshold

__all__ = ["insertion"]

Oracle = Literal["same_objects", "map_equal"]
ORACLES: tuple[Oracle, ...] = ("same_objects", "map_equal")
SHADOW = 0.35  # how dark the ground becomes where something stands
BUNDLED = "bundled"
WAYS: tuple[Way, ...] = ("guided", "random", "close")


@recorded
def insertion(
    *,
    pool: Path | str | Pool | CutOuts | None = None,
    objects: System | str = "yolox-nano",
    outline: OutlineName = "grabcut",
    blend: Blend = "feather",
    scale: Scale = "nearest",
    hysteresis: float = 0.1,
    iou: float = 0.5,
    oracle: Oracle = "same_objects",
    harm: str | None = None,
    least_natural: float = 0.0,
) -> Relation:
    """Paste an object where nothing was found; all that was found before must be found again.

    Without a `pool` one is made from the campaign's own scenes: from their annotated masks, else from those
    of the helper system `objects`, else by `outline` ("grabcut" or "u2net-p") in the boxes that it finds.
    Cut-outs never come from the scene they go into. `scale` is the size of the nearest instance, or "paper"
    for the mean of its class. `oracle` is "map_equal" for that of the paper, which has no use for
    `hysteresis` beyond keeping clear of weak boxes. `harm` is a table of how bad a finding is by class.
    Follow-ups that keep less than `least_natural` of the scene's gradients (HOG) are inapplicable.
    """
    require_one_of("insertion", "blend", blend, BLENDS)
    require_one_of("insertion", "scale", scale, ("nearest", "paper"))
    require_one_of("insertion", "oracle", oracle, ORACLES)
    require_one_of("insertion", "outline", outline, OUTLINES)
    for name, value in (("hysteresis", hysteresis), ("iou", iou), ("least_natural", least_natural)):
        require_threshold("insertion", name, value)
    harms = load_harm(harm)
    if oracle == "map_equal":
        judge = partial(map_equal, least_iou=iou)
    else:
        judge = partial(same_objects, hysteresis=hysteresis, least_iou=iou)
    task = replace(TASK, compare=lambda before, after: judge(before.answer, after.answer))

    def with_cutouts(cutouts: CutOuts | None) -> Relation:
        def the_cutouts() -> CutOuts:
            if cutouts is None:
                raise BadInput("insertion: there are no cut-outs yet; they are made when a campaign begins")
            return cutouts

        @lru_cache(maxsize=256)
        def placements_of(source: Observation, way: Way) -> Placements | Inapplicable:
            known = the_cutouts()
            if not isinstance(known, Pool):
                raise BadInput("insertion: a run's cut-outs can be pasted again, but none can be chosen")
            return find_placements(source, known, hysteresis=hysteresis, scale=scale, way=way)

        def draw(source: Observation, rng: np.random.Generator, *, way: Way) -> Insertion | Inapplicable:
            placements = placements_of(source, way)
            if isinstance(placements, Inapplicable):
                return placements
            chosen, x, y = choose_place(placements, rng)
            return _insertion(chosen, x, y, source.input, the_cutouts(), blend)

        def apply(image: Image, change: Insertion) -> Image | Inapplicable:
            follow_up = paste(image, change, the_cutouts())
            if least_natural > 0 and hog_intersection(image, follow_up) < least_natural:
                return Inapplicable("not natural enough")
            return follow_up

        def expect(source: Observation, follow_ups: Sequence[Observation], change: Insertion) -> Verdict:
            return with_harm(judge(source.answer, follow_ups[0].answer, pasted=change.box), harms)

        def fair(source: Observation, change: Insertion) -> Inapplicable | None:
            found: Detections = source.answer
            known = found.boxes[found.scores >= found.confidence - hysteresis]
            covers = (intersections(np.array([change.box], np.float32), known) > 0).any()
            return Inapplicable("it would cover what this system finds") if covers else None

        def smaller(source: Observation, change: Insertion) -> Iterator[Sequence[Insertion]]:
            height, width = the_cutouts().pixels(change.cutout).shape[:2]
            for line in smaller_insertions(source, change, (height, width)):
                yield [one for one in line if fair(source, one) is None]

        def pixels(change: Insertion) -> Mapping[str, npt.NDArray[np.uint8]]:
            return {change.cutout: the_cutouts().pixels(change.cutout)}

        def prepare(scenes: Sequence[Scene], workspace: Workspace) -> Relation:
            return with_cutouts(_own_pool(scenes, workspace, objects, outline))

        ways: dict[str, Draw] = {way: partial(draw, way=way) for way in WAYS}
        return Relation(
            "insertion",
            task,
            apply,
            draw=ways["guided"],
            expect=expect,
            prepare=prepare if cutouts is None else None,
            pixels=pixels,
            ways=ways,
            fair=fair,
            smaller=smaller,
            placebo=lambda source, change: replace(change, flat=True),
            naturalness=lambda *case: measure_naturalness(*case).overall,
        )

    if isinstance(pool, (str, Path)):
        pool = bundled_pool() if str(pool) == BUNDLED else _named(load_pool(pool))
    return with_cutouts(pool)


def _named(pool: Pool) -> Pool:
    """The same cut-outs under COCO's names where these are known."""
    return Pool(pool.folder, [replace(one, label=canonical_class(one.label)) for one in pool.cutouts])


def _insertion(place: Placement, x: int, y: int, image: Image, cutouts: CutOuts, blend: Blend) -> Insertion:
    """The recipe of a cut-out at a corner of its place, looking at home there."""
    cutout, (height, width) = place.cutout, place.size
    look = match_look(cutouts.pixels(cutout.digest), image, place, x, y)
    # What was rendered has an exact edge; a soft one would eat the spokes of a wheel.
    exact = blend == "feather" and cutout.metres > 0
    return Insertion(
        cutout.digest, cutout.label, x, y, width, height, "hard" if exact else blend,
        look.gain, look.offset, look.saturation, anchor=place.anchor,
        cast=look.cast, blur=look.blur, grain=look.grain, shadow=SHADOW if place.ground is not None else 0.0,
    )  # fmt: skip


def _own_pool(
    scenes: Sequence[Scene], workspace: Workspace, objects: System | str, outline: OutlineName
) -> Pool:
    folder = workspace.folder / "pool"
    if (folder / "index.json").is_file():
        own = load_pool(folder)
    else:
        own = pool_from_scenes(scenes, folder, objects=objects, outline=outline, progress=workspace.progress)
    return join_pools(own, bundled_pool(), canonical_class)
