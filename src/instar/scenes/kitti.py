"""Scenes from KITTI's object benchmark: `image_2/NAME.png` beside `label_2/NAME.txt`."""

from __future__ import annotations

from pathlib import Path

from instar.core.errors import BadInput
from instar.core.scene import Scene, SceneObject
from instar.scenes.annotation_file import complain_at, read_lines
from instar.scenes.annotations import annotated_scenes, boxed
from instar.scenes.folder import pictures_below

FIELDS = 15  # type, truncated, occluded, angle, box, size and place in metres, turn; results add a score
NOT_LABELLED = "DontCare"


def kitti(path: str | Path, *, limit: int | None = None) -> list[Scene]:
    """Labels and boxes of the left colour camera; regions that nobody labelled ("DontCare") are left out."""
    root = find_kitti(Path(path))
    if root is None:
        raise BadInput(f"{path} is no KITTI folder: it needs image_2 and label_2")
    files = {file.stem: file for file in (root / "label_2").glob("*.txt")}
    pictures = [file.relative_to(root).as_posix() for file in pictures_below(root / "image_2")]
    known = {name: files.get(Path(name).stem) for name in pictures}
    return annotated_scenes(
        root, {name: None if file is None else _objects(file) for name, file in known.items()}, limit=limit
    )


def find_kitti(path: Path) -> Path | None:
    """The folder with both parts, which may be one below."""
    places = (path, path / "training", path / "train")
    return next((p for p in places if all((p / d).is_dir() for d in ("image_2", "label_2"))), None)


def _objects(file: Path) -> list[SceneObject]:
    found = []
    for number, line in read_lines(file):
        with complain_at(f"{file} line {number}"):
            words = line.split()
            if len(words) < FIELDS:
                raise ValueError(f"{len(words)} fields; KITTI has {FIELDS}")
            if words[0] != NOT_LABELLED:
                found += boxed(words[0], [float(word) for word in words[4:8]])
    return found
