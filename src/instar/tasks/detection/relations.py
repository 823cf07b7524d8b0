"""The insertion relation: one more object in the picture, and everything else must still be found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.core.relation import Change, Draw, Inapplicable, Relation, Workspace
from instar.core.scene import Image, Observation, Scene
from instar.core.system import System
from instar.core.verdict import Verdict
from instar.cutouts import CutOuts, Pool, load_pool
from instar.imaging.geometry import intersections
from instar.imaging.naturalness import hog_intersection
from instar.imaging.nulls import Conditioned, again, null
from instar.imaging.paste import BLENDS, Blend
from instar.imaging.photometric import light_of
from instar.tasks.detection.answers import Detections, accept
from instar.tasks.detection.average_precision import map_equal
from instar.tasks.detection.changes import Insertion, carried_back, made
from instar.tasks.detection.compare import same_objects
from instar.tasks.detection.harm import load_severity, with_severity
from instar.tasks.detection.naturalness import naturalness
from instar.tasks.detection.panels import panels
from instar.tasks.detection.picture import picture
from instar.tasks.detection.placement import Offer, Scale, Way, choose, look_at, tone_like
from instar.tasks.detection.pool import OUTLINES, OutlineName, pool_from_scenes
from instar.tasks.detection.shrink import smaller_insertions

__all__ = ["insertion"]

Oracle = Literal["same_objects", "map_equal"]
ORACLES: tuple[Oracle, ...] = ("same_objects", "map_equal")
WAYS: tuple[Way, ...] = ("guided", "random", "close")


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
    severity: str | None = None,
    least_natural: float = 0.0,
) -> Relation:
    """Paste an object where nothing was found; all that was found before must be found again.

    Without a `pool` one is made from the campaign's own scenes: from their annotated masks, else from those
    of the helper system `objects`, else by `outline` ("grabcut" or "u2net-p") in the boxes that it finds.
    Cut-outs never come from the scene they go into. `scale` is the size of the nearest instance, or "paper"
    for the mean of its class. `oracle` is "map_equal" for that of the paper, which has no use for
    `hysteresis` beyond keeping clear of weak boxes. `severity` is a table of how bad a finding is by class.
    Follow-ups that keep less than `least_natural` of the scene's gradients (HOG) are inapplicable.
    """
    _require_one_of("blend", blend, BLENDS)
    _require_one_of("scale", scale, ("nearest", "paper"))
    _require_one_of("oracle", oracle, ORACLES)
    _require_one_of("outline", outline, OUTLINES)
    for name, value in (("hysteresis", hysteresis), ("iou", iou), ("least_natural", least_natural)):
        if not (isinstance(value, (int, float)) and 0 <= value < 1):
            raise BadInput(f"insertion: {name} is {value!r}; it must be a number of at least 0 and below 1")
    severities = load_severity(severity)
    cutouts = load_pool(pool) if isinstance(pool, (str, Path)) else pool
    light = lru_cache(maxsize=4096)(lambda name: light_of(_cutouts(cutouts).pixels(name)))

    @lru_cache(maxsize=256)
    def look(source: Observation, way: Way) -> Offer | Inapplicable:
        return look_at(source, _pool(cutouts), hysteresis=hysteresis, scale=scale, way=way)

    def draw(source: Observation, rng: np.random.Generator, *, way: Way) -> Change | Inapplicable:
        offer = look(source, way)
        if isinstance(offer, Inapplicable):
            return offer
        room, x, y = choose(offer, rng)
        tone = tone_like(light(room.cutout.digest), offer, source.input, room.like)
        height, width = room.size
        return Insertion(
            cutout=room.cutout.digest,
            label=room.cutout.label,
            x=x,
            y=y,
            width=width,
            height=height,
            blend=blend,
            gain=tone.gain,
            offset=tone.offset,
            saturation=tone.saturation,
            anchor=room.anchor,
        )

    def apply(image: Image, change: Conditioned) -> tuple[Image, ...] | Inapplicable:
        follow_up = made(image, change, _cutouts(cutouts))
        # Repeated under a condition it is another picture, and was found natural enough without it.
        judged = least_natural > 0 and isinstance(change, Insertion) and not change.condition
        if judged and hog_intersection(image, follow_up) < least_natural:
            return Inapplicable("not natural enough")
        return (follow_up,)

    def check(source: Observation, follow_ups: Sequence[Observation], change: Conditioned) -> Verdict:
        after = carried_back(follow_ups[0].answer, change)
        pasted = change.box if isinstance(change, Insertion) else None
        if oracle == "map_equal":
            verdict = map_equal(source.answer, after, pasted=pasted, least_iou=iou)
        else:
            verdict = same_objects(source.answer, after, pasted=pasted, hysteresis=hysteresis, least_iou=iou)
        return with_severity(verdict, severities)

    def fair(source: Observation, change: Conditioned) -> Inapplicable | None:
        found: Detections = source.answer
        known = found.boxes[found.scores >= found.confidence - hysteresis]
        if (
            isinstance(change, Insertion)
            and (intersections(np.array([change.box], np.float32), known) > 0).any()
        ):
            return Inapplicable("it would cover what this system finds")
        return None

    def smaller(source: Observation, change: Conditioned) -> Iterator[Sequence[Insertion]]:
        if isinstance(change, Insertion):
            height, width = _cutouts(cutouts).pixels(change.cutout).shape[:2]
            for line in smaller_insertions(source, change, (height, width)):
                yield [one for one in line if fair(source, one) is None]

    def pixels(change: Conditioned) -> Mapping[str, npt.NDArray[np.uint8]]:
        return (
            {change.cutout: _cutouts(cutouts).pixels(change.cutout)} if isinstance(change, Insertion) else {}
        )

    def prepare(scenes: Sequence[Scene], workspace: Workspace) -> Relation:
        made_from_scenes = _own_pool(scenes, workspace, objects, outline)
        return insertion(
            pool=made_from_scenes,
            objects=objects,
            outline=outline,
            blend=blend,
            scale=scale,
            hysteresis=hysteresis,
            iou=iou,
            oracle=oracle,
            severity=severity,
            least_natural=least_natural,
        )

    ways: dict[str, Draw] = {way: partial(draw, way=way) for way in WAYS}
    return Relation(
        "insertion",
        ways["guided"],
        apply,
        check,
        null=null,
        again=again,
        placebo=lambda source, change: replace(change, flat=True),
        smaller=smaller,
        fair=fair,
        ways=ways,
        accept=accept,
        pixels=pixels,
        prepare=prepare if cutouts is None else None,
        naturalness=naturalness,
        picture=picture,
        panels=panels,
    )


def _pool(cutouts: CutOuts | None) -> Pool:
    if not isinstance(cutouts, Pool):
        raise BadInput("insertion: there is no pool to draw from; it is made when a campaign begins")
    return cutouts


def _cutouts(cutouts: CutOuts | None) -> CutOuts:
    if cutouts is None:
        raise BadInput("insertion: there are no cut-outs yet; they are made when a campaign begins")
    return cutouts


def _own_pool(
    scenes: Sequence[Scene], workspace: Workspace, objects: System | str, outline: OutlineName
) -> Pool:
    folder = workspace.folder / "pool"
    if (folder / "index.json").is_file():
        return load_pool(folder)
    return pool_from_scenes(scenes, folder, objects=objects, outline=outline, progress=workspace.progress)


def _require_one_of(name: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise BadInput(f"insertion: {name} is {value!r}; it is one of {', '.join(choices)}")
