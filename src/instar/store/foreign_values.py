"""Answers in the types of other libraries, as plain values: what can be kept, sent and read.

Nothing is imported for it. An array of any library knows how to become a NumPy one; an object of a library
becomes a mapping of those of its attributes that answers are made of. What they mean is known to the task.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any

import numpy as np

CARRIED = (
    "boxes", "xyxy", "bboxes", "pred_boxes", "tensor",
    "labels", "cls", "class_id", "pred_classes", "names",
    "scores", "conf", "confidence",
    "pred_instances", "instances", "image_size", "data",
    "probs", "logits", "txts",
)  # fmt: skip
"""The attributes in which detectors, classifiers and readers of the usual libraries carry their answers."""
LOADED = ("xyxy", "txts")
"""By which those are known whose dataclasses have more in them than the answer: supervision, RapidOCR."""
MOST_DEEP = 24


def to_plain(value: Any, *, deep: int = MOST_DEEP, foreign: bool = False) -> Any:
    """The value in numbers, texts, lists, mappings, NumPy arrays and dataclasses.

    Plain values come back as they are. So does what nothing is known about: whoever keeps answers
    refuses it by its type. Inside a `foreign` object there may be arrays of texts and mappings by number.
    """
    if value is None or isinstance(value, (str, bytes, bool, int, float, complex, np.generic)) or not deep:
        return value.value if isinstance(value, enum.Enum) else value
    if isinstance(value, np.ndarray):
        return value.tolist() if foreign and value.dtype.kind in "UO" else value
    if type(value).__module__.partition(".")[0] == "instar":
        return value
    if isinstance(value, (list, tuple)):
        parts = [to_plain(item, deep=deep - 1, foreign=foreign) for item in value]
        if all(part is item for part, item in zip(parts, value)):
            return value
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(value, Mapping):
        return {
            str(key) if foreign else key: to_plain(item, deep=deep - 1, foreign=foreign or key == "names")
            for key, item in value.items()
        }
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _from_dataclass(value, deep)
    array = _as_array(value)
    if array is not None:
        return array
    return _from_object(value, deep)


def is_one_answer(given: Any) -> bool:
    """Whether something is the answer to one picture, and no sequence of answers.

    Some libraries' answers have a length, that of the objects found.
    """
    if isinstance(given, (list, tuple, str, bytes, np.ndarray)) or _as_array(given, look_only=True):
        return False
    return isinstance(given, Mapping) or any(_has(given, name) for name in CARRIED)


def _as_array(value: Any, *, look_only: bool = False) -> Any:
    """A NumPy array out of a foreign one on whatever device; None where it is no array."""
    is_array = _has(value, "shape") and _has(value, "dtype")
    if not is_array or look_only:
        return is_array or None
    if _has(value, "detach"):  # torch: off its graph and its device; NumPy has no bfloat16
        value = value.detach().cpu()
        value = value.float() if "bfloat16" in str(value.dtype) else value
    elif _has(value, "numpy"):  # TensorFlow
        value = value.numpy()
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":  # such as the bfloat16 of JAX and TensorFlow
        array = array.astype(np.float32)
    return array


def _from_dataclass(value: Any, deep: int) -> Any:
    """The same where all its fields are plain; else a mapping of them."""
    fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    parts = {name: to_plain(item, deep=deep - 1, foreign=True) for name, item in fields.items()}
    if all(parts[name] is item for name, item in fields.items() if not isinstance(item, Mapping)):
        return _carried(parts) if any(_has(value, name) for name in LOADED) else value
    return _carried(parts)


def _carried(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Without what no answer needs, such as masks and the picture itself; all, where nothing is known."""
    kept = {name: part for name, part in parts.items() if name in CARRIED and part is not None}
    return kept or ({"boxes": []} if set(LOADED) & set(parts) else dict(parts))


def _from_object(value: Any, deep: int) -> Any:
    named = {name: getattr(value, name) for name in CARRIED if _has(value, name)}
    parts = {name: item for name, item in named.items() if item is not None and not callable(item)}
    if "xyxy" in parts:  # beside which ultralytics repeats it with everything else
        parts.pop("data", None)
    return {name: to_plain(item, deep=deep - 1, foreign=True) for name, item in parts.items()} or value


def _has(value: Any, name: str) -> bool:
    """Whether it has the attribute; some libraries raise what they like where they have none."""
    try:
        return hasattr(value, name)
    except Exception:
        return False
