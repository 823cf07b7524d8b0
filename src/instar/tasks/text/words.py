"""Known words carried along with a change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from instar.imaging.nulls import Conditioned
from instar.imaging.words import Word
from instar.tasks.text.accuracy import truth_of
from instar.tasks.text.changes import Masks, Watermark, carried_along
from instar.tasks.text.polygons import areas, intersections

__all__ = ["words_after"]

MOSTLY = 0.5  # of a word is masked: then nobody can be expected to find it


def words_after(words: Sequence[Word], change: Conditioned) -> tuple[Word, ...]:
    """The words of the follow-up: moved, one more with a watermark, some unreadable behind masks."""
    moved = [replace(word, outline=carried_along(word.outline, change)) for word in words]
    if isinstance(change, Watermark):
        moved.append(Word(carried_along(change.quad(), change)[0], change.text))
    if isinstance(change, Masks):
        quads = truth_of(moved).quads
        masks = carried_along(np.array(change.quads, np.float32).reshape(-1, 4, 2), change)
        hidden = intersections(quads, masks).sum(axis=1) >= MOSTLY * areas(quads)
        moved = [replace(word, text="", ignored=True) if gone else word for word, gone in zip(moved, hidden)]
    return tuple(moved)
