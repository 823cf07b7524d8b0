"""Known words after a change, and how accurate an answer is, by the rules of ICDAR 2015.

A word that nobody can read is neither to be found nor held against a locator: boxes that lie mostly on one
are left out. What is left is matched one to one, above half of the union.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.change import Change
from instar.core.frame import Matrix, transform
from instar.core.scene import Observation
from instar.core.verdict import Verdict
from instar.imaging.words import Word
from instar.tasks.text.changes import Masks, Watermark
from instar.tasks.text.measures import EPS, match
from instar.tasks.text.polygons import Corners, are_inside, quad_areas, quad_intersections, quad_iou

__all__ = [
    "Hits",
    "Truth",
    "count_hits",
    "hide_words",
    "measure_accuracy",
    "move_words",
    "truth_of",
    "with_accuracy",
    "words_after",
]

MOSTLY = 0.5
HIDDEN = 0.5  # of a word is masked: then nobody can be expected to find it


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """The words of a picture: `quads` is `float32 (n, 4, 2)`, `ignored` is `bool (n,)`."""

    quads: npt.NDArray[np.float32]
    ignored: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Hits:
    """Boxes that are right, boxes that were given, and words that there are; they add up over pictures.

    Where there is nothing to be right about, the scores are NaN.

    >>> both = Hits(3, 4, 6) + Hits(0, 1, 0)
    >>> both.precision, both.recall, round(both.f_score, 4)
    (0.6, 0.5, 0.5455)
    """

    right: int
    given: int
    words: int

    def __add__(self, other: Hits) -> Hits:
        return Hits(self.right + other.right, self.given + other.given, self.words + other.words)

    @property
    def precision(self) -> float:
        return self.right / self.given if self.given else math.nan

    @property
    def recall(self) -> float:
        return self.right / self.words if self.words else math.nan

    @property
    def f_score(self) -> float:
        return 2 * self.right / (self.given + self.words) if self.given + self.words else math.nan


def truth_of(words: Sequence[Word]) -> Truth:
    """Outlines of other than four corners become the smallest rectangle around them: answers are quads."""
    outlines = [word.outline for word in words]
    quads = [one if len(one) == 4 else cv2.boxPoints(cv2.minAreaRect(one)) for one in outlines]
    ignored = [word.ignored for word in words]
    return Truth(np.array(quads, np.float32).reshape(-1, 4, 2), np.array(ignored, np.bool_))


def count_hits(found: Corners, truth: Truth, *, eps: float = EPS) -> Hits:
    """What is right among the found quads `float (n, 4, 2)`."""
    unread, words = truth.quads[truth.ignored], truth.quads[~truth.ignored]
    on_unread = quad_intersections(found, unread) > MOSTLY * quad_areas(found)[:, None]
    given = found[~on_unread.any(axis=1)]
    return Hits(len(match(quad_iou(given, words), eps)), len(given), len(words))


def measure_accuracy(seen: Sequence[Observation]) -> dict[str, Any]:
    """Precision, recall and F-score over the pictures whose words are known; empty where none are."""
    known = [(one.answer, one.scene.knowledge.get("words")) for one in seen]
    hits = [count_hits(answer.quads, truth_of(words)) for answer, words in known if words is not None]
    total = sum(hits, Hits(0, 0, 0))
    if not total.words:
        return {}
    scores = {
        "precision": total.precision if total.given else 0.0,
        "recall": total.recall,
        "F": total.f_score,
    }
    return {name: round(score, 3) for name, score in scores.items()} | {
        "pictures": len(hits),
        "words": total.words,
    }


def words_after(words: Sequence[Word], change: Change | None) -> list[Word]:
    """The words after a change, in the source's frame: one more, or some that are masked."""
    if isinstance(change, Watermark):
        return [*words, Word(change.quad()[0], change.text)]
    return hide_words(words, change.corners) if isinstance(change, Masks) else list(words)


def hide_words(words: Sequence[Word], masks: npt.NDArray[np.float32]) -> list[Word]:
    """The words, with those that are mostly behind masks `float32 (n, 4, 2)` ignored."""
    quads = truth_of(words).quads
    hidden = quad_intersections(quads, masks).sum(axis=1) >= HIDDEN * quad_areas(quads)
    return [replace(word, text="", ignored=True) if gone else word for word, gone in zip(words, hidden)]


def move_words(words: Sequence[Word], matrix: Matrix) -> list[Word]:
    """The words where a homography takes them."""
    return [replace(word, outline=transform(matrix, word.outline).astype(np.float32)) for word in words]


def with_accuracy(verdict: Verdict, follow_up: Observation, change: Change | None = None) -> Verdict:
    """The verdict with [right, given, words] of the follow-up in its evidence, where the words are known.

    All is in the source's frame. Words that the follow-up does not show are ignored.
    """
    known = follow_up.scene.knowledge.get("words")
    if known is None:
        return verdict
    truth = truth_of(words_after(known, change))
    frame = follow_up.frame
    if frame is not None:
        outside = ~are_inside(frame.to_follow_up(truth.quads), frame.size)
        truth = replace(truth, ignored=truth.ignored | outside)
    hits = count_hits(follow_up.answer.quads[follow_up.answer.shown], truth)
    return verdict.with_evidence(accuracy=[hits.right, hits.given, hits.words])
