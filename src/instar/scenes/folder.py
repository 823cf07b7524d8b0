"""Scenes from pictures on disk, with nothing known about them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from instar.core.errors import BadInput, UnreadablePicture
from instar.core.scene import Image, Scene, SceneList

SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp")
SPLITS = ("", "train", "valid", "val", "test")  # folders of an export, each with its own annotations


def folder(path: str | Path, *, limit: int | None = None) -> SceneList:
    """A scene for every picture below a folder, or for one picture file.

    Files are chosen by their suffix, whatever its case; links are followed. Hidden files and folders are
    passed over, and so are run folders, whose pictures are those of findings. A scene's id is its path from
    the folder, and scenes come in the order of their ids. Nothing is opened yet: a file that is no picture
    is found out when its scene is read.
    """
    check_limit(limit)
    root = Path(path)
    if root.is_file():
        if not is_picture(root):
            raise BadInput(f"{root} is not a picture by its name; expected {', '.join(SUFFIXES)}")
        return SceneList([Scene(root.name, partial(read_file, root))], str(root))
    if not root.is_dir():
        raise BadInput(f"{root} does not exist; give a folder of pictures or a picture file")
    found = sorted((file.relative_to(root).as_posix(), file) for file in pictures_below(root))
    if not found:
        raise BadInput(f"no picture below {root}; expected {', '.join(SUFFIXES)}")
    scenes = (Scene(name, partial(read_file, file)) for name, file in found[:limit])
    return SceneList(scenes, str(root), limit)


def is_picture(path: Path) -> bool:
    """Whether the name is that of a picture."""
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".")


def pictures_below(root: Path) -> Iterator[Path]:
    """The picture files in a folder and all folders in it, in no particular order."""
    entered: set[str] = set()
    for place, folders, files in os.walk(root, followlinks=True):
        real = os.path.realpath(place)
        if real in entered:  # a link to a folder that contains it
            folders.clear()
            continue
        entered.add(real)
        if "run.sqlite" in files and Path(place) != root:
            folders.clear()
            continue
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            file = Path(place, name)
            if is_picture(file) and file.is_file():
                yield file


def check_limit(limit: int | None) -> None:
    """Raise BadInput unless at least one scene may be loaded."""
    if limit is not None and limit < 1:
        raise BadInput(f"limit {limit} leaves no scene; give 1 or more")


def annotated_picture(path: Path, size: tuple[int, int]) -> Image:
    """Read a picture whose annotations were made at `size` (height, width).

    Another size means that the annotations are not of this picture, or that it was scaled or turned
    since; its boxes and masks would then be wrong.
    """
    image = read_file(path)
    if image.shape[:2] != size:
        (height, width), (wanted_height, wanted_width) = image.shape[:2], size
        raise UnreadablePicture(
            f"{width} x {height} pixels, but annotated as {wanted_width} x {wanted_height}"
        )
    return image


def read_file(path: Path) -> Image:
    """`read_picture`, which loads OpenCV only when a picture is looked at."""
    from instar.imaging.codecs import read_picture

    return read_picture(path)
