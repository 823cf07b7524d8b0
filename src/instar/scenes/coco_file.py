"""What COCO's instances and panoptic files have in common: entries, boxes, and pictures to be found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

from instar.core.errors import BadInput
from instar.core.scene import Scene
from instar.scenes.annotation_file import read_json
from instar.scenes.folder import annotated_picture, check_limit, is_picture

__all__ = ["entry_box", "entry_size", "listed_scenes", "read_document", "read_entries", "telling"]

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
    except (AttributeError, TypeError, ValueError) as error:
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
    return int(image["height"]), int(image["width"])


def entry_box(entry: CocoEntry) -> tuple[float, float, float, float] | None:
    """x, y, width, height as x1, y1, x2, y2; None for a box without area, of which COCO has some."""
    x, y, width, height = (float(number) for number in entry["bbox"])
    if not all(map(math.isfinite, (x, y, width, height))):
        raise ValueError(f"box {entry['bbox']}")
    return (x, y, x + width, y + height) if width > 0 and height > 0 else None


def listed_scenes(
    path: Path,
    listed: Mapping[Any, CocoEntry],
    *,
    images: str | Path | None,
    limit: int | None,
) -> dict[Any, Scene]:
    """A scene for every image entry by its id, in the order of the file names, which become theirs."""
    check_limit(limit)
    if not listed:
        raise BadInput(f"{path} lists no image")
    scenes: dict[Any, Scene] = {}
    names: set[str] = set()
    find = _finder(_picture_folders(path, images))
    for key, entry in listed.items():
        with telling(path, f"image {key!r}"):
            name = entry["file_name"].replace("\\", "/")
            if name in names:
                raise ValueError(f"{name!r} is listed twice")
            names.add(name)
            scenes[key] = Scene(name, partial(annotated_picture, find(name), entry_size(entry)))
    return dict(sorted(scenes.items(), key=lambda item: item[1].id)[:limit])


def _picture_folders(path: Path, images: str | Path | None) -> list[Path]:
    if images is not None:
        if not Path(images).is_dir():
            raise BadInput(f"the folder of images {images} does not exist")
        return [Path(images)]
    here, above = path.parent, path.parent.parent
    split = path.stem.rpartition("_")[2]  # annotations/instances_val2017.json goes with val2017/
    places = [here, here / "images", here / split, above / split, above / "images" / split, above / "images"]
    return [place for place in places if place.is_dir()]


def _finder(folders: list[Path]) -> Callable[[str], Path]:
    """Where a listed picture is: under its name, or under its stem with the suffix of another picture."""

    @cache
    def by_stem() -> dict[str, Path]:  # listing the folders costs time that most files never need
        files = [file for folder in reversed(folders) for file in sorted(folder.iterdir())]
        return {file.stem: file for file in files if is_picture(file)}

    def find(name: str) -> Path:
        places = [folder / name for folder in folders]
        found = next((place for place in places if place.is_file()), None)
        return found or by_stem().get(Path(name).stem, places[0])

    return find
