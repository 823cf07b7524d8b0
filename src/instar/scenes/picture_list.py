"""Scenes from a pattern such as `photos/**/*.jpg`, or from a text file that lists pictures."""

from __future__ import annotations

import glob
from functools import partial
from pathlib import Path

from instar.core.errors import BadInput
from instar.core.scene import Scene
from instar.scenes.annotation_file import read_lines
from instar.scenes.folder import check_limit, is_picture, read_file

SUBSET_OF = "# scenes of "


def listed_pictures(path: str | Path, *, limit: int | None = None) -> list[Scene]:
    """The pictures that a pattern fits, or those on the lines of a file, from the file's folder on.

    Scenes have the names that are written there, in the order of these names.
    """
    check_limit(limit)
    given = Path(path)
    if given.is_file():
        lines = [line.strip() for _, line in read_lines(given)]
        found = {name: given.parent / name for name in lines if not name.startswith("#")}
    else:
        files = [Path(name) for name in glob.glob(str(given), recursive=True)]
        found = {file.as_posix(): file for file in files if is_picture(file) and file.is_file()}
    if not found:
        raise BadInput(f"{given} {'lists' if given.is_file() else 'fits'} no picture")
    strange = next((name for name, file in found.items() if not is_picture(file)), None)
    if strange is not None:
        raise BadInput(f"{given}: {strange!r} is no picture by its name")
    return [Scene(name, partial(read_file, file)) for name, file in sorted(found.items())[:limit]]


def subset(path: Path) -> tuple[str, set[str]] | None:
    """The data set that a list is of, and the ids of the scenes that it names; None for other files.

    Such a list begins with "# scenes of PATH". Its scenes are those of the data set, with all that is known.
    """
    lines = [line.strip() for _, line in read_lines(path)] if path.suffix.lower() == ".txt" else []
    if not lines or not lines[0].startswith(SUBSET_OF):
        return None
    return lines[0].removeprefix(SUBSET_OF).strip(), {name for name in lines if not name.startswith("#")}


def is_pattern(spec: str) -> bool:
    return any(sign in spec for sign in "*?[")
