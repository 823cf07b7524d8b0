"""Scenes from Hugging Face's image folders: pictures, and a `metadata.jsonl` that says what is in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from instar.core.errors import BadInput
from instar.core.scene import Scene, SceneObject
from instar.scenes.annotation_file import complain_at, read_lines
from instar.scenes.annotations import annotated_scenes, boxed
from instar.user_file import parse_json

FILE = "metadata.jsonl"
LABELS = ("categories", "category", "labels", "label")


def image_folder(path: str | Path, *, limit: int | None = None) -> list[Scene]:
    """The pictures that `metadata.jsonl` names by `file_name`, with their `objects` where it has them."""
    root = Path(path)
    files = [file for file in (root / FILE, *sorted(root.glob(f"*/{FILE}"))) if file.is_file()]
    if not files:
        raise BadInput(f"{root} is no image folder: it needs a {FILE}")
    objects: dict[str, list[SceneObject] | None] = {}
    for file in files:
        for number, line in read_lines(file):
            with complain_at(f"{file} line {number}"):
                entry = parse_json(line, "the line")
                name = (file.parent / entry["file_name"]).relative_to(root).as_posix()
                objects[name] = read_objects(entry)
    return annotated_scenes(root, objects, limit=limit)


def looks_like_image_folder(path: Path) -> bool:
    return any(next(path.glob(place), None) for place in (FILE, f"*/{FILE}"))


def read_objects(entry: Mapping[str, Any]) -> list[SceneObject] | None:
    """Boxes as x, y, width and height in pixels, with as many labels; None where nothing is said of them."""
    told = entry.get("objects")
    if told is None:
        return None
    if isinstance(told, list):  # one mapping for each object, in place of one of lists
        told = {key: [one[key] for one in told] for key in (told[0] if told else ("bbox",))}
    labels: Sequence[Any] = next((told[key] for key in LABELS if key in told), [])
    boxes = told["bbox"]
    if len(labels) != len(boxes):
        raise ValueError(f"{len(boxes)} boxes and {len(labels)} labels; expected as many {LABELS[0]}")
    return [
        thing
        for (x, y, w, h), label in zip(boxes, labels)
        for thing in boxed(str(label), [x, y, x + w, y + h])
    ]
