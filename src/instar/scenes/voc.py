"""Scenes from PASCAL VOC: `Annotations/*.xml` beside `JPEGImages/`, or each XML file beside its picture."""

from __future__ import annotations

import math
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from instar.core.errors import BadInput
from instar.core.scene import Scene, SceneObject
from instar.scenes.annotation_file import parse_xml, read_bytes
from instar.scenes.folder import SPLITS, check_limit, folder, read_file

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def voc(path: str | Path, *, limit: int | None = None) -> list[Scene]:
    """The scenes of a VOC folder, with labels and boxes, or of a folder where XML lies beside pictures.

    VOC counts pixels from 1 and its boxes include their last one; ours begin at 0 and do not. Of a
    picture without XML nothing is known, and XML without a picture is a scene that cannot be read.
    """
    check_limit(limit)
    root = Path(path)
    if not looks_like_voc(root):
        raise BadInput(
            f"{root} is no VOC folder: it needs Annotations and JPEGImages, or XML beside pictures"
        )
    prefix, base = ("JPEGImages/", root / "Annotations") if _is_devkit(root) else ("", root)
    files = [file for file in base.rglob("*.xml") if prefix or _is_voc(file)]
    annotations = {file.relative_to(base).with_suffix("").as_posix(): file for file in files}
    scenes = [
        (prefix + picture.id, picture.read, annotations.pop(picture.id.rpartition(".")[0], None))
        for picture in folder(root / prefix)
    ]
    for stem, xml in annotations.items():
        name = f"{prefix}{stem}.jpg"
        scenes.append((name, partial(read_file, root / name), xml))
    scenes.sort(key=lambda scene: scene[0])
    return [Scene(name, read, _objects(xml) if xml else None) for name, read, xml in scenes[:limit]]


def looks_like_voc(path: Path) -> bool:
    beside = (next((path / split).glob("*.xml"), None) for split in SPLITS)
    return _is_devkit(path) or any(file is not None and _is_voc(file) for file in beside)


def _is_devkit(path: Path) -> bool:
    return (path / "Annotations").is_dir() and (path / "JPEGImages").is_dir()


def _is_voc(file: Path) -> bool:
    with file.open("rb") as opened:
        return re.search(rb"<annotation[\s>]", opened.read(1000)) is not None


def _objects(file: Path) -> tuple[SceneObject, ...]:
    data = read_bytes(file)
    return tuple(_object(element, file, data) for element in parse_xml(data, file).iter("object"))


def _object(element: Element, file: Path, data: bytes) -> SceneObject:
    label = (element.findtext("name") or "").strip()
    if not label:
        raise BadInput(f"{file}: an object without a name")
    x1, y1, x2, y2 = (
        _number(element.findtext(f"bndbox/{side}"), side, file, data)
        for side in ("xmin", "ymin", "xmax", "ymax")
    )
    box = (max(x1 - 1, 0.0), max(y1 - 1, 0.0), x2, y2)
    if box[0] >= box[2] or box[1] >= box[3]:
        raise BadInput(f"{file}: the box of {label!r} has no area: {x1:g} {y1:g} {x2:g} {y2:g}")
    return SceneObject(label, box)


def _number(text: str | None, side: str, file: Path, data: bytes) -> float:
    if text is None:
        raise BadInput(f"{file}: an object without {side}")
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        line = data[: max(data.find(f"<{side}>{text}<".encode()), 0)].count(b"\n") + 1
        raise BadInput(f"{file} line {line}: {side} is {text.strip()!r}, not a number")
    return number
