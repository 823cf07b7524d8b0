"""Scenes from BDD100K's label files, which are Scalabel's: a list of frames with their labels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from instar.core.errors import BadInput
from instar.core.scene import Scene, SceneObject
from instar.scenes.annotation_file import complain_at
from instar.scenes.annotations import annotated_scenes, boxed, data_root
from instar.user_file import read_json


def bdd100k(path: str | Path, *, limit: int | None = None) -> list[Scene]:
    """The boxes of a file such as `det_val.json`; lanes and drivable areas, which have none, are left out.

    Scalabel's boxes end with their last pixel, ours behind it. Pictures are looked for below the folder with
    `images`, the file's own or one of the two above.
    """
    file = Path(path)
    document = read_json(file)
    frames = document.get("frames") if isinstance(document, Mapping) else document
    if not isinstance(frames, list):
        raise BadInput(f"{file} is no label file of BDD100K: it has no list of frames")
    objects: dict[str, list[SceneObject]] = {}
    for number, frame in enumerate(frames):
        with complain_at(f"{file}: frame {number}"):
            name = "/".join(filter(None, (str(frame.get("videoName") or ""), str(frame["name"]))))
            objects.setdefault(name, []).extend(
                thing for label in frame.get("labels") or () for thing in _object(label)
            )
    return annotated_scenes(data_root(file), objects, limit=limit)


def _object(label: Mapping[str, Any]) -> list[SceneObject]:
    box = label.get("box2d")
    if box is None:
        return []
    crowd = bool((label.get("attributes") or {}).get("crowd", False))
    x1, y1, x2, y2 = (float(box[side]) for side in ("x1", "y1", "x2", "y2"))
    return boxed(str(label["category"]), [x1, y1, x2 + 1, y2 + 1], crowd=crowd)
