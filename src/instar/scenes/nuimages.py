"""Scenes from nuImages, and from nuScenes' cameras: tables of JSON that refer to one another by token."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from instar.core.errors import BadInput
from instar.core.scene import Mask, Scene, SceneObject
from instar.scenes.annotation_file import complain_at
from instar.scenes.annotations import Size, annotated_scenes, boxed, read_size
from instar.scenes.masks import runs_mask
from instar.user_file import read_json

PICTURES = (".jpg", ".jpeg", ".png")


def nuimages(path: str | Path, *, limit: int | None = None) -> list[Scene]:
    """Key frames of the cameras, which nuImages knows boxes and outlines of.

    nuScenes has boxes in space; what its own tool projects of them into the pictures is read where it is
    (`image_annotations.json`), and without it nothing is known.
    """
    root = Path(path)
    tables = find_tables(root)
    if tables is None:
        raise BadInput(f"{root} is no folder of nuImages or nuScenes: it needs v1.0-.../sample_data.json")
    frames, sizes = {}, {}
    for token, row in _read(tables / "sample_data.json").items():
        with complain_at(f"{tables / 'sample_data.json'}: {token}"):
            name = str(row["filename"])
            if row.get("is_key_frame", True) and name.lower().endswith(PICTURES):
                frames[token] = name
                sizes[name] = read_size(row)
    annotated, projected = (tables / name for name in ("object_ann.json", "image_annotations.json"))
    is_known = annotated.is_file() or projected.is_file()
    objects: dict[str, list[SceneObject] | None] = {name: [] if is_known else None for name in sizes}
    if not annotated.is_file() and projected.is_file():
        rows = read_json(projected)
        with complain_at(str(projected)):
            rows = list(rows)
        for number, row in enumerate(rows):
            with complain_at(f"{projected}: {number}"):
                known = objects.get(frames.get(row["sample_data_token"], ""))
                if known is not None:
                    known += boxed(str(row["category_name"]), row["bbox_corners"])
    if annotated.is_file():
        labels = {token: str(row["name"]) for token, row in _read(tables / "category.json").items()}
        for token, row in _read(annotated).items():
            with complain_at(f"{annotated}: {token}"):
                name = frames.get(row["sample_data_token"], "")
                known = objects.get(name)
                if known is not None:
                    known += boxed(
                        labels[row["category_token"]], row["bbox"], mask=_mask(row.get("mask"), sizes[name])
                    )
    return annotated_scenes(root, objects, sizes=sizes, limit=limit)


def find_tables(root: Path) -> Path | None:
    return next((file.parent for file in sorted(root.glob("v1.0-*/sample_data.json"))), None)


def _read(file: Path) -> dict[str, Mapping[str, Any]]:
    """The rows of a table by their tokens."""
    rows = read_json(file)
    with complain_at(str(file)):
        return {row["token"]: row for row in rows}


def _mask(mask: Mapping[str, Any] | None, size: Size) -> partial[Mask] | None:
    """Run lengths as COCO compresses them, in base64."""
    if not mask:
        return None
    counts = base64.b64decode(mask["counts"]).decode("ascii")
    return partial(runs_mask, counts, size)
