"""Known words as quads, so that boxes of words and boxes of lines can both be held against them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from instar.imaging.words import Word
from instar.tasks.text.polygons import Corners, quad_areas, quad_intersections

Floats = npt.NDArray[np.float64]
ON_TEXT = 0.2  # of a quad must lie on words for it to be about them
LOCATED = 0.5  # of a word must be covered
IN_BOX = 0.5  # of a word lies in a box, or of a box in a word: then the box is about that word


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """The words of a picture: `ignored` is `bool (n,)`, and word i is made up of those `strips`
    `float32 (m, 4, 2)` whose `owner` `int (m,)` is i: one for a straight word, several for a curved one.
    """

    strips: npt.NDArray[np.float32]
    ignored: npt.NDArray[np.bool_]
    owner: npt.NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.ignored)

    @property
    def areas(self) -> Floats:
        """`float64 (n,)`, in square pixels."""
        return self._of_words(quad_areas(self.strips))

    def common(self, quads: Corners) -> Floats:
        """`float64 (n, len(quads))`: the area that each word shares with each quad."""
        return self._of_words(quad_intersections(self.strips, quads))

    def on_text(self, quads: Corners) -> npt.NDArray[np.bool_]:
        """`bool (len(quads),)`: which quads are about words; one around half the picture is not."""
        return np.asarray(self.common(quads).sum(axis=0) >= ON_TEXT * quad_areas(quads))

    def located(self, quads: Corners) -> npt.NDArray[np.bool_]:
        """`bool (n,)`: which words the quads tell apart from what is around them."""
        return np.asarray(self.covered(quads[self.on_text(quads)]) >= LOCATED)

    def covered(self, quads: Corners) -> Floats:
        """`float64 (n,)`: how much of each word the quads cover together, from 0 to 1."""
        return np.asarray(np.minimum(self.common(quads).sum(axis=1) / np.maximum(self.areas, 1e-9), 1.0))

    def only(self, which: npt.NDArray[np.bool_]) -> Truth:
        """The words `bool (n,)` alone."""
        kept = which[self.owner]
        return Truth(self.strips[kept], self.ignored[which], (np.cumsum(which) - 1)[self.owner[kept]])

    def _of_words(self, of_strips: Floats) -> Floats:
        total = np.zeros((len(self), *of_strips.shape[1:]))
        np.add.at(total, self.owner, of_strips)
        return total


def truth_of(words: Sequence[Word]) -> Truth:
    """The words as strips."""
    strips = [_strips(word.outline) for word in words]
    return Truth(
        np.concatenate([np.zeros((0, 4, 2), np.float32), *strips]).astype(np.float32),
        np.array([word.ignored for word in words], np.bool_),
        np.repeat(np.arange(len(words)), [len(one) for one in strips]),
    )


def quad_of(word: Word) -> npt.NDArray[np.float32]:
    """`float32 (4, 2)`: the outline, or the smallest rectangle around one of other than four corners."""
    outline = word.outline
    return outline if len(outline) == 4 else np.asarray(cv2.boxPoints(cv2.minAreaRect(outline)), np.float32)


def _strips(outline: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """An outline along the top of a word and back along its foot, cut from top to foot at every corner."""
    corners = len(outline)
    if corners % 2 or corners < 4:
        return np.asarray(cv2.boxPoints(cv2.minAreaRect(outline)), np.float32)[None]
    foot = outline[::-1]
    top = range(corners // 2 - 1)
    return np.array([[outline[i], outline[i + 1], foot[i + 1], foot[i]] for i in top], np.float32)
