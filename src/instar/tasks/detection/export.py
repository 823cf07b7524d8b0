"""Findings as data sets: follow-up pictures with the labels of their background, in COCO's or YOLO's layout.

Every picture knows which case it came from. Boxes are those that the data knows, or else what the system
found in the unchanged scene; the pasted object is added when asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from instar.core.errors import RunError
from instar.core.record import Record
from instar.core.scene import Image, Observation
from instar.imaging.codecs import encode_png
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.changes import Insertion

__all__ = ["Exported", "LabelledBox", "labelled", "write_coco", "write_yolo"]


@dataclass(frozen=True, slots=True)
class LabelledBox:
    """A box x1, y1, x2, y2 in pixels; `origin` is annotated, found or pasted."""

    label: str
    box: tuple[float, float, float, float]
    origin: str


@dataclass(frozen=True, slots=True, eq=False)
class Exported:
    """One case as a labelled picture."""

    record: Record
    image: Image
    boxes: Sequence[LabelledBox] = field(default_factory=tuple)

    @property
    def name(self) -> str:
        return f"{PurePosixPath(self.record.scene).stem}-{self.record.case}"


def labelled(record: Record, source: Observation, image: Image, *, with_pasted: bool) -> Exported:
    """The follow-up of a case with what is known to be in it."""
    answer: Detections = source.answer
    if source.scene.objects is not None:
        boxes = [
            LabelledBox(one.label, one.box, "annotated") for one in source.scene.objects if not one.crowd
        ]
    else:
        found = answer.confident()
        boxes = [
            LabelledBox(label, (x1, y1, x2, y2), "found")
            for label, (x1, y1, x2, y2) in zip(found.labels, found.boxes.tolist())
        ]
    if with_pasted and isinstance(record.change, Insertion):
        boxes.append(LabelledBox(record.change.label, record.change.box, "pasted"))
    return Exported(record, image, boxes)


def write_coco(cases: Iterable[Exported], folder: Path, *, run: str, system: str) -> int:
    """`images/` and `annotations.json`; each image has an entry `instar` with where it came from."""
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    categories: dict[str, int] = {}
    for number, one in enumerate(cases, start=1):
        _write(folder / "images" / f"{one.name}.png", encode_png(one.image))
        height, width = one.image.shape[:2]
        images.append(
            {
                "id": number,
                "file_name": f"{one.name}.png",
                "width": width,
                "height": height,
                "instar": _lineage(one.record, run, system),
            }
        )
        for thing in one.boxes:
            x1, y1, x2, y2 = thing.box
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": number,
                    "category_id": categories.setdefault(thing.label, len(categories) + 1),
                    "bbox": [round(v, 2) for v in (x1, y1, x2 - x1, y2 - y1)],
                    "area": round((x2 - x1) * (y2 - y1), 2),
                    "iscrowd": 0,
                    "instar": {"origin": thing.origin},
                }
            )
    document = {
        "info": {"description": f"follow-ups of {run}, made by instar"},
        "images": images,
        "annotations": annotations,
        "categories": [{"id": number, "name": label} for label, number in categories.items()],
    }
    _write(folder / "annotations.json", json.dumps(document, indent=1).encode())
    return len(images)


def write_yolo(cases: Iterable[Exported], folder: Path, *, run: str, system: str) -> int:
    """`images/`, `labels/`, `classes.txt`, `data.yaml`, and `lineage.json` with where each came from."""
    classes: dict[str, int] = {}
    lineage: dict[str, Any] = {}
    for one in cases:
        height, width = one.image.shape[:2]
        lines = []
        for thing in one.boxes:
            x1, y1, x2, y2 = thing.box
            number = classes.setdefault(thing.label, len(classes))
            shares = ((x1 + x2) / 2 / width, (y1 + y2) / 2 / height, (x2 - x1) / width, (y2 - y1) / height)
            lines.append(f"{number} " + " ".join(f"{share:.6f}" for share in shares))
        _write(folder / "images" / f"{one.name}.png", encode_png(one.image))
        _write(folder / "labels" / f"{one.name}.txt", "".join(f"{line}\n" for line in lines).encode())
        lineage[f"{one.name}.png"] = _lineage(one.record, run, system)
    names = json.dumps(list(classes))
    _write(folder / "classes.txt", "".join(f"{name}\n" for name in classes).encode())
    _write(folder / "data.yaml", f"path: .\ntrain: images\nval: images\nnames: {names}\n".encode())
    _write(folder / "lineage.json", json.dumps(lineage, indent=1).encode())
    return len(lineage)


def _lineage(record: Record, run: str, system: str) -> dict[str, Any]:
    return {
        "case": record.case,
        "run": run,
        "system": system,
        "scene": record.scene,
        "relation": record.relation,
        "kind": record.verdict.kind,
        "findings": [{"kind": f.kind, "subject": f.subject} for f in record.verdict.findings],
        "change": None if record.change is None else record.change.to_json(),
    }


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror or error}; choose another --out") from error
