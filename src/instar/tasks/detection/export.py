"""Cases as data sets: follow-up pictures with the labels of their background, as COCO, YOLO or FiftyOne.

Every picture knows which case it came from. Boxes are those that the data knows, or else what referees agree
on, never what the system under test found; the pasted object is added when asked for. Pictures of one scene
are all in one part, to train on or to validate with.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from instar.core.errors import BadInput
from instar.core.frame import Frame
from instar.core.record import Record
from instar.core.referees import Referee
from instar.core.replay import Replay
from instar.core.scene import Image, SceneObject
from instar.imaging.codecs import encode_png
from instar.imaging.geometry import Box
from instar.scenes.yolo import names_in_yaml
from instar.tasks.detection.changes import Copy, Insertion, Removal, is_removed
from instar.tasks.detection.class_names import canonical_class
from instar.tasks.detection.known_objects import KnownObjects
from instar.tasks.detection.task import move_boxes
from instar.user_file import read_text, write_file

PARTS = ("train", "val")


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One picture of the set without its pixels: its name, its size (height, width), its part and labels.

    `origin` is where the labels are from: annotated, or agreed on by referees. An original has no `case`.
    """

    name: str
    size: tuple[int, int]
    part: str
    objects: Sequence[SceneObject]
    origin: str
    scene: str
    pasted: Box | None = None
    case: Mapping[str, Any] | None = None


def export_coco(cases: Iterable[Replay], folder: Path, **options: Any) -> int:
    """A COCO data set: `images/`, and `train.json` and `val.json` (`annotations.json` where nothing is kept
    to validate with); how many pictures were written. `options` are those of `_collect`.

    Each image has an entry `instar` with where it came from.
    """
    pictures, numbers, ids = _collect(cases, folder, lambda picture: f"images/{picture.name}", **options)
    categories = [{"id": ids[name], "name": name} for name in numbers]
    for part in sorted({one.part for one in pictures}):
        images: list[dict[str, Any]] = []
        annotations: list[dict[str, Any]] = []
        for number, one in enumerate((one for one in pictures if one.part == part), start=1):
            height, width = one.size
            about = {"id": number, "file_name": one.name, "width": width, "height": height}
            images.append(about | {"instar": one.case or {"scene": one.scene}})
            for thing in one.objects:
                x1, y1, x2, y2 = thing.box
                annotations.append(
                    {
                        "id": len(annotations) + 1,
                        "image_id": number,
                        "category_id": ids[_name_in(numbers, thing.label)],
                        "bbox": [round(v, 2) for v in (x1, y1, x2 - x1, y2 - y1)],
                        "area": round((x2 - x1) * (y2 - y1), 2),
                        "iscrowd": int(thing.crowd),
                        "instar": {"origin": "pasted" if thing.box == one.pasted else one.origin},
                    }
                )
        about_set = {"description": f"follow-ups of {options['run']}, made by instar"}
        document = {"info": about_set, "images": images, "annotations": annotations, "categories": categories}
        whole = len({one.part for one in pictures}) == 1
        name = "annotations" if whole else part
        write_file(folder / f"{name}.json", json.dumps(document, indent=1))
    return len(pictures)


def export_yolo(cases: Iterable[Replay], folder: Path, **options: Any) -> int:
    """A YOLO data set: `images/train`, `images/val`, `labels/...`, `classes.txt`, `data.yaml`, and
    `lineage.json` with where each came from; how many pictures were written. `options` as for COCO.

    Crowds have no place in it, so pictures with any are counted in the card.
    """
    pictures, numbers, _ = _collect(cases, folder, lambda one: f"images/{one.part}/{one.name}", **options)
    for one in pictures:
        height, width = one.size
        lines = []
        for thing in (thing for thing in one.objects if not thing.crowd):
            x1, y1, x2, y2 = thing.box
            number = numbers[_name_in(numbers, thing.label)]
            shares = ((x1 + x2) / 2 / width, (y1 + y2) / 2 / height, (x2 - x1) / width, (y2 - y1) / height)
            lines.append(f"{number} " + " ".join(f"{share:.6f}" for share in shares) + "\n")
        write_file(folder / "labels" / one.part / f"{PurePosixPath(one.name).stem}.txt", "".join(lines))
    write_file(folder / "classes.txt", "".join(f"{name}\n" for name in numbers))
    val = "val" if any(one.part == "val" for one in pictures) else "train"
    names = json.dumps(list(numbers))
    write_file(folder / "data.yaml", f"train: images/train\nval: images/{val}\nnames: {names}\n")
    lineage = {one.name: one.case or {"scene": one.scene} for one in pictures}
    write_file(folder / "lineage.json", json.dumps(lineage, indent=1))
    return len(pictures)


def export_fiftyone(cases: Iterable[Replay], folder: Path, **options: Any) -> int:
    """A FiftyOneImageDetectionDataset: `data/`, `labels.json`, and `lineage.json` with where each came from;
    how many pictures were written. `options` as for COCO. Attributes of a box say its origin and its part.
    """
    pictures, numbers, _ = _collect(cases, folder, lambda one: f"data/{one.name}", **options)
    labels: dict[str, list[dict[str, Any]]] = {}
    for one in pictures:
        height, width = one.size
        entries = labels.setdefault(PurePosixPath(one.name).stem, [])
        for thing in (thing for thing in one.objects if not thing.crowd):
            x1, y1, x2, y2 = thing.box
            shares = (x1 / width, y1 / height, (x2 - x1) / width, (y2 - y1) / height)
            about = {"origin": "pasted" if thing.box == one.pasted else one.origin, "part": one.part}
            label = {"label": _name_in(numbers, thing.label), "attributes": about}
            entries.append(label | {"bounding_box": [round(share, 6) for share in shares]})
    document = {"classes": list(numbers), "labels": labels}
    write_file(folder / "labels.json", json.dumps(document, indent=1))
    lineage = {one.name: one.case or {"scene": one.scene} for one in pictures}
    write_file(folder / "lineage.json", json.dumps(lineage, indent=1))
    return len(pictures)


def _read_classes(given: str) -> Mapping[str, int]:
    """Class names with their ids: a file with one on each line, COCO's categories or a `data.yaml`, or names
    with commas.
    """
    path = Path(given)
    if path.suffix == ".json":
        try:
            listed = json.loads(path.read_text(encoding="utf-8"))["categories"]
            ids = {str(one["name"]): int(one["id"]) for one in listed}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadInput(f"--classes {given} has no categories as COCO writes them ({error})") from error
    elif path.suffix in (".yaml", ".yml"):
        ids = {name: number for number, name in enumerate(names_in_yaml(path), 1)}
    else:
        is_file = path.is_file() or ("," not in given and (path.suffix or len(path.parts) > 1))
        text = read_text(path, "list of classes") if is_file else given.replace(",", "\n")
        names = [line.strip() for line in text.splitlines() if line.strip()]
        ids = {name: number for number, name in enumerate(names, 1)}
    if not ids or len(ids) != len(set(map(canonical_class, ids))):
        raise BadInput(f"--classes {given} names no class, or one of them twice")
    return ids


def label_follow_up(case: Replay, objects: Sequence[SceneObject], with_pasted: bool) -> list[SceneObject]:
    """What is in the follow-up of a case, where it is there: the `objects` of its source, the pasted one
    behind them where it is asked for. Masks are left out.
    """
    change, frame = case.record.change, case.follow_ups[0].frame
    boxes = np.array([one.box for one in objects], np.float32).reshape(-1, 4)
    left = [replace(one, mask=None) for one in objects]
    if isinstance(change, Removal):
        left = [one for one, is_gone in zip(left, is_removed(boxes, change.box).tolist()) if not is_gone]
    if with_pasted and isinstance(change, (Insertion, Copy)):
        left.append(SceneObject(change.label, change.box))
    return left if frame is None else list(_in_follow_up(left, frame))


def _in_follow_up(boxes: Sequence[SceneObject], frame: Frame) -> Iterator[SceneObject]:
    """The boxes as the follow-up shows them; what is wholly outside of it is left out."""
    moved = move_boxes(np.array([one.box for one in boxes], np.float32).reshape(-1, 4), frame)
    height, width = frame.size
    for one, (x1, y1, x2, y2) in zip(boxes, moved.clip(0, [width, height, width, height]).tolist()):
        if x2 > x1 and y2 > y1:
            yield replace(one, box=(x1, y1, x2, y2))


def _collect(
    cases: Iterable[Replay],
    folder: Path,
    place: Callable[[Picture], str],
    *,
    run: str,
    system: str,
    referees: Sequence[Referee] = (),
    validation: frozenset[str] = frozenset(),
    classes: str | None = None,
    with_pasted: bool = False,
    originals: bool = False,
) -> tuple[list[Picture], Mapping[str, int], Mapping[str, int]]:
    """Write the pictures; what is in them, the number from 0 of each class, and its id.

    Scenes of `validation` are kept to validate with. Without `classes` (see `_read_classes`) there are those
    that occur, in the order of the alphabet; objects of others are left out. With `originals` the unchanged
    scenes come too.
    """
    known, pictures, shown = KnownObjects(referees), [], set()
    chosen = None if classes is None else _read_classes(classes)

    def add(picture: Picture, pixels: Image) -> None:
        write_file(folder / place(picture), encode_png(pixels))
        pictures.append(picture)

    for case in cases:
        assert case.source is not None
        scene, record = case.source.scene, case.record
        things, stem = (
            known.of(scene),
            PurePosixPath(record.scene).with_suffix("").as_posix().replace("/", "-"),
        )
        own = Picture(
            f"{stem}-{record.case}.png",
            case.follow_ups[0].input.shape[:2],
            PARTS[record.scene in validation],
            _of_classes(label_follow_up(case, things, with_pasted), chosen),
            "agreed" if scene.objects is None else "annotated",
            record.scene,
            record.change.box if with_pasted and isinstance(record.change, (Insertion, Copy)) else None,
            _lineage(record, run, system),
        )
        add(own, case.follow_ups[0].input)
        if originals and record.scene not in shown:
            shown.add(record.scene)
            pixels, objects = case.source.input, _of_classes(things, chosen)
            before = replace(own, name=f"{stem}.png", size=pixels.shape[:2], objects=objects, pasted=None)
            add(replace(before, case=None), pixels)
    names = sorted({one.label for picture in pictures for one in picture.objects})
    if pictures and chosen is not None and not names:
        raise BadInput(f"--classes {classes}: no picture has an object of these classes")
    ids = {name: number for number, name in enumerate(names, 1)} if chosen is None else chosen
    numbers = {name: number for number, name in enumerate(ids)}
    if pictures:
        write_file(folder / "README.md", _card(pictures, run, system, ids))
    return pictures, numbers, ids


def _of_classes(objects: Iterable[SceneObject], classes: Mapping[str, int] | None) -> list[SceneObject]:
    known = None if classes is None else set(map(canonical_class, classes))
    return [one for one in objects if known is None or canonical_class(one.label) in known]


def _name_in(numbers: Mapping[str, int], label: str) -> str:
    """What the list of classes calls it."""
    own = canonical_class(label)
    return label if label in numbers else next(name for name in numbers if canonical_class(name) == own)


def _card(pictures: Sequence[Picture], run: str, system: str, ids: Mapping[str, int]) -> str:
    """What the set is, for whoever finds it."""
    counts = Counter(
        (one.part, "original" if one.case is None else str(one.case["status"])) for one in pictures
    )
    objects = Counter(thing.label for one in pictures for thing in one.objects)
    relations = Counter(str(one.case["relation"]) for one in pictures if one.case is not None)
    lines = [
        f"# Pictures of {PurePosixPath(Path(run).as_posix()).name}",
        "",
        f"Made by `instar export` from a run of {system}. Labels are "
        f"{' or '.join(sorted({one.origin for one in pictures}))}, never what {system} found. "
        f"{sum(any(thing.crowd for thing in one.objects) for one in pictures)} pictures have crowds, or "
        "things that referees do not agree on.",
        "",
        "| part | what | pictures |",
        "|---|---|---|",
        *(f"| {part} | {what} | {number} |" for (part, what), number in sorted(counts.items())),
        "",
        f"Scenes: {len({one.scene for one in pictures})}; those of one part are in no other. Relations: "
        + ", ".join(f"{name} {number}" for name, number in sorted(relations.items()))
        + ".",
        "",
        "| class | id | objects |",
        "|---|---|---|",
        *(f"| {name} | {number} | {objects[name]} |" for name, number in ids.items()),
        "",
        "The pictures are under the licence of the pictures that they were made from.",
    ]
    return "\n".join(lines) + "\n"


def _lineage(record: Record, run: str, system: str) -> dict[str, Any]:
    return {
        "case": record.case,
        "run": run,
        "system": system,
        "scene": record.scene,
        "relation": record.relation,
        "status": record.verdict.status.value,
        "kind": record.verdict.kind,
        "findings": [
            {"kind": f.kind, "subject": f.subject, "known": f.known} for f in record.verdict.findings
        ],
        "change": None if record.change is None else record.change.to_json(),
    }
