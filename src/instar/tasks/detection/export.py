"""Findings as data sets of COCO, YOLO or FiftyOne: follow-up pictures with the labels of their background.

Every picture knows which case it came from. Boxes are those that the data knows, or else what the system
found in the unchanged scene; the pasted object is added when asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from instar.core.errors import RunError
from instar.core.frame import Frame
from instar.core.record import Record
from instar.core.replay import Replay
from instar.core.scene import Image
from instar.imaging.codecs import encode_png
from instar.imaging.geometry import Box
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.changes import Copy, Insertion, Removal, is_removed
from instar.tasks.detection.task import move_boxes

__all__ = ["Exported", "LabelledBox", "export_coco", "export_fiftyone", "export_yolo"]


@dataclass(frozen=True, slots=True)
class LabelledBox:
    """A box x1, y1, x2, y2 in pixels; `origin` is annotated, found or pasted."""

    label: str
    box: Box
    origin: str


@dataclass(frozen=True, slots=True, eq=False)
class Exported:
    """One case as a labelled picture."""

    record: Record
    image: Image
    boxes: Sequence[LabelledBox]

    @property
    def name(self) -> str:
        return f"{PurePosixPath(self.record.scene).stem}-{self.record.case}"


def export_coco(
    cases: Iterable[Replay], folder: Path, *, run: str, system: str, with_pasted: bool = False
) -> int:
    """The follow-ups of violated cases as a COCO data set; how many were written.

    `images/` and `annotations.json`; each image has an entry `instar` with where it came from.
    """
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    categories: dict[str, int] = {}
    for number, one in enumerate(_labelled(cases, with_pasted), start=1):
        _write(folder / "images" / f"{one.name}.png", encode_png(one.image))
        height, width = one.image.shape[:2]
        about = {"id": number, "file_name": f"{one.name}.png", "width": width, "height": height}
        images.append(about | {"instar": _lineage(one.record, run, system)})
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


def export_yolo(
    cases: Iterable[Replay], folder: Path, *, run: str, system: str, with_pasted: bool = False
) -> int:
    """The follow-ups of violated cases as a YOLO data set; how many were written.

    `images/`, `labels/`, `classes.txt`, `data.yaml`, and `lineage.json` with where each came from.
    """
    classes: dict[str, int] = {}
    lineage: dict[str, Any] = {}
    for one in _labelled(cases, with_pasted):
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


def export_fiftyone(
    cases: Iterable[Replay], folder: Path, *, run: str, system: str, with_pasted: bool = False
) -> int:
    """The follow-ups of violated cases as a FiftyOneImageDetectionDataset; how many were written.

    `data/` and `labels.json`; each box says its origin, its case and its relation.
    """
    labels: dict[str, list[dict[str, Any]]] = {}
    lineage: dict[str, Any] = {}
    for one in _labelled(cases, with_pasted):
        height, width = one.image.shape[:2]
        _write(folder / "data" / f"{one.name}.png", encode_png(one.image))
        about = {"case": one.record.case, "relation": one.record.relation}
        labels[one.name] = [
            {
                "label": thing.label,
                "bounding_box": [
                    round(share, 6)
                    for share in (
                        thing.box[0] / width,
                        thing.box[1] / height,
                        (thing.box[2] - thing.box[0]) / width,
                        (thing.box[3] - thing.box[1]) / height,
                    )
                ],
                "attributes": {"origin": thing.origin, **about},
            }
            for thing in one.boxes
        ]
        lineage[f"{one.name}.png"] = _lineage(one.record, run, system)
    names = sorted({box["label"] for boxes in labels.values() for box in boxes})
    _write(folder / "labels.json", json.dumps({"classes": names, "labels": labels}, indent=1).encode())
    _write(folder / "lineage.json", json.dumps(lineage, indent=1).encode())
    return len(lineage)


def _labelled(cases: Iterable[Replay], with_pasted: bool) -> Iterator[Exported]:
    """The follow-up of each case, with the objects known to be in it where they are in its frame."""
    for case in cases:
        assert case.source is not None
        change, follow_up = case.record.change, case.follow_ups[0]
        if case.source.scene.objects is not None:
            known = [one for one in case.source.scene.objects if not one.crowd]
            boxes = [LabelledBox(one.label, one.box, "annotated") for one in known]
        else:
            found: Detections = case.source.answer.confident()
            boxes = [
                LabelledBox(label, box, "found") for label, box in zip(found.labels, found.boxes.tolist())
            ]
        if isinstance(change, Removal):
            boxes = list(_not_removed(boxes, change))
        if with_pasted and isinstance(change, (Insertion, Copy)):
            boxes.append(LabelledBox(change.label, change.box, "pasted"))
        if follow_up.frame is not None:
            boxes = list(_in_follow_up(boxes, follow_up.frame))
        yield Exported(case.record, follow_up.input, boxes)


def _not_removed(boxes: Sequence[LabelledBox], change: Removal) -> Iterator[LabelledBox]:
    """The boxes without those of what is not in the follow-up any more."""
    all_boxes = np.array([one.box for one in boxes], np.float32).reshape(-1, 4)
    gone = is_removed(all_boxes, change.box)
    yield from (one for one, is_gone in zip(boxes, gone.tolist()) if not is_gone)


def _in_follow_up(boxes: Sequence[LabelledBox], frame: Frame) -> Iterator[LabelledBox]:
    """The boxes as the follow-up shows them; what is wholly outside of it is left out."""
    moved = move_boxes(np.array([one.box for one in boxes], np.float32).reshape(-1, 4), frame)
    height, width = frame.size
    for one, (x1, y1, x2, y2) in zip(boxes, moved.clip(0, [width, height, width, height]).tolist()):
        if x2 > x1 and y2 > y1:
            yield replace(one, box=(x1, y1, x2, y2))


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
