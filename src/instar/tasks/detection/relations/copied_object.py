"""Show a whole object of the scene once more: everything else must still be found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from instar.core.change import Inapplicable
from instar.core.errors import BadInput, FetchFailed
from instar.core.recipe import recorded
from instar.core.relation import Relation, Workspace
from instar.core.scene import Image, Observation, Scene
from instar.core.verdict import Verdict
from instar.cutouts import CutOuts
from instar.cutouts.outlines import Outliner
from instar.imaging import geometry
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.changes import Copy, paste_copy
from instar.tasks.detection.compare import same_objects
from instar.tasks.detection.copies import CopyPlaces, choose_copy_place, find_fronts, find_places
from instar.tasks.detection.outlines import EXPENSE, Outlines, outliner_of, prepare_outlines, require_objects
from instar.tasks.detection.task import detection
from instar.tasks.detection.verification import tell_pasted
from instar.tasks.detection.whole_objects import is_surrounded

REMEMBERED = 64  # sources
SAME = 0.5  # IoU of a found box with that of what stands in front
MIRRORED = frozenset(("dog", "cat", "horse", "cow", "sheep", "bird", "elephant", "bear", "zebra", "giraffe"))
"""What looks as natural the other way round; most other things may show words."""


@recorded
def copy(
    *,
    outline: Outliner | None = None,
    cutouts: CutOuts | None = None,
    hysteresis: float = 0.1,
    iou: float = 0.5,
) -> Relation:
    """Copy a whole object elsewhere on its ground line; all that was found before must be found again.

    The object is annotated or clearly found, and seen whole. Its copy may stand nearer or farther, in the
    size that it has there; what stands in front of it stays in front. `outline` finds the outline of what is
    in a box, by default SAM 2 of the zoo: fetched when the first copy is drawn, and without it there are no
    copies. `cutouts` are those of a run that is replayed.
    """
    require_objects("copy", cutouts, outline=outline)
    task = detection(hysteresis=hysteresis, iou=iou)

    def relation(cutouts: CutOuts | None, work: Outlines | None) -> Relation:
        def the_cutouts() -> CutOuts:
            if cutouts is None:
                raise BadInput("copy: there are no cut-outs yet; they are made while a campaign runs")
            return cutouts

        @lru_cache(maxsize=REMEMBERED)
        def places_of(source: Observation) -> CopyPlaces | Inapplicable:
            if work is None:
                raise BadInput("copy: a run's copies can be made again, but no new ones")
            return find_places(source, outliner_of(source.scene, work.outline), hysteresis=hysteresis)

        def draw(source: Observation, rng: np.random.Generator) -> Copy | Inapplicable:
            try:
                places = places_of(source)
                if isinstance(places, Inapplicable):
                    return places
                assert work is not None
                return _choose(places, source.input, work, rng)
            except FetchFailed as missing:
                return Inapplicable(f"no outlines: {missing}")

        def apply(image: Image, change: Copy) -> Image:
            return paste_copy(image, change, the_cutouts())

        def expect(source: Observation, follow_ups: Sequence[Observation], change: Copy) -> Verdict:
            verdict = same_objects(
                source.answer, follow_ups[0].answer, pasted=change.box, hysteresis=hysteresis, least_iou=iou
            )
            return tell_pasted(verdict, change.label, change.box)

        def fair(source: Observation, change: Copy) -> Inapplicable | None:
            found: Detections = source.answer
            known = found.boxes[found.scores >= found.confidence - hysteresis]
            covered = known[geometry.intersections(known, np.array([change.box], np.float32))[:, 0] > 0]
            fronts = np.array([front[1:] for front in change.behind], np.float32).reshape(-1, 4)
            stays = geometry.iou(covered, fronts).max(axis=1, initial=0.0) >= SAME
            stays |= is_surrounded(change.box, covered)
            return None if stays.all() else Inapplicable("it would cover what this system finds")

        def pixels(change: Copy) -> Mapping[str, npt.NDArray[np.uint8]]:
            names = [change.cutout, *(front[0] for front in change.behind)]
            return {name: the_cutouts().pixels(name) for name in names}

        def prepare(scenes: Sequence[Scene], workspace: Workspace) -> Relation:
            work = prepare_outlines(outline, workspace)
            return relation(work.cutouts, work)

        return Relation(
            "copy",
            task,
            apply,
            draw=draw,
            expect=expect,
            prepare=prepare if cutouts is None else None,
            pixels=pixels,
            fair=fair,
            expense=EXPENSE,
        )

    return relation(cutouts, None)


def _choose(places: CopyPlaces, picture: Image, work: Outlines, rng: np.random.Generator) -> Copy:
    original, (x1, y1, x2, y2) = choose_copy_place(places, rng)
    mirrored = original.label in MIRRORED and bool(rng.integers(2))
    height, width = original.cutout.shape[:2]
    left, top, right, _ = original.box
    size = (x2 - x1) / (right - left)
    # How far the cut-out, which has its shadow around it, reaches out of the object's own box.
    out, above = left - original.corner[0], top - original.corner[1]
    out = width - out - (right - left) if mirrored else out
    fronts = find_fronts(original, places.things, (x1, y1, x2, y2), places.fronts.__getitem__)
    return Copy(
        work.cutouts.keep(original.cutout),
        original.label,
        x1 - round(out * size),
        y1 - round(above * size),
        round(width * size),
        round(height * size),
        (max(0, x1), y1, min(picture.shape[1], x2), y2),
        mirrored,
        tuple((work.cutouts.keep(front.cutout), *front.box) for front in fronts or ()),
    )
