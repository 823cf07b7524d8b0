"""Scenes from FiftyOne's own layout of detections: `data/` and `labels.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from instar.core.errors import BadInput, UnreadablePicture
from instar.core.scene import Scene, SceneObject
from instar.scenes.annotation_file import complain_at, read_bytes
from instar.scenes.annotations import Size, annotated_scenes, boxed, picture_finder
from instar.user_file import read_json


def fiftyone(path: str | Path, *, limit: int | None = None) -> list[Scene]:
    """The detections of a dataset that was exported as FiftyOneImageDetectionDataset.

    Labels are names or numbers of `classes`; boxes are x, y, width and height in shares of the picture. Of a
    picture that `labels` does not list, or lists as null, nothing is known.
    """
    given = Path(path)
    file = given / "labels.json" if given.is_dir() else given
    root = file.parent / "data"
    document = read_json(file)
    if not isinstance(document, dict) or not isinstance(document.get("labels"), dict) or not root.is_dir():
        raise BadInput(f"{file} is no export of FiftyOne: it needs 'labels', and pictures in data/ beside it")
    find, objects = picture_finder(root), {}
    for name, entries in document["labels"].items():
        with complain_at(f"{file}: {name!r}"):
            objects[name] = _objects(find(name), entries, document.get("classes") or ())
    return annotated_scenes(root, objects, limit=limit)


def looks_like_fiftyone(path: Path) -> bool:
    """Its export as COCO lies in the same two places; it has `images`."""
    file = path / "labels.json"
    return file.is_file() and (path / "data").is_dir() and b'"images"' not in read_bytes(file)


def _objects(
    picture: Path, entries: Sequence[Mapping[str, Any]] | None, classes: Sequence[str]
) -> list[SceneObject] | None:
    from instar.imaging.codecs import picture_size

    if entries is None:
        return None
    try:
        size = picture_size(picture)
    except UnreadablePicture:
        return None  # reading the scene will say why
    return [thing for entry in entries for thing in _object(entry, classes, size)]


def _object(entry: Mapping[str, Any], classes: Sequence[str], size: Size) -> list[SceneObject]:
    label = entry["label"]
    if isinstance(label, int):
        if not 0 <= label < len(classes):
            raise ValueError(f"class {label}, but there are {len(classes)} names")
        label = classes[label]
    (height, width), (x, y, w, h) = size, map(float, entry["bounding_box"])
    return boxed(str(label), [x * width, y * height, (x + w) * width, (y + h) * height])
