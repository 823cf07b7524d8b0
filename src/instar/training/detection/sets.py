"""From a run to pictures to learn from: those of the scenes, those that fail, and as many that do not.

Scenes are held out before anything is looked at. Nothing of them gets into a training: no picture, no case,
and no object that was cut from them.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import cv2
import numpy as np
import numpy.typing as npt

from instar.campaigns.chosen_cases import failing_cases, held_cases
from instar.campaigns.dismissals import dismisser_in
from instar.campaigns.reader import RunReader
from instar.core.errors import BadInput
from instar.core.record import Record
from instar.core.scene import Image, Scene
from instar.cutouts.pool import bundled_pool
from instar.stats.clusters import cluster_of, draw_clusters
from instar.tasks.detection.changes import Insertion
from instar.tasks.detection.export import label_follow_up
from instar.tasks.detection.known_objects import KnownObjects
from instar.training.detection.examples import Example, make_example

THUMBNAIL = (24, 24)
SAME = 3.0
"""Grey levels between the thumbnails of two pictures up to which they count as one: a picture and its copy in
another size or quality differ by at most 1.3, any two of 350 photographs by 14, of 300 drawn streets by 9.
"""


@dataclass(frozen=True)
class HeldOut:
    """Scenes to train on, and others to test on."""

    training: Sequence[Scene]
    test: Sequence[Scene]


@dataclass(frozen=True)
class Sets:
    """Pictures by what they are: natural, failing, passing; `cases` are those behind the last two."""

    natural: Sequence[Example]
    failing: Sequence[Example]
    passing: Sequence[Example]
    cases: Mapping[str, Sequence[str]]


def hold_out_scenes(scenes: Sequence[Scene], share: float, seed: int) -> HeldOut:
    """Frames of one video stay together, and so do copies of one picture."""
    if not 0 < share < 1:
        raise BadInput(f"--held-out is {share}; it must be between 0 and 1")
    looks = np.stack([_thumbnail(scene.image) for scene in scenes])
    drawn = draw_clusters([scene.id for scene in scenes], share, seed)
    test = np.array([scene.id in drawn for scene in scenes])
    while (joined := _like_any(looks, looks[test]) & ~test).any():
        test |= joined
    training, tested = (
        [one for one, there in zip(scenes, test.tolist()) if there is side] for side in (False, True)
    )
    parts = HeldOut(training, tested)
    if not parts.training:
        raise BadInput(f"{len(scenes)} scenes leave none to train on; give more, or a smaller --held-out")
    return parts


def require_apart(parts: HeldOut) -> None:
    """BadInput where a picture is on both sides, whatever it is called, or a frame of the same video."""
    videos = {cluster_of(scene.id): scene.id for scene in parts.training if cluster_of(scene.id) != scene.id}
    looks = np.stack([_thumbnail(scene.image) for scene in parts.training])
    for scene in parts.test:
        shown = _like_any(looks, _thumbnail(scene.image)[None])
        twin, why = videos.get(cluster_of(scene.id)), "are of one video"
        if shown.any():
            twin, why = parts.training[int(shown.argmax())].id, "are the same picture"
        if twin is not None:
            raise BadInput(f"{scene.id}, to be tested on, and {twin}, to be trained on, {why}; remove one")


def _thumbnail(image: Image) -> npt.NDArray[np.float32]:
    return cv2.resize(image, THUMBNAIL, interpolation=cv2.INTER_AREA).astype(np.float32).reshape(-1)


def _like_any(looks: npt.NDArray[np.float32], others: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Which of these thumbnails are about the same as one of the others."""
    close = [np.abs(looks - other).mean(1) <= SAME for other in others]
    return np.asarray(np.any(close, axis=0), np.bool_)


def collect_sets(
    reader: RunReader,
    training: Sequence[Scene],
    known: KnownObjects,
    numbers: Mapping[str, int],
    size: tuple[int, int],
    *,
    with_pasted: bool,
    seed: int,
) -> Sets:
    """One failing picture for each object that really fails, and as many that held, drawn by lot."""
    there = {scene.id: scene for scene in training}
    every = map(dismisser_in(reader.store), reader.store.records(changes=False))
    records = [one for one in every if one.scene in there]
    bundled = {cutout.digest for cutout in bundled_pool().cutouts}
    worst, held = failing_cases(records, verified=True), held_cases(records, seed=seed)
    failing = [record for record in worst if _is_apart(reader, record.case, bundled)]
    apart = (record for record in held if _is_apart(reader, record.case, bundled))
    passing = list(islice(apart, len(failing)))

    def show(record: Record) -> Example:
        again = reader.replay(reader.record(record.case), reader.remembered)
        if again.source is None or not again.follow_ups:
            raise BadInput(f"case {record.case} cannot be made again: {again.verdict.reason}")
        objects = label_follow_up(again, known.of(there[record.scene]), with_pasted)
        return make_example(record.scene, again.follow_ups[0].input, objects, numbers, size)

    return Sets(
        natural=[make_example(one.id, one.image, known.of(one), numbers, size) for one in training],
        failing=[show(record) for record in failing],
        passing=[show(record) for record in passing],
        cases={"failing": [one.case for one in failing], "passing": [one.case for one in passing]},
    )


def _is_apart(reader: RunReader, case: str, bundled: Container[str]) -> bool:
    """Whether nothing was pasted that may have been cut from a scene that is tested on."""
    change = reader.record(case).change
    return not isinstance(change, Insertion) or change.cutout in bundled
