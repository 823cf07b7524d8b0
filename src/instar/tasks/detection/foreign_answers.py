"""Detections as the usual libraries and file formats write them, told apart by what they are made of.

By the time they are read they are plain values: a torchvision or MAITE target is a mapping with boxes, labels
and scores; ultralytics, supervision, Detectron2 and MMDetection are mappings of their attributes; Hugging
Face and COCO results are lists of one mapping for each object; a table has a row for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.answer_values import numbers, plain_list, short
from instar.tasks.detection.coco_names import COCO_IDS, COCO_NAMES

Parts = Mapping[str, Any]
"""Boxes (corners in pixels), labels and scores, and where they are given `confidence` and `names`."""

FORMS = (
    "a mapping with boxes, labels and scores, a list with box, label and score of each object, or a table "
    "x1, y1, x2, y2, score, class"
)
WITHIN = ("instances", "pred_instances", "objects", "detections", "predictions", "results")
"""Under which some libraries put the answer itself."""
SPELLINGS = {
    "boxes": ("boxes", "xyxy", "bboxes", "pred_boxes"),
    "labels": ("labels", "cls", "class_id", "pred_classes"),
    "scores": ("scores", "conf", "confidence"),
}
LABEL_KEYS = ("label", "class_name", "category_name", "name", "class", "category_id", "class_id")
SCORE_KEYS = ("score", "confidence", "conf")
CORNER_KEYS = (
    ("xmin", "ymin", "xmax", "ymax"), ("x1", "y1", "x2", "y2"), ("left", "top", "right", "bottom"),
)  # fmt: skip


def find_parts(answer: Any) -> Parts:
    """Boxes, labels and scores of an answer in any usual form; TypeError or ValueError says what is wrong."""
    if isinstance(answer, Mapping):
        return _of_mapping(answer)
    if isinstance(answer, tuple) and len(answer) == 3:
        return dict(zip(("boxes", "labels", "scores"), answer))
    if isinstance(answer, np.ndarray) and answer.ndim == 2 and answer.shape[1] == 6:
        return {"boxes": answer[:, :4], "labels": answer[:, 5], "scores": answer[:, 4]}
    if _is_table(answer):
        boxes, scores, labels = zip(*[(row[:4], row[4], row[5]) for row in answer])
        return {"boxes": boxes, "labels": labels, "scores": scores}
    if isinstance(answer, (list, tuple)) and all(isinstance(one, Mapping) for one in answer):
        return _of_objects(answer)
    known = [name for name in ("boxes", "labels", "scores") if hasattr(answer, name)]
    if len(known) == 3:
        return {name: getattr(answer, name) for name in known}
    raise TypeError(f"the answer is {short(answer)}; it must be Detections, {FORMS}")


def _is_table(answer: Any) -> bool:
    """Whether it is a list of rows of six values each."""
    if not isinstance(answer, (list, tuple)) or not answer:
        return False
    return all(
        isinstance(row, (list, tuple))
        and len(row) == 6
        and not any(isinstance(v, (list, tuple)) for v in row)
        for row in answer
    )


def name_labels(labels: Any, names: Any) -> tuple[str, ...]:
    """The label of each object: as it is written, or the name that its number has.

    >>> name_labels([0, 2, "dog"], {"0": "person", "2": "car"})
    ('person', 'car', 'dog')
    """
    known = _by_number(names)
    if isinstance(labels, np.ndarray) and labels.dtype.kind == "f" and (labels == np.rint(labels)).all():
        labels = labels.astype(np.int64)  # a column beside boxes and scores
    return tuple(_name(label, known) for label in plain_list("labels", labels, "str or int"))


def _of_mapping(answer: Parts) -> Parts:
    for key in WITHIN:
        if key in answer and "boxes" not in answer:
            inner = find_parts(answer[key])
            given = {name: answer[name] for name in ("names", "confidence") if name in answer}
            return {**inner, **given}
    boxes = answer.get("boxes")
    if isinstance(boxes, Mapping):  # ultralytics, with the names beside it
        return {**_of_mapping(boxes), "names": answer.get("names")}
    found = {
        part: next((answer[key] for key in spellings if answer.get(key) is not None), None)
        for part, spellings in SPELLINGS.items()
    }
    data = answer.get("data")
    if isinstance(data, Mapping) and data.get("class_name") is not None:  # supervision's names
        found["labels"] = data["class_name"]
    missing = [part for part, value in found.items() if value is None]
    if missing and "xyxy" in answer and not len(answer["xyxy"]):  # of which supervision says nothing
        found |= dict.fromkeys(missing, ())
    elif missing:
        raise ValueError(f"the answer has no {missing[0]!r}; it has {sorted(map(str, answer))}")
    if isinstance(found["boxes"], Mapping):  # Detectron2 has a class for boxes
        found["boxes"] = found["boxes"].get("tensor", found["boxes"])
    given = {"names": answer.get("names")}
    if "scores" in answer or "conf" in answer:  # else it is what supervision calls the scores
        given |= {"confidence": answer["confidence"]} if "confidence" in answer else {}
    return {**found, **given}


def _of_objects(objects: Sequence[Parts]) -> Parts:
    """One mapping an object. Whole pixels leave nothing of some tiny boxes, which are left out."""
    rows = [(_box(one), _first(one, LABEL_KEYS), _first(one, SCORE_KEYS)) for one in objects]
    solid = [row for row in rows if row[0][0] != row[0][2] and row[0][1] != row[0][3]]
    return {
        "boxes": [box for box, _, _ in solid],
        "labels": [label for _, label, _ in solid],
        "scores": [score for _, _, score in solid],
    }


def _box(one: Parts) -> npt.NDArray[np.float32]:
    """Corners: of `box`, which has them by name or in order, or of COCO's `bbox`, corner and sides, or of
    the object itself, by name.
    """
    box = one.get("box", one.get("xyxy", one.get("bbox")))
    named = one if box is None else box
    if isinstance(named, Mapping):
        keys = next((keys for keys in CORNER_KEYS if set(keys) <= set(named)), None)
        if keys is None:
            what = "an object has no 'box' or 'bbox'; it" if box is None else "a box"
            raise ValueError(f"{what} has {sorted(map(str, named))}; it needs xmin, ymin, xmax and ymax")
        return _four("box", [named[key] for key in keys])
    if "box" in one or "xyxy" in one:
        return _four("box", box)
    x, y, width, height = _four("bbox", box)
    return np.array([x, y, x + width, y + height], np.float32)


def _four(what: str, values: Any) -> npt.NDArray[np.float32]:
    array = numbers(what, values)
    if array.shape != (4,):
        raise ValueError(f"a {what} is {short(values)}; it must be four numbers")
    return array


def _first(one: Parts, keys: Sequence[str]) -> Any:
    for key in keys:
        if key in one:
            return one[key]
    raise ValueError(f"an object has no {keys[0]!r}; it has {sorted(map(str, one))}")


def _by_number(names: Any) -> Mapping[int, str]:
    """Names by number: a list, a mapping, "coco" (0 to 79) or "coco-ids" (1 to 90)."""
    if names is None:
        return {}
    if isinstance(names, str):
        if names not in ("coco", "coco-ids"):
            raise ValueError(f"names is {names!r}; it must be a list, a mapping, 'coco' or 'coco-ids'")
        return dict(zip(COCO_IDS if names == "coco-ids" else range(len(COCO_NAMES)), COCO_NAMES))
    if isinstance(names, Mapping):
        return {int(number): str(name) for number, name in names.items()}
    return dict(enumerate(map(str, plain_list("names", names, "str"))))


def _name(label: Any, known: Mapping[int, str]) -> str:
    if isinstance(label, str):
        return label
    if not isinstance(label, (int, np.integer)) or isinstance(label, bool):
        raise TypeError(f"a label is {short(label)}; it must be a str or an int")
    if known and int(label) not in known:
        raise ValueError(f"label {int(label)} has no name; there are {len(known)} names")
    return known.get(int(label), str(int(label)))
