"""Scenes from CVAT's own XML, "CVAT for images 1.1"."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from instar.core.errors import BadInput
from instar.core.scene import Mask, Scene, SceneObject
from instar.scenes.annotation_file import complain_at, parse_xml, read_bytes
from instar.scenes.annotations import Size, annotated_scenes, boxed, data_root, masked, outlined, read_size
from instar.scenes.masks import runs_mask

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

FILE = "annotations.xml"
SIDES = ("xtl", "ytl", "xbr", "ybr")


def cvat(path: str | Path, *, limit: int | None = None) -> list[Scene]:
    """Boxes, and polygons and masks with their outlines, of `annotations.xml`; other shapes are left out."""
    given = Path(path)
    file = (find_cvat_file(given) or given / FILE) if given.is_dir() else given
    objects: dict[str, list[SceneObject]] = {}
    sizes: dict[str, Size] = {}
    for number, image in enumerate(parse_xml(read_bytes(file), file).iter("image")):
        with complain_at(f"{file}: image {number}"):
            name = image.attrib["name"]
            sizes[name] = read_size(image.attrib)
            objects[name] = [thing for shape in image for thing in _object(shape, sizes[name])]
    if not objects:
        raise BadInput(f"{file} has no images; export your task as CVAT for images 1.1")
    return annotated_scenes(data_root(file), objects, sizes=sizes, limit=limit)


def find_cvat_file(folder: Path) -> Path | None:
    """`annotations.xml`, or the only XML file beside a folder of pictures."""
    if (folder / FILE).is_file():
        return folder / FILE
    found = list(folder.glob("*.xml")) if (folder / "images").is_dir() else []
    return found[0] if len(found) == 1 and b"<annotations" in found[0].read_bytes()[:500] else None


def _object(shape: Element, size: Size) -> list[SceneObject]:
    if shape.tag == "box":
        x1, y1, x2, y2 = (float(shape.attrib[side]) for side in SIDES)
        if turned := math.radians(float(shape.attrib.get("rotation", 0))):
            return outlined(shape.attrib["label"], [_turned((x1, y1, x2, y2), turned)], size)
        return boxed(shape.attrib["label"], [x1, y1, x2, y2])
    if shape.tag == "mask":  # its run lengths go along the rows
        left, top, width, height = (int(shape.attrib[side]) for side in ("left", "top", "width", "height"))
        runs = [int(n) for n in shape.attrib["rle"].split(",")]
        part = partial(_mask, runs, (height, width))
        return masked(shape.attrib["label"], (left, top, left + width, top + height), part, size)
    if shape.tag == "polygon":
        points = [[float(n) for n in point.split(",")] for point in shape.attrib["points"].split(";")]
        return outlined(shape.attrib["label"], [points], size)
    return []


def _turned(box: tuple[float, float, float, float], angle: float) -> list[list[float]]:
    """The corners of a box that is turned about its centre, clockwise."""
    x1, y1, x2, y2 = box
    (x, y), (sin, cos) = ((x1 + x2) / 2, (y1 + y2) / 2), (math.sin(angle), math.cos(angle))
    corners = [(x1 - x, y1 - y), (x2 - x, y1 - y), (x2 - x, y2 - y), (x1 - x, y2 - y)]
    return [[x + cos * right - sin * down, y + sin * right + cos * down] for right, down in corners]


def _mask(runs: list[int], size: Size) -> Mask:
    mask: Mask = runs_mask(runs, (size[1], size[0])).T
    return mask
