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
from instar.imaging.paste import BLENDS, Blend
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.average_precision import map_equal
from instar.tasks.detection.changes import Insertion, paste, paste_part
from instar.tasks.detection.class_names import canonical_class
from instar.tasks.detection.coco_names import COCO_NAMES
from instar.tasks.detection.compare import same_objects
from instar.tasks.detection.harm import load_harm, with_harm
from instar.tasks.detection.naturalness import measure_naturalness, measure_part
from instar.tasks.detection.placement import find_placements, match_look
from instar.tasks.detection.places import Placement, Placements, Scale, Way, choose_place
from instar.tasks.detection.pool import OUTLINES, OutlineName, pool_from_scenes
from instar.tasks.detection.shrink import smaller_insertions
from instar.tasks.detection.task import TASK, require_threshold
from instar.tasks.detection.verification import tell_pasted

Oracle = Literal["same_objects", "map_equal"]
ORACLES: tuple[Oracle, ...] = ("same_objects", "map_equal")
SHADOW = 0.35  # how dark the ground becomes where something stands
BUNDLED, SCENES = "bundled", "scenes"
UNNATURAL = "not natural enough"
TRIES = 8
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
    least_natural: float = 0.5,
) -> Relation:
    """Paste an object where nothing was found; all that was found before must be found again.

    Without a `pool` one is made from the campaign's own scenes: from their annotated masks, else from those
    of the helper system `objects`, else by `outline` (see `OUTLINES`) in the boxes that it finds.
    Cut-outs never come from the scene they go into. `scale` is the size of the nearest instance, or "paper"
    for the mean of its class. `oracle` is "map_equal" for that of the paper, which has no use for
    `hysteresis` beyond keeping clear of weak boxes. `harm` is a table of how bad a finding is by class.
    Things of COCO's classes that would look less natural than `least_natural` are not drawn (see
    `naturalness`), but by the paper's ways: `scale="paper"`, and the search `random`. With 0 they also stand
    beside what is not seen whole. A `pool` is a folder, "bundled" for what comes along, which otherwise
    stands in for classes that the scenes do not have, or "scenes" for nothing but what they have.
    """
    require_one_of("insertion", "blend", blend, BLENDS)
    require_one_of("insertion", "scale", scale, ("nearest", "paper"))
    require_one_of("insertion", "oracle", oracle, ORACLES)
    require_one_of("insertion", "outline", outline, OUTLINES)
    for name, value in (("hysteresis", hysteresis), ("iou", iou), ("least_natural", least_natural)):
        require_threshold("insertion", name, value)
    harms = load_harm(harm)
    scenes_only = str(pool) == SCENES
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

        def natural(source: Observation, change: Insertion) -> float:
            return measure_part(source, paste_part(source.input, change, the_cutouts()), change).overall

        def recipe(source: Observation, place: Placement, x: int, y: int) -> Insertion:
            return _insertion(place, x, y, source.input, the_cutouts(), blend)

        @lru_cache(maxsize=256)
        def placements_of(source: Observation, way: Way) -> Placements | Inapplicable:
            known = the_cutouts()
            if not isinstance(known, Pool):
                raise BadInput("insertion: a run's cut-outs can be pasted again, but none can be chosen")
            halves = least_natural == 0
            return find_placements(
                source, known, hysteresis=hysteresis, scale=scale, way=way, beside_halves=halves
            )

        def draw(source: Observation, rng: np.random.Generator, *, way: Way) -> Insertion | Inapplicable:
            placements = placements_of(source, way)
            if isinstance(placements, Inapplicable):
                return placements
            least = 0.0 if scale == "paper" or way == "random" else least_natural
            for _ in range(TRIES):
                chosen, x, y = choose_place(placements, rng)
                change = recipe(source, chosen, x, y)
                strange = canonical_class(change.label) not in COCO_NAMES
                if least == 0 or strange or natural(source, change) >= least:
                    return change
            return Inapplicable(UNNATURAL)

        def apply(image: Image, change: Insertion) -> Image:
            return paste(image, change, the_cutouts())

        def expect(source: Observation, follow_ups: Sequence[Observation], change: Insertion) -> Verdict:
            verdict = judge(source.answer, follow_ups[0].answer, pasted=change.box)
            return tell_pasted(with_harm(verdict, harms), change.label, change.box)

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
            rendered = Pool(Path(), ()) if scenes_only else bundled_pool()
            own = _own_pool(scenes, workspace, objects, outline, rendered)
            ready = join_pools(own, rendered, canonical_class)
            without = sorted({label for label in map(canonical_class, own.without) if label not in ready})
            if without:
                shown = without if len(without) < 5 else [*without[:3], f"{len(without) - 3} more"]
                workspace.say(f"insertion pastes no {', '.join(shown)}: these pictures give no good cut-out")
            return with_cutouts(ready)

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

    if scenes_only:
        pool = None
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
    scenes: Sequence[Scene], workspace: Workspace, objects: System | str, outline: OutlineName, rendered: Pool
) -> Pool:
    folder = workspace.folder / "pool"
    if (folder / "index.json").is_file():
        return load_pool(folder)
    progress = workspace.progress
    return pool_from_scenes(
        scenes, folder, objects=objects, outline=outline, progress=progress, rendered=rendered
    )
