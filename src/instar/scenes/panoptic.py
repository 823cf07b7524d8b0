"""Scenes from COCO panoptic files: a list of segments, and a PNG that says which pixel is whose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput, UnreadablePicture
from instar.core.scene import Mask, Scene, SceneObject
from instar.scenes.coco_file import entry_box, entry_size, listed_scenes, read_document, read_entries, telling

__all__ = ["panoptic"]


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
    document = read_document(path)
    segments_folder = path.with_suffix("") if masks is None else Path(masks)
    if not segments_folder.is_dir():
        raise BadInput(f"the folder of panoptic masks {segments_folder} does not exist")
    listed = read_entries(document, "images", path)
    categories = read_entries(document, "categories", path)
    known: dict[Any, tuple[SceneObject, ...] | None] = dict.fromkeys(listed)
    for number, entry in enumerate(document.get("annotations", ())):
        with telling(path, f"annotation {number}"):
            image = entry["image_id"]
            if image in listed:
                png = segments_folder / entry["file_name"]
                size = entry_size(listed[image])
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
    except OSError:
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
