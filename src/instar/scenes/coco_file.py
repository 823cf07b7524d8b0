"""What COCO's instances and panoptic files have in common: entries, boxes, and pictures to be found."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from instar.core.errors import BadInput, UnreadablePicture
from instar.core.scene import Image, Scene, SceneObject
from instar.imaging.headers import MAX_PIXELS
from instar.scenes.folder import annotated_picture, check_limit, is_picture
from instar.user_file import read_json

__all__ = [
    "entry_box", "entry_size", "listed_scenes", "read_document", "read_entries", "telling",
]  # fmt: skip

CocoEntry = Mapping[str, Any]


def read_document(path: Path) -> dict[str, Any]:
    """A COCO file as it is."""
    document = read_json(path)
    if not isinstance(document, dict) or not isinstance(document.get("images"), list):
        raise BadInput(f"{path} is not COCO: it has no list of images")
    for part in ("annotations", "categories"):
        if not isinstance(document.get(part, []), list):
            raise BadInput(f"{path} is not COCO: {part!r} is not a list")
    return document


@contextmanager
def telling(path: Path, what: str) -> Iterator[None]:
    """Turn a missing or senseless field into BadInput that says whose it is."""
    try:
        yield
    except KeyError as error:
        raise BadInput(f"{path}: {what} has no {error.args[0]!r}") from None
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"{path}: {what} cannot be understood: {error}") from None


def read_entries(document: CocoEntry, part: str, path: Path) -> dict[Any, CocoEntry]:
    """The images or categories of a COCO file by their id."""
    listed = document.get(part, [])
    with telling(path, f"an entry of {part!r}"):
        by_id = {entry["id"]: entry for entry in listed}
        if len(by_id) < len(listed):
            raise ValueError("two entries have the same id")
    return by_id


def entry_size(image: CocoEntry) -> tuple[int, int]:
    """(height, width) of an image entry."""
    height, width = int(image["height"]), int(image["width"])
    if height < 1 or width < 1 or height * width > MAX_PIXELS:
        raise ValueError(f"a picture of {width} x {height} pixels")
    return height, width


def entry_box(entry: CocoEntry) -> tuple[float, float, float, float] | None:
    """x, y, width, height as x1, y1, x2, y2; None for a box without area, of which COCO has some."""
    x, y, width, height = (float(number) for number in entry["bbox"])
    box = (x, y, x + width, y + height)
    if not all(map(math.isfinite, box)):
        raise ValueError(f"box {entry['bbox']}")
    return box if width > 0 and height > 0 else None


def listed_scenes(
    path: Path,
    listed: Mapping[Any, CocoEntry],
    known: Mapping[Any, tuple[SceneObject, ...] | None],
    *,
    images: str | Path | None,
    limit: int | None,
) -> list[Scene]:
    """A scene for every image entry, under its file name, with the objects known of it."""
    check_limit(limit)
    if not listed:
        raise BadInput(f"{path} lists no image")
    named: dict[str, Scene] = {}
    find = _Finder(_picture_folders(path, images))
    for key, entry in listed.items():
        with telling(path, f"image {key!r}"):
            name = entry["file_name"].replace("\\", "/")
            if name in named:
                raise ValueError(f"{name!r} is listed twice")
            read = partial(_read_listed, find(name), entry_size(entry))
            named[name] = Scene(name, read, known[key])
    return [named[name] for name in sorted(named)[:limit]]


def _picture_folders(path: Path, images: str | Path | None) -> list[Path]:
    if images is not None:
        if not Path(images).is_dir():
            raise BadInput(f"the folder of images {images} does not exist")
        return [Path(images)]
    here, above = path.parent, path.parent.parent
    split = path.stem.rpartition("_")[2]  # annotations/instances_val2017.json goes with val2017/
    places = [here, here / "images", here / split, above / split, above / "images" / split, above / "images"]
    return [place for place in places if place.is_dir()]


class _Finder:
    """Where a listed picture is: under its name, or under its stem with the suffix of another picture."""

    def __init__(self, folders: list[Path]) -> None:
        self._folders = folders
        self._stems: dict[str, Path] | None = None

    def __call__(self, name: str) -> Path | None:
        for folder in self._folders:
            if os.path.isfile(folder / name):  # False also for what no file can be called
                return folder / name
        if self._stems is None:  # listing the folders costs time that most files never need
            files = [file for folder in reversed(self._folders) for file in sorted(folder.iterdir())]
            self._stems = {file.stem: file for file in files if is_picture(file)}
        return self._stems.get(Path(name).stem)


def _read_listed(path: Path | None, size: tuple[int, int]) -> Image:
    if path is None:
        raise UnreadablePicture("missing")
    return annotated_picture(path, size)
