"""Scenes from COCO's files: instances (boxes, polygons, run lengths) and panoptic ones.

A panoptic file is a list of segments, and a PNG for each picture that says which pixel is whose.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput, UnreadablePicture
from instar.core.scene import Mask, Scene, SceneObject
from instar.scenes.annotation_file import complain_at
from instar.scenes.annotations import read_size
from instar.scenes.folder import annotated_picture, check_limit, is_picture
from instar.scenes.masks import polygons_mask, runs_mask
from instar.user_file import read_json

CocoEntry = Mapping[str, Any]


def coco(path: str | Path, *, images: str | Path | None = None, limit: int | None = None) -> list[Scene]:
    """The scenes of a COCO instances file, with labels and boxes, and masks made when asked for.

    Pictures are looked for in the folder `images`, or else beside the file, in `images/`, where COCO itself
    keeps them and from the folder above on; one with another suffix will do. A picture that is listed and
    not there is a scene that cannot be read. In a file without annotations nothing is known of any scene.
    Annotations of pictures that are not listed and boxes without area are left out.
    """
    path = Path(path)
    document = _read_document(path)
    listed = _read_entries(document, "images", path)
    with complain_at(f"{path}: a category"):
        labels = {
            key: str(entry["name"]) for key, entry in _read_entries(document, "categories", path).items()
        }
    objects: dict[Any, list[SceneObject]] = {key: [] for key in listed}
    for number, entry in enumerate(document.get("annotations", ())):
        with complain_at(f"{path}: annotation {number}"):
            if entry["image_id"] in listed:
                objects[entry["image_id"]] += _object(entry, labels, listed[entry["image_id"]])
    bare = listed_scenes(path, listed, images=images, limit=limit)
    if "annotations" not in document:
        return list(bare.values())
    return [Scene(scene.id, scene.read, tuple(objects[key])) for key, scene in bare.items()]


def _object(entry: CocoEntry, labels: Mapping[Any, str], picture: CocoEntry) -> list[SceneObject]:
    box = entry_box(entry)
    if box is None:
        return []
    if entry["category_id"] not in labels:
        raise ValueError(f"there is no category {entry['category_id']!r}")
    mask = _mask(entry["segmentation"], _size_of(picture)) if entry.get("segmentation") else None
    return [SceneObject(labels[entry["category_id"]], box, mask, bool(entry.get("iscrowd", 0)))]


def _size_of(picture: CocoEntry) -> tuple[int, int]:
    """Which masks need, and boxes do not."""
    with complain_at(f"its picture {picture.get('file_name')!r}"):
        return read_size(picture)


def _mask(segmentation: Any, size: tuple[int, int]) -> Callable[[], Mask] | None:
    if isinstance(segmentation, Mapping):
        counts = segmentation["counts"]
        height, width = segmentation.get("size", size)
        if (height, width) != size:
            raise ValueError(f"its mask is {width} x {height}, its picture {size[1]} x {size[0]}")
        return partial(runs_mask, counts if isinstance(counts, str) else [int(n) for n in counts], size)
    # Arrays take a tenth of the memory of the lists that JSON gave; too large a number becomes infinite.
    with np.errstate(over="ignore"):
        polygons = [np.array(numbers, np.float32).reshape(-1, 2) for numbers in segmentation]
    if not all(np.isfinite(polygon).all() for polygon in polygons):
        raise ValueError("a polygon with a number that is not finite")
    polygons = [polygon for polygon in polygons if len(polygon) >= 3]
    return partial(polygons_mask, polygons, size) if polygons else None


def panoptic(
    path: str | Path,
    *,
    images: str | Path | None = None,
    masks: str | Path | None = None,
    limit: int | None = None,
) -> list[Scene]:
    """The scenes of a COCO panoptic file. Its things become objects; its stuff does not.

    The PNG files lie in the folder `masks`, or else in the one that is named like the file. Pictures
    are looked for as `coco` does, and of a picture without annotation nothing is known.
    """
    path = Path(path)
    document = _read_document(path)
    segments_folder = path.with_suffix("") if masks is None else Path(masks)
    if not segments_folder.is_dir():
        raise BadInput(f"the folder of panoptic masks {segments_folder} does not exist")
    listed = _read_entries(document, "images", path)
    categories = _read_entries(document, "categories", path)
    known: dict[Any, tuple[SceneObject, ...] | None] = dict.fromkeys(listed)
    for number, entry in enumerate(document.get("annotations", ())):
        with complain_at(f"{path}: annotation {number}"):
            image = entry["image_id"]
            if image in listed:
                png = segments_folder / entry["file_name"]
                size = _size_of(listed[image])
                known[image] = tuple(_things(entry["segments_info"], categories, png, size))
    bare = listed_scenes(path, listed, images=images, limit=limit)
    return [Scene(scene.id, scene.read, known[key]) for key, scene in bare.items()]


def _things(
    segments: Any, categories: Mapping[Any, Mapping[str, Any]], png: Path, size: tuple[int, int]
) -> Iterator[SceneObject]:
    for segment in segments:
        category = categories.get(segment["category_id"])
        if category is None:
            raise ValueError(f"there is no category {segment['category_id']!r}")
        box = entry_box(segment)
        if category.get("isthing", 1) and box is not None:
            mask = partial(_segment_mask, png, int(segment["id"]), size)
            yield SceneObject(str(category["name"]), box, mask, bool(segment.get("iscrowd", 0)))


def _segment_mask(png: Path, segment: int, size: tuple[int, int]) -> Mask:
    """The pixels whose colour spells the number of the segment."""
    try:
        file = png.stat()
        segments = _segments(png, file.st_mtime_ns, file.st_size)
    except (OSError, ValueError):  # or a name that no file has
        raise UnreadablePicture(f"mask {png.name} is missing") from None
    except UnreadablePicture as error:
        raise UnreadablePicture(f"mask {png.name}: {error}") from None
    if segments.shape != size:
        raise UnreadablePicture(f"mask {png.name} does not fit its picture")
    mask: Mask = segments == segment
    return mask


@lru_cache(maxsize=4)  # a picture's objects are looked at one after the other, by a few threads
def _segments(png: Path, changed: int, length: int) -> npt.NDArray[np.int32]:
    """`int32 (height, width)`: red + 256 green + 65536 blue."""
    from instar.imaging.codecs import decode_png_exact

    colours = decode_png_exact(png.read_bytes())
    if colours.ndim != 3 or colours.shape[2] != 3:
        raise UnreadablePicture("its colours are not red, green and blue")
    red, green, blue = np.moveaxis(colours.astype(np.int32), 2, 0)
    return np.asarray(red | green << 8 | blue << 16, np.int32)


def _read_document(path: Path) -> dict[str, Any]:
    """A COCO file as it is."""
    document = read_json(path)
    if not isinstance(document, dict) or not isinstance(document.get("images"), list):
        raise BadInput(f"{path} is not COCO: it has no list of images")
    for part in ("annotations", "categories"):
        if not isinstance(document.get(part, []), list):
            raise BadInput(f"{path} is not COCO: {part!r} is not a list")
    return document


def _read_entries(document: CocoEntry, part: str, path: Path) -> dict[Any, CocoEntry]:
    """The images or categories of a COCO file by their id."""
    listed = document.get(part, [])
    with complain_at(f"{path}: an entry of {part!r}"):
        by_id = {entry["id"]: entry for entry in listed}
        if len(by_id) < len(listed):
            raise ValueError("two entries have the same id")
    return by_id


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
        with complain_at(f"{path}: image {key!r}"):
            name = entry["file_name"].replace("\\", "/")
            if name in names:
                raise ValueError(f"{name!r} is listed twice")
            names.add(name)
            scenes[key] = Scene(name, partial(annotated_picture, find(name), read_size(entry)))
    return dict(sorted(scenes.items(), key=lambda item: item[1].id)[:limit])


def _picture_folders(path: Path, images: str | Path | None) -> list[Path]:
    if images is not None:
        if not Path(images).is_dir():
            raise BadInput(f"the folder of images {images} does not exist")
        return [Path(images)]
    here, above = path.parent, path.parent.parent
    split = path.stem.rpartition("_")[2]  # annotations/instances_val2017.json goes with val2017/
    places = [here / name for name in ("", "images", "data", split)]
    places += [above / name for name in (split, f"images/{split}", "images", "")]
    return [place for place in places if place.is_dir()]


def _finder(folders: list[Path]) -> Callable[[str], Path]:
    """Where a listed picture is: under its name, or under its stem with the suffix of another picture."""

    @cache
    def by_stem() -> dict[str, Path]:  # listing the folders costs time that most files never need
        files = [file for folder in reversed(folders) for file in sorted(folder.iterdir())]
        return {file.stem: file for file in files if is_picture(file)}

    def find(name: str) -> Path:
        places = [folder / name for folder in folders]
        found = next((place for place in places if os.path.isfile(place)), None)
        return found or by_stem().get(Path(name).stem, places[0])

    return find
