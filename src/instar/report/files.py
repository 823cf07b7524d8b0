"""Files that commands write: whole or not at all, their folders made if need be."""

from __future__ import annotations

import contextlib
import csv
import io
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from instar.core.errors import RunError
from instar.core.scene import Image
from instar.imaging.codecs import encode_png
from instar.user_file import write_file


def write_csv(path: Path, rows: Iterable[Sequence[str]]) -> None:
    """Write rows, whose first are headings."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    write_file(path, text.getvalue())


@contextlib.contextmanager
def whole_folder(folder: Path) -> Iterator[None]:
    """A folder that is made inside: it stays only where all went well."""
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def write_picture(path: Path, picture: Image) -> None:
    """The picture as a PNG file."""
    write_file(path, encode_png(picture))


def keep_picture(path: Path, picture: Image | None) -> str | None:
    """Where the picture, if there is one, was put: there, or in a temporary folder for a read-only run."""
    if picture is None:
        return None
    try:
        write_picture(path, picture)
    except RunError:
        path = Path(tempfile.mkdtemp(prefix="instar-replay-")) / path.name
        write_picture(path, picture)
    return str(path)
