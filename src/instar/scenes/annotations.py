"""What loaders of annotated data sets share: pictures found by name, and boxes that make sense."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from instar.core.errors import BadInput, UnreadablePicture
from instar.core.scene import Mask, Scene, SceneObject
from instar.imaging.headers import MAX_PIXELS
from instar.scenes.folder import annotated_picture, check_limit, pictures_below, read_file
from instar.scenes.masks import polygons_mask

Size = tuple[int, int]


def read_size(entry: Mapping[str, Any], height: str = "height", width: str = "width") -> Size:
    """(height, width) that an entry says its picture has."""
    size = int(entry[height]), int(entry[width])
    if min(size) < 1 or size[0] * size[1] > MAX_PIXELS:
        raise ValueError(f"a picture of {size[1]} x {size[0]} pixels")
    return size


def boxed(
    label: str,
    box: Sequence[float],
    *,
    mask: Callable[[], Mask] | None = None,
    crowd: bool = False,
) -> list[SceneObject]:
    """An object with x1, y1, x2, y2 in pixels; none where the box has no area, as some sets have."""
    x1, y1, x2, y2 = map(float, box)
    if not all(map(math.isfinite, (x1, y1, x2, y2))):
        raise ValueError(f"box {list(box)}")
    if not label.strip():
        raise ValueError("an object without a name")
    return [SceneObject(label.strip(), (x1, y1, x2, y2), mask, crowd)] if x1 < x2 and y1 < y2 else []


def outlined(label: str, polygons: Sequence[Sequence[Sequence[float]]], size: Size) -> list[SceneObject]:
    """An object with polygons of x, y in pixels, and the box around them."""
    with np.errstate(over="ignore"):  # too large a number becomes infinite, and is refused
        shapes = [np.array(polygon, np.float32).reshape(-1, 2) for polygon in polygons]
    if not shapes or any(len(shape) < 3 or not np.isfinite(shape).all() for shape in shapes):
        raise ValueError("a polygon needs three points or more, each of two numbers")
    points = np.clip(np.concatenate(shapes), 0, (size[1], size[0]))
    box = [*points.min(axis=0).tolist(), *points.max(axis=0).tolist()]
    return boxed(label, box, mask=partial(polygons_mask, shapes, size))


def masked(
    label: str, box: tuple[int, int, int, int], part: Callable[[], Mask], size: Size
) -> list[SceneObject]:
    """An object whose outline is annotated as a mask of its box, which `part` makes."""
    x1, y1, x2, y2 = box
    if not (0 <= x1 < x2 <= size[1] and 0 <= y1 < y2 <= size[0]):
        raise ValueError(f"the box of a mask, {list(box)}, in a picture of {size[1]} x {size[0]}")
    return boxed(label, box, mask=partial(_in_whole, part, box, size))


def _in_whole(part: Callable[[], Mask], box: tuple[int, int, int, int], size: Size) -> Mask:
    (x1, y1, x2, y2), whole = box, np.zeros(size, bool)
    try:
        made = part()
        if made.shape != (y2 - y1, x2 - x1):
            raise ValueError(f"it is {made.shape[1]} x {made.shape[0]}")
    except (BadInput, ValueError) as error:
        raise UnreadablePicture(f"a mask does not fit its box: {error}") from None
    whole[y1:y2, x1:x2] = made
    return whole


def data_root(file: Path) -> Path:
    """The folder of a data set that a file of annotations belongs to: that with the pictures."""
    above = [file.parent, *file.parent.parents[:2]]
    return next((place for place in above if (place / "images").is_dir()), file.parent)


def annotated_scenes(
    root: Path,
    objects: Mapping[str, Iterable[SceneObject] | None],
    *,
    sizes: Mapping[str, Size] | None = None,
    limit: int | None = None,
) -> list[Scene]:
    """A scene for each picture that annotations name, in the order of their ids; where `sizes` are annotated,
    a picture of another size is refused when it is read."""
    check_limit(limit)
    if not objects:
        raise BadInput(f"{root}: the annotations name no picture")
    find, scenes = picture_finder(root), []
    for name, known in objects.items():
        path = find(name)
        read = partial(annotated_picture, path, sizes[name]) if sizes else partial(read_file, path)
        id = path.relative_to(root).as_posix() if path.is_relative_to(root) else name
        scenes.append(Scene(id, read, None if known is None else tuple(known)))
    return sorted(scenes, key=lambda scene: scene.id)[:limit]


def picture_finder(root: Path) -> Callable[[str], Path]:
    """Where the picture of a name is below a folder: as named, else by the end of its path, else by its stem.

    A picture that is nowhere is looked for where it was named, so that reading it says so.
    """

    @cache
    def by_end() -> dict[str, Path]:
        found: dict[str, Path] = {}
        for file in sorted(pictures_below(root), reverse=True):
            parts = file.relative_to(root).parts
            for start in range(len(parts)):
                found["/".join(parts[start:])] = file
            found.setdefault(file.stem, file)
        return found

    def find(name: str) -> Path:
        plain = name.replace("\\", "/")
        if os.path.isfile(root / plain):  # False also for what no file can be called
            return root / plain
        parts = [part for part in plain.split("/") if part not in ("", ".", "..")]
        ends = ["/".join(parts[start:]) for start in range(len(parts))] + [Path(plain).stem]
        return next((by_end()[end] for end in ends if end in by_end()), root / plain)

    return find
