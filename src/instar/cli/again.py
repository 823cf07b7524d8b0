"""Cases of a run made again: everything that a run folder says is looked up once, then case by case."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from instar.cli.opened import opened
from instar.engines.worker import killable
from instar.errors import RunError
from instar.imaging.codecs import encode_png
from instar.relation import Relation
from instar.replay import Replay
from instar.scene import Image, Observation
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
    with opened(run, quiet=quiet) as there, contextlib.ExitStack() as stack:
        limits, asked = there.plan.limits, there.system
        if limits.timeout is not None:
            asked = stack.enter_context(killable(there.system, limits.timeout, processes=1))
        asking = partial(ask, asked, retries=limits.retries)

        def make_again(case: str) -> Again:
            again = there.again(there.store.record(case), asking)
            return Again(again, _picture(there.relation(again.record.relation), again))

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
