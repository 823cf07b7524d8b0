"""Scenes from Open Images' tables of boxes."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path

from instar.core.errors import BadInput, UnreadablePicture
from instar.core.scene import Scene, SceneObject
from instar.scenes.annotation_file import complain_at
from instar.scenes.annotations import annotated_scenes, boxed, data_root, picture_finder
from instar.user_file import read_text

SIDES = ("XMin", "YMin", "XMax", "YMax")
NAMES = "*class-descriptions*.csv"


def open_images(path: str | Path, *, limit: int | None = None) -> list[Scene]:
    """The boxes of a file such as `validation-annotations-bbox.csv`, of the pictures that are there.

    The table has nearly two million pictures, most people a part of them. Names of classes come from the
    `class-descriptions` beside the table; groups count as crowds.
    """
    file = Path(path)
    root = data_root(file)
    names = {key: name for table in sorted(file.parent.glob(NAMES)) for key, name in _rows_of(table)}
    find = picture_finder(root)
    here: dict[str, Path | None] = {}  # None for most: their rows are not kept
    rows: dict[str, list[tuple[int, dict[str, str]]]] = {}
    for number, row in _boxes(file):
        name = row["ImageID"]
        if name not in here:
            picture = find(name)
            here[name] = picture if os.path.isfile(picture) else None  # also for what no file can be called
        if here[name] is not None:
            rows.setdefault(name, []).append((number, row))
    objects = {
        name: _objects(file, picture, rows[name], names)
        for name, picture in here.items()
        if picture is not None
    }
    if not objects:
        raise BadInput(f"none of the {len(here)} pictures of {file} is below {root}")
    return annotated_scenes(root, objects, limit=limit)


def is_open_images(path: Path) -> bool:
    """Whether the first line of a file names the columns of such a table."""
    with path.open("rb") as file:
        heading = file.readline(1000)
    return all(column.encode() in heading for column in ("ImageID", "LabelName", *SIDES))


def _rows_of(table: Path) -> Iterator[tuple[str, str]]:
    for row in csv.reader(read_text(table).splitlines()):
        if len(row) == 2 and row[0].startswith("/"):
            yield row[0], row[1]


def _boxes(file: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows, with their numbers."""
    for number, row in enumerate(csv.DictReader(read_text(file).splitlines()), start=2):
        if not row.get("ImageID"):
            raise BadInput(f"{file} line {number}: no ImageID")
        yield number, row


def _objects(
    file: Path, picture: Path, rows: list[tuple[int, dict[str, str]]], names: dict[str, str]
) -> list[SceneObject] | None:
    from instar.imaging.codecs import picture_size

    try:
        height, width = picture_size(picture)
    except UnreadablePicture:
        return None  # reading the scene will say why
    found = []
    for number, row in rows:
        with complain_at(f"{file} line {number}"):
            x1, y1, x2, y2 = (float(row[side]) for side in SIDES)
            label = names.get(row["LabelName"], row["LabelName"])
            box = [x1 * width, y1 * height, x2 * width, y2 * height]
            found += boxed(label, box, crowd=row.get("IsGroupOf") == "1")
    return found
