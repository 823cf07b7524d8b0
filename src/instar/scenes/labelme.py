"""Scenes from LabelMe: a JSON file of shapes beside each picture."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from instar.core.errors import BadInput
from instar.core.scene import Mask, Scene, SceneObject
from instar.scenes.annotation_file import complain_at, read_bytes
from instar.scenes.annotations import Size, annotated_scenes, boxed, masked, outlined, read_size
from instar.user_file import read_json


def labelme(path: str | Path, *, limit: int | None = None) -> list[Scene]:
    """Polygons and masks with their outlines, rectangles and circles with their boxes; points and lines are
    left out.

    Shapes of one `group_id` and label are one object.
    """
    given = Path(path)
    root = given if given.is_dir() else given.parent
    files = sorted(root.rglob("*.json")) if given.is_dir() else [given]
    objects: dict[str, list[SceneObject]] = {}
    sizes: dict[str, Size] = {}
    for file in filter(_is_labelme, files):
        document = read_json(file)
        with complain_at(str(file)):
            named = str(document["imagePath"]).replace("\\", "/").rpartition("/")[2]
            name = (file.parent / named).relative_to(root).as_posix()
            sizes[name] = read_size(document, "imageHeight", "imageWidth")
            objects[name] = _objects(document["shapes"], sizes[name])
    if not objects:
        raise BadInput(f"no JSON file of LabelMe below {root}")
    return annotated_scenes(root, objects, sizes=sizes, limit=limit)


def looks_like_labelme(path: Path) -> bool:
    """Such a file in the folder, or else in one below it."""
    first = next((file for place in ("*.json", "*/*.json") for file in sorted(path.glob(place))), None)
    return first is not None and _is_labelme(first)


def _is_labelme(file: Path) -> bool:
    data = read_bytes(file)
    return b'"shapes"' in data and b'"imagePath"' in data


def _objects(shapes: list[Mapping[str, Any]], size: Size) -> list[SceneObject]:
    found: list[SceneObject] = []
    groups: dict[tuple[str, Any], list[Any]] = {}
    for number, shape in enumerate(shapes):
        label, points, kind = str(shape["label"]), shape["points"], shape.get("shape_type") or "polygon"
        if kind == "polygon":
            group = shape.get("group_id")
            groups.setdefault((label, ("alone", number) if group is None else group), []).append(points)
        elif kind == "rectangle":  # by two corners, of other tools by four
            columns, rows = zip(*points)
            found += boxed(label, [min(columns), min(rows), max(columns), max(rows)])
        elif kind == "mask":  # whose last pixel is the second point
            (x1, y1), (x2, y2) = ((int(x), int(y)) for x, y in points)
            found += masked(label, (x1, y1, x2 + 1, y2 + 1), partial(_mask, str(shape["mask"])), size)
        elif kind == "circle":
            (x, y), (at_x, at_y) = points
            radius = ((at_x - x) ** 2 + (at_y - y) ** 2) ** 0.5
            found += boxed(label, [x - radius, y - radius, x + radius, y + radius])
    for (label, _), polygons in groups.items():
        found += outlined(label, polygons, size)
    return found


def _mask(png: str) -> Mask:
    """What a shape has as a PNG of its box."""
    from instar.imaging.codecs import decode_png_exact

    part = decode_png_exact(base64.b64decode(png))
    mask: Mask = (part if part.ndim == 2 else part[:, :, 0]) > 0
    return mask
