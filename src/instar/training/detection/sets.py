"""From a run to pictures to learn from: those of the scenes, those that fail, and as many that do not.

Scenes are held out before anything is looked at. Nothing of them gets into a training: no picture, no case,
and no object that was cut from them.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from instar.campaigns.chosen_cases import failing_cases, held_cases
from instar.campaigns.dismissals import dismisser_in
from instar.campaigns.reader import RunReader
from instar.core.digest import digest
from instar.core.errors import BadInput
from instar.core.record import Record
from instar.core.scene import Scene
from instar.cutouts.pool import bundled_pool
from instar.stats.clusters import draw_clusters
from instar.tasks.detection.changes import Insertion
from instar.tasks.detection.export import label_follow_up
from instar.tasks.detection.known_objects import KnownObjects
from instar.training.detection.examples import Example, make_example


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
    """Frames of one video stay together, and so do pictures that are equal."""
    if not 0 < share < 1:
        raise BadInput(f"--held-out is {share}; it must be between 0 and 1")
    held = draw_clusters([scene.id for scene in scenes], share, seed)
    training, test = ([one for one in scenes if (one.id in held) is there] for there in (False, True))
    parts = HeldOut(training, test)
    if not parts.training:
        raise BadInput(f"{len(scenes)} scenes leave none to train on; give more, or a smaller --held-out")
    require_apart(parts)
    return parts


def require_apart(parts: HeldOut) -> None:
    """BadInput where a picture is on both sides, whatever it is called."""
    known = {digest(scene.image): scene.id for scene in parts.training}
    for scene in parts.test:
        twin = known.get(digest(scene.image))
        if twin is not None:
            raise BadInput(
                f"{scene.id}, to be tested on, and {twin}, to be trained on, are the same picture; remove one"
            )


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
