"""Remove an object that stands alone: everything else must still be found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from instar import zoo
from instar.core.change import Inapplicable
from instar.core.errors import BadInput, FetchFailed
from instar.core.recipe import recorded
from instar.core.relation import Relation, Workspace
from instar.core.scene import Image, Mask, Observation, Scene
from instar.core.verdict import Verdict
from instar.cutouts import CutOuts
from instar.cutouts.outlines import Outliner
from instar.imaging.geometry import Box, Boxes, mask_bounds
from instar.imaging.holes import hole_of, thickness
from instar.imaging.inpaint import Fill, migan
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.changes import Removal, is_removed, paste_removal
from instar.tasks.detection.compare import same_objects
from instar.tasks.detection.outlines import (
    EXPENSE,
    Outlines,
    outliner_of,
    prepare_outlines,
    require_objects,
)
from instar.tasks.detection.task import detection
from instar.tasks.detection.whole_objects import (
    Things,
    as_box,
    box_of,
    fills_box,
    find_things,
    is_alone,
)

MOST_HOLE = 0.12  # of the picture
MOST_THICK = 0.13  # of the picture's shorter side: radius of the hole; thicker ones get inventions
LEAST_SIDE = 12  # pixels
LEAST_QUALITY = 0.75  # of an outline: the hole is wider anyway
REMEMBERED = 64  # sources
NOTHING_LEFT = Inapplicable("nothing else found in the source")


@recorded
def removal(
    *,
    outline: Outliner | None = None,
    fill: Fill | None = None,
    cutouts: CutOuts | None = None,
    hysteresis: float = 0.1,
    iou: float = 0.5,
) -> Relation:
    """Remove an object that stands alone; all others must be found again.

    Nothing else comes close to it, and it is small or thin enough that its place can be imagined. What is
    said about the place itself is set aside: nobody knows what an imagined background looks like to a
    detector. `outline` finds the outline of what is in a box, by default SAM 2 of the zoo, and `fill` what is
    behind it, by default MI-GAN of the zoo: fetched when the first removal is drawn, and without them there
    are no removals. `cutouts` are the patches of a run that is replayed.
    """
    require_objects("removal", cutouts, outline=outline, fill=fill)
    task = detection(hysteresis=hysteresis, iou=iou)

    def relation(patches: CutOuts | None, work: Outlines | None) -> Relation:
        def the_patches() -> CutOuts:
            if patches is None:
                raise BadInput("removal: there are no patches yet; they are made while a campaign runs")
            return patches

        @lru_cache(maxsize=REMEMBERED)
        def holes_in(source: Observation) -> Inapplicable | tuple[Hole, ...]:
            if work is None:
                raise BadInput("removal: a run's removals can be made again, but no new ones")
            things = find_things(source, hysteresis=hysteresis)
            if not things.usable.any():
                return Inapplicable("nothing clearly found in the source")
            boxes = [box_of(things, k) for k in np.flatnonzero(things.usable).tolist()]
            if not any(_others_found(source.answer, box).any() for box in boxes):
                return NOTHING_LEFT
            holes = tuple(_holes(source, things, outliner_of(source.scene, work.outline)))
            return holes or Inapplicable("no object stands alone")

        @lru_cache(maxsize=16 * REMEMBERED)
        def change_for(source: Observation, hole: Hole) -> Removal:
            assert work is not None, "holes are found with outlines"
            picture: Image = source.input
            whole = _placed(hole.mask, hole.box, picture.shape)
            filled = (fill or migan(*zoo.fetch("mi-gan")))(picture, whole)
            left, top, right, bottom = hole.box
            alpha = hole.mask.astype(np.uint8) * np.uint8(255)
            name = work.cutouts.keep(np.dstack([filled[top:bottom, left:right], alpha]))
            return Removal(name, hole.label, left, top, hole.box)

        def draw(source: Observation, rng: np.random.Generator) -> Removal | Inapplicable:
            try:
                holes = holes_in(source)
                if isinstance(holes, Inapplicable):
                    return holes
                return change_for(source, holes[int(rng.integers(len(holes)))])
            except FetchFailed as missing:
                return Inapplicable(f"no outlines: {missing}")

        def apply(image: Image, change: Removal) -> Image:
            return paste_removal(image, change, the_patches())

        def expect(source: Observation, follow_ups: Sequence[Observation], change: Removal) -> Verdict:
            before: Detections = source.answer
            before = replace(before, aside=~before.shown | is_removed(before.boxes, change.box))
            after = follow_ups[0].answer
            return same_objects(before, after, pasted=change.box, hysteresis=hysteresis, least_iou=iou)

        def fair(source: Observation, change: Removal) -> Inapplicable | None:
            found: Detections = source.answer
            if not _others_found(found, change.box).any():
                return NOTHING_LEFT
            hole = _placed(the_patches().pixels(change.patch)[..., 3] > 0, change.box, source.input.shape)
            others = ~is_removed(found.boxes, change.box) & (found.scores >= found.confidence - hysteresis)
            known = found.boxes[others]
            return None if is_alone(hole, known) else Inapplicable("it would cover what this system finds")

        def pixels(change: Removal) -> Mapping[str, npt.NDArray[np.uint8]]:
            return {change.patch: the_patches().pixels(change.patch)}

        def prepare(scenes: Sequence[Scene], workspace: Workspace) -> Relation:
            work = prepare_outlines(outline, workspace)
            return relation(work.cutouts, work)

        return Relation(
            "removal",
            task,
            apply,
            draw=draw,
            expect=expect,
            prepare=prepare if patches is None else None,
            pixels=pixels,
            fair=fair,
            expense=EXPENSE,
        )

    return relation(cutouts, None)


@dataclass(frozen=True, slots=True, eq=False)
class Hole:
    """What a thing leaves when it is removed: `mask` is `bool`, as large as `box`."""

    label: str
    box: tuple[int, int, int, int]
    mask: Mask


def _holes(source: Observation, things: Things, outline: Outliner) -> Iterator[Hole]:
    """What may be removed, with the hole that it leaves; cheap questions first, since outlines are slow."""
    picture: Image = source.input
    found: Detections = source.answer
    most = MOST_HOLE * picture.shape[0] * picture.shape[1]
    for k in np.flatnonzero(things.usable).tolist():
        box = box_of(things, k)
        width, height = box[2] - box[0], box[3] - box[1]
        if (
            not _others_found(found, box).any()
            or min(width, height) < LEAST_SIDE
            or width * height > 2 * most
        ):
            continue
        outlined = outline(picture, box)
        if outlined.quality < LEAST_QUALITY or not fills_box(outlined.alpha > 127, box):
            continue
        hole = hole_of(outlined.alpha)
        too_large = np.count_nonzero(hole) > most or thickness(hole) > MOST_THICK * min(picture.shape[:2])
        if not too_large and not _reaches(hole, picture, things.others(k), outline):
            x1, y1, x2, y2 = bounds = _bounds(hole)
            yield Hole(things.labels[k], bounds, hole[y1:y2, x1:x2].copy())


def _reaches(hole: Mask, picture: Image, others: Boxes, outline: Outliner) -> bool:
    """Whether the hole comes close to anything else; where that has no good outline, to its box."""
    for other in others:
        if not is_alone(hole, other[None]):
            outlined = outline(picture, as_box(other))
            if outlined.quality < LEAST_QUALITY or outlined.alpha[hole].any():
                return True
    return False


def _others_found(found: Detections, box: Box) -> npt.NDArray[np.bool_]:
    """`bool (n,)`: what counts as found and is not about what is removed."""
    return np.asarray(~is_removed(found.boxes, box) & (found.scores >= found.confidence))


def _placed(mask: Mask, box: tuple[int, int, int, int], shape: tuple[int, ...]) -> Mask:
    """The mask in the whole picture."""
    whole = np.zeros(shape[:2], np.bool_)
    whole[box[1] : box[3], box[0] : box[2]] = mask
    return whole


def _bounds(hole: Mask) -> tuple[int, int, int, int]:
    bounds = mask_bounds(hole)
    assert bounds is not None, "a hole is not empty"
    return bounds
