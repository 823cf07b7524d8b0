"""Scenes from YOLO label files: one line of text per object, in shares of the picture's size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from instar.core.errors import BadInput, UnreadablePicture
from instar.core.scene import Scene, SceneObject
from instar.scenes.annotation_file import complain_at, read_lines
from instar.scenes.folder import SPLITS, SUFFIXES, check_limit, folder
from instar.scenes.masks import polygons_mask
from instar.user_file import read_text

YAML_NAMES = ("data.yaml", "data.yml", "dataset.yaml")
LISTS = ("classes.txt", "obj.names", "_darknet.labels")
"""Files with a class on each line: of LabelImg and Label Studio, of Darknet and CVAT, of Roboflow."""


class YoloClasses(NamedTuple):
    """The names by number of class, where a file says them; and whether key points follow an object's box."""

    names: list[str] | None
    posed: bool = False


def yolo(
    path: str | Path,
    *,
    labels: str = "labels",
    names: Sequence[str] | None = None,
    limit: int | None = None,
) -> list[Scene]:
    """The scenes of a YOLO folder, or of the folder that a `data.yaml` lies in or names as its `path`.

    Objects have boxes, and masks where a line is a polygon; those without area are left out. Where
    there are folders `images`, only pictures below them count: the label file of
    `.../images/.../a.jpg` is `.../labels/.../a.txt`, with `labels` the name of that folder. Elsewhere it
    is the `a.txt` beside the picture. No file means, as in YOLO, that the picture is empty. Class names
    come from `names`, else from the YAML that was given, else from `data.yaml` or a list such as
    `classes.txt` in the folder or above it; without any of them a label is the number of its class.
    """
    check_limit(limit)
    given = Path(path)
    root = given.parent if given.is_file() else given
    if given.is_file() and given.suffix in (".yaml", ".yml"):
        document = _yaml(given)
        root, classes = _root(document, root), _described(document, given)
    else:
        classes = yolo_classes(root)
    if names is not None:
        classes = classes._replace(names=list(names))
    scenes: list[Scene] = folder(root)
    scenes = [scene for scene in scenes if "images" in Path(scene.id).parts[:-1]] or scenes
    if not any(label_file(root, scene.id, labels).is_file() for scene in scenes):
        raise BadInput(
            f"no label file below {root} for any of {len(scenes)} pictures; expected {labels}/*.txt"
        )
    return [
        Scene(scene.id, scene.read, _objects(root, scene.id, labels, classes)) for scene in scenes[:limit]
    ]


def looks_like_yolo(path: Path) -> bool:
    """Label files in their folder, and beside that the pictures' folder or a data.yaml; or a list of classes
    with label files beside pictures."""
    for split in SPLITS:
        if any((path / split / name).is_file() for name in (*LISTS, "obj.data")):
            places = (path / split, path / split / "obj_train_data")
            texts = (file for place in places for file in place.glob("*.txt"))
            if any(file.with_suffix(suffix).is_file() for file in texts for suffix in SUFFIXES):
                return True
    labelled = any(next(path.glob(place), None) for place in ("labels/**/*.txt", "*/labels/**/*.txt"))
    described = any((path / name).is_file() for name in YAML_NAMES)
    return labelled and (described or (path / "images").is_dir())


def label_file(root: Path, picture: str, labels: str) -> Path:
    """Where the objects of a picture are written down.

    >>> label_file(Path("set"), "images/train/a.jpg", "labels").as_posix()
    'set/labels/train/a.txt'
    """
    parts = list(Path(picture).with_suffix(".txt").parts)
    folders = parts[:-1]
    if "images" in folders:
        parts[len(folders) - 1 - folders[::-1].index("images")] = labels
    return root.joinpath(*parts)


def _objects(root: Path, picture: str, labels: str, classes: YoloClasses) -> tuple[SceneObject, ...] | None:
    from instar.imaging.codecs import picture_size

    file = label_file(root, picture, labels)
    lines = read_lines(file) if file.exists() else []
    if not lines:
        return ()
    try:
        size = picture_size(root / picture)
    except UnreadablePicture:
        return None  # reading the scene will say why
    found = []
    for number, line in lines:
        with complain_at(f"{file} line {number}"):
            words = line.split()[: 5 if classes.posed else None]
            found.append(_object(words, classes.names, size))
    return tuple(thing for thing in found if thing is not None)


def _object(words: list[str], names: Sequence[str] | None, size: tuple[int, int]) -> SceneObject | None:
    label, shares = _label(words[0], names), [_share(word) for word in words[1:]]
    height, width = size
    if len(shares) == 4:
        x, y, w, h = shares
        corners = np.array([(x - w / 2, y - h / 2), (x + w / 2, y + h / 2)])
        mask = None
    elif len(shares) >= 6 and len(shares) % 2 == 0:
        corners = np.array(shares).reshape(-1, 2)
        mask = partial(polygons_mask, [(corners * (width, height)).astype(np.float32)], size)
    else:
        raise ValueError(f"{len(words)} numbers; expected class x y width height, or class and a polygon")
    corners = np.clip(corners, 0, 1) * (width, height)
    (x1, y1), (x2, y2) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
    return SceneObject(label, (x1, y1, x2, y2), mask) if x1 < x2 and y1 < y2 else None


def _label(word: str, names: Sequence[str] | None) -> str:
    if not word.isdecimal():
        raise ValueError(f"class {word!r} is not a whole number")
    if names is None:
        return str(int(word))
    if int(word) >= len(names):
        raise ValueError(f"class {word}, but there are only {len(names)} names")
    return names[int(word)]


def _share(word: str) -> float:
    try:
        share = float(word)
    except ValueError:
        raise ValueError(f"{word!r} is not a number") from None
    # Rounding takes shares a little over the edge; more than that means pixels.
    if not (math.isfinite(share) and -0.01 <= share <= 1.01):
        raise ValueError(f"{word} is not a share of the picture, from 0 to 1")
    return share


def yolo_classes(root: Path) -> YoloClasses:
    """What the first file in the folder, its parts or above it says of the classes."""
    for place in (root, *(root / split for split in SPLITS[1:]), root.parent):
        for name in YAML_NAMES:
            if (place / name).is_file():
                return _described(_yaml(place / name), place / name)
        for name in LISTS:
            if (place / name).is_file():
                return YoloClasses([line.strip() for _, line in read_lines(place / name)])
    return YoloClasses(None)


def _described(document: dict[str, Any], path: Path) -> YoloClasses:
    return YoloClasses(_names(document, path), "kpt_shape" in document)


def _root(document: dict[str, Any], folder: Path) -> Path:
    """The folder that a YAML file is about: its `path`, or that above the `images` of a split whose whole
    path is given, or its own."""
    below = folder / str(document.get("path") or "")
    if document.get("path") is None:
        splits = [Path(s) for key in ("train", "val", "test") if isinstance(s := document.get(key), str)]
        for split in splits:
            if split.is_absolute() and split.is_dir() and "images" in split.parts:
                return Path(*split.parts[: split.parts.index("images")])
    return below if below.is_dir() else folder


def names_in_yaml(path: Path) -> list[str]:
    """The class names of a `data.yaml`, by number."""
    return _names(_yaml(path), path)


def _yaml(path: Path) -> dict[str, Any]:
    import yaml

    try:
        document = yaml.safe_load(read_text(path))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise BadInput(f"{path} is not YAML: {reason}") from None
    if not isinstance(document, dict) or document.get("names") is None:
        raise BadInput(f"{path} has no 'names'")
    return document


def _names(document: dict[str, Any], path: Path) -> list[str]:
    told = document["names"]
    names = told if isinstance(told, dict) else dict(enumerate(told)) if isinstance(told, list) else {}
    numbers = range(len(names))
    texts = [names.get(number) for number in numbers]
    if not names or not all(isinstance(text, (str, int, float)) and str(text) for text in texts):
        raise BadInput(f"{path}: the classes under 'names' are not 0, 1, 2, ... each with a name")
    return [str(text) for text in texts]
