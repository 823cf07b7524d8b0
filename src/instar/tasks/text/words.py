"""Known words after a change, and how an answer does against them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from instar.core.change import Change
from instar.core.frame import Matrix, transform
from instar.core.scene import Observation
from instar.core.verdict import Verdict
from instar.imaging.words import Word
from instar.tasks.text.accuracy import count_hits, truth_of
from instar.tasks.text.changes import Masks, Watermark
from instar.tasks.text.polygons import are_inside, quad_areas, quad_intersections

__all__ = ["hide_words", "move_words", "with_accuracy", "words_after"]

MOSTLY = 0.5  # of a word is masked: then nobody can be expected to find it


def words_after(words: Sequence[Word], change: Change | None) -> list[Word]:
    """The words after a change, in the source's frame: one more, or some that are masked."""
    if isinstance(change, Watermark):
        return [*words, Word(change.quad()[0], change.text)]
    return hide_words(words, change.corners) if isinstance(change, Masks) else list(words)


def hide_words(words: Sequence[Word], masks: npt.NDArray[np.float32]) -> list[Word]:
    """The words, with those that are mostly behind masks `float32 (n, 4, 2)` ignored."""
    quads = truth_of(words).quads
    hidden = quad_intersections(quads, masks).sum(axis=1) >= MOSTLY * quad_areas(quads)
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
