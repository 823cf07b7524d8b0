"""Cases of a run made again: everything that a run folder says is looked up once, then case by case."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from instar.cli.execute import resolve_relations
from instar.cli.plan import make_plan
from instar.cli.progress import show_steps
from instar.cli.resolve import resolve_system
from instar.cli.toml import parse_toml
from instar.engines.worker import killable
from instar.errors import BadInput, RunError
from instar.imaging.codecs import encode_png
from instar.relation import Relation
from instar.replay import Replay, replay
from instar.running import Folder, prepared
from instar.scene import Image, Observation
from instar.scenes import load_scenes
from instar.store import RunStore
from instar.system import ask

__all__ = ["Again", "replaying", "write_picture"]


@dataclass(frozen=True, slots=True, eq=False)
class Again:
    """A case made again, and a picture of it where it can be drawn."""

    replay: Replay
    picture: Image | None


@contextlib.contextmanager
def replaying(run: str, *, quiet: bool = False) -> Iterator[Callable[[str], Again]]:
    """A function that makes a case of the run again, by its id or the beginning of it."""
    with RunStore.read(run) as store, contextlib.ExitStack() as stack:
        plan = make_plan(parse_toml(store.plan()))
        # The run carries the cut-outs it used: neither the pool nor the helper is needed again.
        resolved = resolve_relations(plan, {"pool": store.pictures})
        relations = {relation.name: relation for relation in resolved}
        system = resolve_system(plan.systems[0])
        asked = system
        if plan.limits.timeout is not None:
            asked = stack.enter_context(killable(system, plan.limits.timeout, processes=1))
        asking = partial(ask, asked, retries=plan.limits.retries)
        scenes = load_scenes(plan.scenes, format=plan.format, limit=plan.limit, truth=plan.truth)
        by_id = {scene.id: scene for scene in scenes}
        workspace = Folder(store.folder, partial(show_steps, quiet=quiet))
        ready: dict[str, Relation] = {}

        def make_again(case: str) -> Again:
            record = store.record(case)
            if record.scene not in by_id:
                raise BadInput(f"scene {record.scene!r} is not in {plan.scenes} any more")
            name = record.relation
            if name not in ready:
                ready[name] = prepared(relations[name], scenes, workspace)
            again = replay(
                record,
                by_id[record.scene],
                ready[name],
                system,
                known_as=store.source_digest(record.source),
                asking=asking,
            )
            return Again(again, _picture(ready[name], again))

        yield make_again


def write_picture(path: Path, picture: Image) -> None:
    """The picture as a PNG file, its folder made if need be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode_png(picture))
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror or error}") from error


def _picture(relation: Relation, again: Replay) -> Image | None:
    """The relation's own drawing, or else source and follow-ups side by side; None without pictures."""
    if again.source is None or not again.follow_ups:
        return None
    if relation.picture is not None:
        # The record knows which findings were struck out; the bare comparison does not.
        verdict = again.record.verdict if again.same else again.verdict
        return relation.picture(again.source, again.follow_ups, again.record.change, verdict)
    return _side_by_side([again.source, *again.follow_ups])


def _side_by_side(observations: list[Observation]) -> Image | None:
    inputs = [observation.input for observation in observations]
    if not all(isinstance(i, np.ndarray) and i.dtype == np.uint8 and i.ndim == 3 for i in inputs):
        return None
    height = max(image.shape[0] for image in inputs)
    padded = [np.pad(image, ((0, height - image.shape[0]), (0, 0), (0, 0))) for image in inputs]
    return np.concatenate(padded, axis=1)
