"""Where a watermark goes: which word, how large, where nothing was found, and in ink that stands out."""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.change import Inapplicable
from instar.core.scene import Image, Mask, Observation
from instar.imaging.lettering import drawn_word
from instar.tasks.text.answers import Quads
from instar.tasks.text.changes import Watermark

WHITE, BLACK = 255, 0
SMALLER = (1.0, 0.8, 0.65, 0.5)

Sums: TypeAlias = npt.NDArray[np.int32]
"""`int32 (H + 1, W + 1)`: how many blocked pixels lie above and left of each corner."""


@dataclass(frozen=True, slots=True)
class Lettering:
    """How watermarks look.

    `words` are chosen from, or made of random capitals, `letters` (least, most) of them, where there are
    none. Capitals are `height` (least, most) pixels high, and `clearance` of that height is kept free on
    all sides. Every pixel under the word differs from its ink by at least `contrast` grey levels.
    """

    words: tuple[str, ...]
    letters: tuple[int, int]
    height: tuple[int, int]
    contrast: int
    clearance: float
    font: str


@dataclass(frozen=True, slots=True, eq=False)
class Paper:
    """What a source offers: where text was found, and where white or black ink would not stand out."""

    taken: Sums
    hides: dict[int, Sums]


def find_paper(source: Observation, contrast: int) -> Paper:
    """Where a word can be written."""
    answer: Quads = source.answer
    image: Image = source.input
    taken = np.zeros(image.shape[:2], np.uint8)
    known = [word.outline for word in source.scene.knowledge.get("words") or ()]  # found or not
    cv2.fillPoly(taken, [np.rint(outline).astype(np.int32) for outline in (*answer.quads, *known)], 1)
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    return Paper(
        blocked_sums(taken.view(np.bool_)),
        {
            WHITE: blocked_sums(np.asarray(grey > WHITE - contrast)),
            BLACK: blocked_sums(np.asarray(grey < BLACK + contrast)),
        },
    )


def choose_watermark(
    paper: Paper, lettering: Lettering, rng: np.random.Generator
) -> Watermark | Inapplicable:
    """A word at one of all the places where it fits, each as likely; smaller where it fits nowhere."""
    text = _word(lettering, rng)
    wanted = int(rng.integers(lettering.height[0], lettering.height[1] + 1))
    least = lettering.height[0]
    for size in dict.fromkeys([*(max(least, round(wanted * factor)) for factor in SMALLER), least]):
        height, width = drawn_word(text, size, font=lettering.font).shape
        air = round(lettering.clearance * size)
        # The word and its air must be clear of text and inside the picture; the ink only matters below it.
        clear = clear_places(paper.taken, (height + 2 * air, width + 2 * air))
        places = [
            np.flatnonzero(clear & stands_out[air : air + clear.shape[0], air : air + clear.shape[1]])
            for stands_out in (clear_places(paper.hides[ink], (height, width)) for ink in (WHITE, BLACK))
        ]
        total = sum(map(len, places))
        if total:
            nth = int(rng.integers(total))
            on_dark = nth < len(places[0])
            place = places[0][nth] if on_dark else places[1][nth - len(places[0])]
            y, x = (int(at) + air for at in divmod(int(place), clear.shape[1]))
            ink = WHITE if on_dark else BLACK
            return Watermark(text, x, y, width, height, size, ink, lettering.font)
    return Inapplicable("no free place for a watermark")


def _word(lettering: Lettering, rng: np.random.Generator) -> str:
    if lettering.words:
        return lettering.words[int(rng.integers(len(lettering.words)))]
    length = int(rng.integers(lettering.letters[0], lettering.letters[1] + 1))
    return "".join(rng.choice(list(string.ascii_uppercase), length))


def blocked_sums(blocked: Mask) -> Sums:
    """What `clear_places` looks up, made once for rectangles of whatever size."""
    return np.asarray(cv2.integral(blocked.view(np.uint8)), np.int32)


def clear_places(sums: Sums, size: tuple[int, int]) -> npt.NDArray[np.bool_]:
    """`bool (H - height + 1, W - width + 1)`: True where a rectangle of `size` (height, width) with its
    top left corner there lies wholly inside and covers no blocked pixel. Empty when it is too large.

    >>> blocked = np.zeros((3, 4), bool)
    >>> blocked[0, 1] = True
    >>> clear_places(blocked_sums(blocked), (2, 2)).astype(int).tolist()
    [[0, 0, 1], [1, 1, 1]]
    """
    height, width = size
    rows, columns = sums.shape[0] - height, sums.shape[1] - width
    if rows <= 0 or columns <= 0:
        return np.zeros((max(rows, 0), max(columns, 0)), np.bool_)
    left_of = sums[height:] - sums[:rows]  # in each strip of that height, blocked pixels left of a column
    return np.asarray(left_of[:, width:] == left_of[:, :columns])
