"""What loaders of text data sets have in common: annotation files beside pictures, outlines, unread words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.core.scene import Image, Scene, SceneObject
from instar.imaging.words import Word
from instar.scenes.folder import check_limit, folder

__all__ = ["annotated_scenes", "has_annotations", "outline", "scene_with_words"]


def annotated_scenes(
    path: str | Path,
    truth: str | Path | None,
    *,
    prefix: str,
    read_words: Callable[[Path], Iterable[Word]],
    limit: int | None,
) -> list[Scene]:
    """A scene for every picture below a folder, with the words of its annotation file if there is one.

    Annotation files lie in `truth`, or anywhere below the folder: that of NAME.jpg is PREFIX + NAME.txt.
    """
    check_limit(limit)
    root = Path(path)
    where = root if truth is None else Path(truth)
    if not where.is_dir():
        raise BadInput(f"the folder of annotations {where} does not exist")
    files = {file.stem.removeprefix(prefix): file for file in sorted(where.rglob(f"{prefix}*.txt"))}
    scenes: list[Scene] = folder(root, limit=limit)
    for i, scene in enumerate(scenes):
        if file := files.get(Path(scene.id).stem):
            scenes[i] = scene_with_words(scene.id, scene.read, tuple(read_words(file)))
    if not any(scene.knowledge for scene in scenes):
        raise BadInput(f"{where} has no annotations of the pictures in {root}; give --truth DIR, or another")
    return scenes


def has_annotations(path: Path, prefix: str, *, levels: int) -> bool:
    """Whether there are such files in the folder or in one up to so many levels below it."""
    return any(next(path.glob("*/" * level + f"{prefix}*.txt"), None) for level in range(levels + 1))


def scene_with_words(id: str, read: Callable[[], Image], words: Sequence[Word]) -> Scene:
    """The words as knowledge, and their boxes as objects; those to be ignored count as crowds."""
    objects = tuple(SceneObject("text", word.box, crowd=word.ignored) for word in words)
    return Scene(id, read, objects, {"words": tuple(words)})


def outline(xs: Sequence[float], ys: Sequence[float]) -> npt.NDArray[np.float32]:
    """`float32 (k, 2)` of as many corners; ValueError where there are too few or one is no place."""
    if len(xs) != len(ys) or len(xs) < 3:
        raise ValueError(f"{len(xs)} x and {len(ys)} y make no outline")
    corners = np.stack([np.asarray(xs, np.float32), np.asarray(ys, np.float32)], axis=1)
    if not np.isfinite(corners).all():
        raise ValueError("a corner that is not finite")
    return corners
