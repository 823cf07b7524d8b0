"""What a detector answers: boxes, labels and scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.answer_values import (
    numbers,
    require_few,
    require_float32,
    require_in_unit,
    short,
)
from instar.core.scene import Image
from instar.tasks.detection.foreign_answers import find_parts, name_labels

SMALLEST = 16  # pixels of a side; in smaller pictures a box may well be within one pixel
USUAL_CONFIDENCE = 0.5
"""For systems that answer with plain lists and say nothing about it."""


@dataclass(frozen=True, slots=True, eq=False)
class Detections:
    """The objects found in one picture, weak ones included.

    - `boxes`: `float32 (n, 4)`, x1, y1, x2, y2 in pixels, right and bottom exclusive;
    - `labels`: n strings;
    - `scores`: `float32 (n,)` in [0, 1];
    - `confidence`: the score from which on the system counts an object as found. It is a setting of
      the system, carried here because relations see only answers;
    - `aside`: `bool (n,)`, what another frame does not show, so that nobody is blamed for it; None: nothing.

    >>> found = Detections(np.float32([[0, 0, 9, 5], [2, 2, 4, 4]]), ("dog", "cat"), np.float32([0.9, 0.1]))
    >>> found.confident().labels
    ('dog',)
    """

    boxes: npt.NDArray[np.float32]
    labels: tuple[str, ...]
    scores: npt.NDArray[np.float32]
    confidence: float = USUAL_CONFIDENCE
    aside: npt.NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        require_float32("boxes", self.boxes)
        require_float32("scores", self.scores)
        if self.boxes.ndim != 2 or self.boxes.shape[1] != 4:
            raise ValueError(f"boxes has shape {self.boxes.shape}; it must be (n, 4)")
        n = len(self.boxes)
        if self.scores.shape != (n,):
            raise ValueError(f"scores has shape {self.scores.shape}; with {n} boxes it must be ({n},)")
        if not isinstance(self.labels, tuple) or not all(isinstance(label, str) for label in self.labels):
            raise TypeError(f"labels is {short(self.labels)}; it must be a tuple of str")
        if len(self.labels) != n:
            raise ValueError(f"there are {len(self.labels)} labels for {n} boxes")
        if not (isinstance(self.confidence, (int, float)) and 0 <= self.confidence <= 1):
            raise ValueError(f"confidence is {self.confidence!r}; it must be a number between 0 and 1")
        if n:
            _require_good_values(self.boxes, self.scores)

    def __len__(self) -> int:
        return len(self.labels)

    def select(self, which: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> Detections:
        """Those at the given places: a mask `bool (n,)`, or indices in the order wanted."""
        indices = np.flatnonzero(which) if which.dtype == np.bool_ else which
        labels = tuple([self.labels[i] for i in indices.tolist()])
        return Detections(self.boxes[indices], labels, self.scores[indices], self.confidence)

    @property
    def shown(self) -> npt.NDArray[np.bool_]:
        """`bool (n,)`: what is not set aside."""
        return np.ones(len(self), np.bool_) if self.aside is None else ~self.aside

    def confident(self) -> Detections:
        """Those that count as found."""
        return self.select(self.scores >= np.float32(self.confidence))


def read(image: Image, answer: Any) -> Detections:
    """What a system said about a picture, as detections that lie within it.

    Besides `Detections`, a mapping with `boxes`, `labels`, `scores` and perhaps `confidence`, or what the
    usual libraries answer with (`foreign_answers`). Whole numbers become labels by the `names` in the
    answer, and as they are written where there are none. Boxes that overshoot the picture are clipped.
    TypeError or ValueError says what is wrong with an answer that cannot be used, such as a box wholly
    outside.
    """
    found = answer if isinstance(answer, Detections) else _from_plain(answer)
    require_few("boxes", len(found))
    if not len(found):
        return found
    height, width = image.shape[:2]
    boxes = found.boxes
    low, high = boxes.min(axis=0), boxes.max(axis=0)
    are_shares = low.min() >= 0 and high.max() <= 1 and (boxes != np.rint(boxes)).any()
    if are_shares and min(height, width) >= SMALLEST:
        first = ", ".join(map(str, boxes[0]))
        raise ValueError(f"all boxes are within 1 pixel, as [{first}]: give pixels, not shares")
    if low[0] >= 0 and low[1] >= 0 and high[2] <= width and high[3] <= height:
        return found
    clipped = np.clip(boxes, 0, np.array([width, height, width, height], np.float32))
    outside = (clipped[:, 2] <= clipped[:, 0]) | (clipped[:, 3] <= clipped[:, 1])
    if outside.any():
        i = int(outside.argmax())
        raise ValueError(f"box {i} {boxes[i].tolist()} lies outside the picture of {width}x{height}")
    return Detections(clipped, found.labels, found.scores, found.confidence)


def _from_plain(answer: Any) -> Detections:
    parts = find_parts(answer)
    box_array = numbers("boxes", parts["boxes"])
    if box_array.size == 0:
        box_array = box_array.reshape(0, 4)  # a plain [] has lost its second dimension
    confidence = parts.get("confidence", USUAL_CONFIDENCE)
    try:
        confidence = float(confidence)
    except (TypeError, ValueError):
        raise TypeError(f"confidence is {short(confidence)}; it must be a number") from None
    scores = numbers("scores", parts["scores"])
    if scores.ndim == 2 and scores.shape[1] > 0:  # of every class, as MAITE allows
        scores = scores.max(axis=1)
    return Detections(box_array, name_labels(parts["labels"], parts.get("names")), scores, confidence)


def _require_good_values(boxes: npt.NDArray[np.float32], scores: npt.NDArray[np.float32]) -> None:
    # Written so that NaN fails each comparison: one pass tells good from bad, and only then which.
    proper = (boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1])
    if not (proper.all() and np.isfinite(boxes).all()):
        i = int((~proper | ~np.isfinite(boxes).all(axis=1)).argmax())
        wrong = "is inverted or empty" if np.isfinite(boxes[i]).all() else "is not finite"
        raise ValueError(f"box {i} {boxes[i].tolist()} {wrong}")
    require_in_unit("score", scores)
