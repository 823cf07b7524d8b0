"""Cases of a run made again: everything that a run folder says is looked up once, then case by case."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from instar.cli.opened import opened, picture_of
from instar.engines.worker import killable
from instar.errors import RunError
from instar.imaging.codecs import encode_png
from instar.replay import Replay
from instar.scene import Image
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
            return Again(again, picture_of(there.relation(again.record.relation), again))

        yield make_again


def write_picture(path: Path, picture: Image) -> None:
    """The picture as a PNG file, its folder made if need be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode_png(picture))
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror or error}") from error
