"""Known words after a change, and how accurate and how stable answers are about them.

A word that nobody can read is neither to be found nor held against a locator: boxes that lie mostly on one
are left out. What is left is counted twice. By the rules of ICDAR 2015 boxes and words are matched one to
one, above half of the union. By words a box is right that lies on words, and a word is found that boxes
cover: a line is right about the words in it. The shares are those of ICDAR 2013 (Wolf and Jolion).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.change import Change
from instar.core.frame import Matrix, transform
from instar.core.scene import Observation
from instar.core.verdict import Verdict
from instar.imaging.words import Word
from instar.tasks.text.changes import Masks, Watermark
from instar.tasks.text.measures import EPS, match
from instar.tasks.text.polygons import Corners, are_inside, quad_areas
from instar.tasks.text.truth import Truth, truth_of

MOSTLY = 0.5
HIDDEN = 0.5  # of a word is masked: then nobody can be expected to find it
WHOLE = 0.8  # of a word must be covered by boxes
ON_WORDS = 0.4  # of a box must lie on words


@dataclass(frozen=True, slots=True)
class Hits:
    """Boxes that are right, boxes that were given, words that there are and words that are found; they add
    up over pictures. Matched one to one, as many words are found as boxes are right.

    Where there is nothing to be right about, the scores are NaN.

    >>> both = Hits(3, 4, 6, 3) + Hits(0, 1, 0, 0)
    >>> both.precision, both.recall, round(both.f_score, 4)
    (0.6, 0.5, 0.5455)
    """

    right: int
    given: int
    words: int
    found: int

    def __add__(self, other: Hits) -> Hits:
        return Hits(
            self.right + other.right,
            self.given + other.given,
            self.words + other.words,
            self.found + other.found,
        )

    @property
    def precision(self) -> float:
        return self.right / self.given if self.given else math.nan

    @property
    def recall(self) -> float:
        return self.found / self.words if self.words else math.nan

    @property
    def f_score(self) -> float:
        if not self.given + self.words:
            return math.nan
        if not self.right * self.found:
            return 0.0
        return 2 * self.precision * self.recall / (self.precision + self.recall)


def count_hits(found: Corners, truth: Truth, *, eps: float = EPS) -> Hits:
    """What is right among the found quads `float (n, 4, 2)`, one to one (ICDAR 2015)."""
    given, words = _without_unread(found, truth)
    common = words.common(given)
    union = words.areas[:, None] + quad_areas(given)[None] - common
    right = len(match(common / np.maximum(union, 1e-9), eps))
    return Hits(right, len(given), len(words), right)


def count_words(found: Corners, truth: Truth) -> Hits:
    """What is right where a box may hold several words, and a word may lie in several boxes."""
    given, words = _without_unread(found, truth)
    # A line may hold a word that nobody can read; that part of it is on words all the same.
    right = truth.common(given).sum(axis=0) >= ON_WORDS * quad_areas(given)
    whole = words.covered(given[right]) >= WHOLE
    return Hits(int(right.sum()), len(given), len(words), int(whole.sum()))


def _without_unread(found: Corners, truth: Truth) -> tuple[Corners, Truth]:
    """The quads that are not mostly on words that nobody can read, and the other words."""
    unread = truth.only(truth.ignored).common(found).sum(axis=0)
    return found[unread <= MOSTLY * quad_areas(found)], truth.only(~truth.ignored)


def measure_accuracy(seen: Sequence[Observation]) -> dict[str, Any]:
    """Precision, recall and F-score over the pictures whose words are known; empty where none are.

    By words, so that a locator of lines can be compared with one of words.
    """
    known = [(one.answer, one.scene.knowledge.get("words")) for one in seen]
    hits = [count_words(answer.quads, truth_of(words)) for answer, words in known if words is not None]
    total = sum(hits, Hits(0, 0, 0, 0))
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
    hidden = truth_of(words).covered(masks) >= HIDDEN
    return [replace(word, text="", ignored=True) if gone else word for word, gone in zip(words, hidden)]


def move_words(words: Sequence[Word], matrix: Matrix) -> list[Word]:
    """The words where a homography takes them."""
    return [replace(word, outline=transform(matrix, word.outline).astype(np.float32)) for word in words]


def with_words(
    verdict: Verdict, before: Observation, after: Observation, change: Change | None = None
) -> Verdict:
    """The verdict with what the answers say about known words in its evidence, where there are any.

    - `accuracy` and `word_accuracy` are the `Hits` of the follow-up, one to one and by words;
    - `word_stability` is how many words are located before and after, of those that are before or after; of
      words that are masked, 1 where none is located any more; of a watermark, 1 where it is found. It is left
      out where no word is located.

    All is in the source's frame. Words that the follow-up does not show are ignored.
    """
    known = after.scene.knowledge.get("words")
    if known is None:
        return verdict
    truth = _shown(truth_of(words_after(known, change)), after)
    quads = after.answer.quads[after.answer.shown]
    counted = {"accuracy": count_hits(quads, truth), "word_accuracy": count_words(quads, truth)}
    evidence: dict[str, Any] = {
        name: [hits.right, hits.given, hits.words, hits.found] for name, hits in counted.items()
    }
    stability = _word_stability(_shown(truth_of(known), after), before, after, change)
    if isinstance(change, Watermark):
        stability = verdict.evidence["stability"]
    if stability is not None:
        evidence["word_stability"] = stability
    return verdict.with_evidence(**evidence)


def _word_stability(
    truth: Truth, before: Observation, after: Observation, change: Change | None
) -> float | None:
    was, now = (truth.located(one.answer.quads) & ~truth.ignored for one in (before, after))
    if isinstance(change, Masks):
        masked = was & (truth.covered(change.corners) >= HIDDEN)
        return float(not (masked & now).any()) if masked.any() else None
    either = int((was | now).sum())
    return int((was & now).sum()) / either if either else None


def _shown(truth: Truth, follow_up: Observation) -> Truth:
    """The words, with those ignored that the follow-up does not show."""
    frame = follow_up.frame
    if frame is None:
        return truth
    ignored = truth.ignored.copy()
    ignored[truth.owner[~are_inside(frame.to_follow_up(truth.strips), frame.size)]] = True
    return replace(truth, ignored=ignored)
