"""Scenes from COCO-Text: words in photographs of COCO, in one JSON file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from instar.core.errors import BadInput
from instar.core.scene import Scene
from instar.imaging.words import Word
from instar.scenes.annotation_file import read_json
from instar.scenes.coco_file import entry_box, listed_scenes, telling
from instar.scenes.outlines import outline, scene_with_words

__all__ = ["coco_text"]


def coco_text(path: str | Path, *, images: str | Path | None = None, limit: int | None = None) -> list[Scene]:
    """The scenes of a COCO-Text file, with their words in `knowledge["words"]`.

    Pictures are looked for in the folder `images`, or else beside the file and where COCO keeps them. A
    word is its mask where that has four corners or more, else its box; one that is illegible or was not
    read is to be ignored.
    """
    path = Path(path)
    document = read_json(path)
    tables = [document.get(part) for part in ("imgs", "anns")] if isinstance(document, dict) else [None]
    if not all(isinstance(table, dict) for table in tables):
        raise BadInput(f"{path} is not COCO-Text: it has no tables imgs and anns")
    words: dict[str, list[Word]] = {key: [] for key in document["imgs"]}
    for key, entry in document["anns"].items():
        with telling(path, f"annotation {key}"):
            # Keys are strings in JSON, while the annotations refer to them as numbers.
            if (image := str(entry["image_id"])) in words:
                words[image] += _word(entry)
    bare = listed_scenes(path, document["imgs"], images=images, limit=limit)
    return [scene_with_words(scene.id, scene.read, words[key]) for key, scene in bare.items()]


def _word(entry: Mapping[str, Any]) -> list[Word]:
    mask = entry.get("mask") or entry.get("polygon") or ()
    if len(mask) >= 8:
        corners = outline(mask[0::2], mask[1::2])
    else:
        box = entry_box(entry)
        if box is None:
            return []
        x1, y1, x2, y2 = box
        corners = outline([x1, x2, x2, x1], [y1, y1, y2, y2])
    text = str(entry.get("utf8_string") or "")
    ignored = not text or entry.get("legibility") == "illegible"
    return [Word(corners, "" if ignored else text, ignored)]
