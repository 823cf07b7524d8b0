"""What a text locator answers: a quad around each piece of text, perhaps with the text and a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.answer_values import (
    numbers,
    plain_list,
    require_few,
    require_float32,
    require_in_unit,
    short,
)
from instar.core.scene import Image
from instar.tasks.text.foreign_answers import find_parts
from instar.tasks.text.polygons import bounds, clockwise, quad_areas

READ = 0.6  # how sure one that reads must be of a text
LEAST_LETTERS = 2  # of a text; single strokes are read into anything


@dataclass(frozen=True, slots=True, eq=False)
class Quads:
    """The pieces of text found in one picture.

    - `quads`: `float32 (n, 4, 2)`, corners (x, y) in pixels, clockwise from the top left of the text;
    - `texts`: n strings, or None for a locator that does not read;
    - `scores`: `float32 (n,)` in [0, 1], or None for one that gives none;
    - `aside`: `bool (n,)`, what another frame does not show, so that nobody is blamed for it; None: nothing.

    >>> found = Quads(np.float32([[[0, 0], [9, 0], [9, 5], [0, 5]]]), texts=("EXIT",))
    >>> len(found), found.scores is None
    (1, True)
    """

    quads: npt.NDArray[np.float32]
    texts: tuple[str, ...] | None = None
    scores: npt.NDArray[np.float32] | None = None
    aside: npt.NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        require_float32("quads", self.quads)
        if self.quads.ndim != 3 or self.quads.shape[1:] != (4, 2):
            raise ValueError(f"quads has shape {self.quads.shape}; it must be (n, 4, 2): four corners each")
        n = len(self.quads)
        if self.texts is not None:
            if not isinstance(self.texts, tuple) or not all(isinstance(text, str) for text in self.texts):
                raise TypeError(f"texts is {short(self.texts)}; it must be a tuple of str")
            if len(self.texts) != n:
                raise ValueError(f"there are {len(self.texts)} texts for {n} quads")
        if self.scores is not None:
            require_float32("scores", self.scores)
            if self.scores.shape != (n,):
                raise ValueError(f"scores has shape {self.scores.shape}; with {n} quads it must be ({n},)")
        if n:
            _require_good_values(self.quads, self.scores)

    def __len__(self) -> int:
        return len(self.quads)

    @property
    def shown(self) -> npt.NDArray[np.bool_]:
        """`bool (n,)`: what is not set aside."""
        return np.ones(len(self), np.bool_) if self.aside is None else ~self.aside


def read(image: Image, answer: Any) -> Quads:
    """What a system said about a picture, as quads that run clockwise and show something of it.

    Besides `Quads`, a mapping with `quads` and perhaps `texts` and `scores`, the quads alone, as lists or
    anything that numpy can read, or what the usual libraries give (see `foreign_answers`). A quad may
    overshoot the picture, as locators leave some air around a text at its edge. TypeError or ValueError says
    what is wrong with an answer that cannot be used: quads of three corners, without area, wholly outside.
    """
    found = answer if isinstance(answer, Quads) else _from_plain(answer)
    require_few("quads", len(found))
    if not len(found):
        return found
    height, width = image.shape[:2]
    extent = bounds(found.quads)
    outside = (extent[:, :2] >= (width, height)).any(axis=1) | (extent[:, 2:] <= 0).any(axis=1)
    if outside.any():
        i = int(outside.argmax())
        raise ValueError(f"quad {i} {found.quads[i].tolist()} lies outside the picture of {width}x{height}")
    return Quads(np.asarray(clockwise(found.quads), np.float32), found.texts, found.scores)


def are_read(answer: Quads) -> npt.NDArray[np.bool_]:
    """`bool (n,)`: which quads hold text that was read with some certainty."""
    if answer.texts is None or answer.scores is None:
        return np.zeros(len(answer), np.bool_)
    letters = np.array([sum(map(str.isalnum, text)) for text in answer.texts], int)
    return np.asarray((letters >= LEAST_LETTERS) & (answer.scores >= READ))


def _from_plain(answer: Any) -> Quads:
    given = find_parts(answer)
    texts, scores = given.get("texts"), given.get("scores")
    return Quads(
        given["quads"],
        None if texts is None else tuple(plain_list("texts", texts, "str")),
        None if scores is None else numbers("scores", scores),
    )


def _require_good_values(quads: npt.NDArray[np.float32], scores: npt.NDArray[np.float32] | None) -> None:
    finite = np.isfinite(quads).all(axis=(1, 2))
    if not finite.all():
        i = int(finite.argmin())
        raise ValueError(f"quad {i} {quads[i].tolist()} is not finite")
    solid = quad_areas(quads) > 0
    if not solid.all():
        i = int(solid.argmin())
        raise ValueError(f"quad {i} {quads[i].tolist()} has no area")
    if scores is not None:
        require_in_unit("score", scores)
