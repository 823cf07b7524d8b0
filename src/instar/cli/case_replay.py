"""Cases of a run made again: everything that a run folder says is looked up once, then case by case."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from instar.cli.run_reader import opened
from instar.core.errors import RunError
from instar.core.replay import Replay
from instar.core.scene import Image
from instar.imaging.codecs import encode_png
from instar.report.case_picture import picture_of

__all__ = ["Again", "keep_picture", "replaying", "write_picture"]


@dataclass(frozen=True, slots=True, eq=False)
class Again:
    """A case made again, and a picture of it where it can be drawn."""

    replay: Replay
    picture: Image | None


@contextlib.contextmanager
def replaying(run: str, *, quiet: bool = False) -> Iterator[Callable[[str], Again]]:
    """A function that makes a case of the run again, by its id or the beginning of it."""
    with opened(run, quiet=quiet) as there, there.asking() as asking:

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


def keep_picture(folder: Path, name: str, picture: Image) -> Path:
    """Where the picture was put: in the folder, or in a temporary one where a run cannot be written to."""
    try:
        write_picture(folder / name, picture)
        return folder / name
    except RunError:
        elsewhere = Path(tempfile.mkdtemp(prefix="instar-replay-")) / name
        write_picture(elsewhere, picture)
        return elsewhere
