"""Drawn pages whose text is known: which word stands where is decided first, then drawn.

`page:N` has upright words in Latin letters, some of them tilted. `poster:N` has text in more places.

Ink keeps at least 110 grey levels away from the paper in one channel or more, and neither is near black
or white, so that a hundred levels more or less leave every word as plain to see as it was. Some inks show
in one channel only: a locator that looks at fewer channels than there are misses them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.core.scene import Image, Scene, SceneObject
from instar.imaging.lettering import Coverage, drawn_word
from instar.imaging.warp import corners_of, homography, warped
from instar.imaging.words import Word
from instar.worlds.kept_pictures import keep_pictures

_VOCABULARY = (
    "Airport", "BAKERY", "Bridge", "Castle", "Centre", "CINEMA", "Coffee", "Corner", "Doctor", "Exit",
    "FLOWERS", "Garden", "Gate", "Harbour", "Hotel", "Island", "Kitchen", "Library", "MARKET", "Museum",
    "North", "Office", "Open", "Park", "Police", "POST", "River", "School", "Shop", "South", "STATION",
    "Street", "Taxi", "Theatre", "Tickets", "TOWER", "Welcome", "Window",
)  # fmt: skip
EDGE = 26
"""Pixels between a word and the edge of the page."""
_GAP = 28
"""Pixels between any two words."""

Colour = tuple[int, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Printed:
    """A word in its place: `outline` is `float32 (k, 2)`, around its ink; from four corners on k is even,
    and a curved word goes along the first half of them and back along the second.
    """

    text: str
    coverage: Coverage
    outline: npt.NDArray[np.float32]
    ink: Colour


Print = Callable[[str, npt.NDArray[np.int64], bool, tuple[int, int], np.random.Generator], "Printed | None"]
"""Puts one word somewhere on a page: from its text, the paper and whether that is light, and the size."""


def scenes(n: int, *, seed: int = 0, size: tuple[int, int] = (360, 480)) -> list[Scene]:
    """`n` pages of `size` (height, width), each the same for the same seed and index.

    Nothing is drawn before it is looked at. What is known are the words, with the quads of their ink.

    >>> [scene.id for scene in scenes(2)]
    ['page-0000', 'page-0001']
    """
    return draw_scenes("page", n, seed, size, _VOCABULARY, _print)


def draw_scenes(
    name: str, n: int, seed: int, size: tuple[int, int], vocabulary: Sequence[str], put: Print
) -> list[Scene]:
    """Pages of that name, with words of the vocabulary where `put` finds a place for them."""
    if n < 1:
        raise BadInput(f"{name}: {n} scenes; ask for at least 1")
    if size[0] < 200 or size[1] < 240:
        raise BadInput(f"{name}: size is {size[0]}x{size[1]}; it must be at least 200x240 pixels")
    lay_out = functools.partial(_layout, seed=seed, size=size, vocabulary=vocabulary, put=put)
    reader = keep_pictures(lambda i: _draw(*lay_out(i), np.random.default_rng([seed, i, 1]), size), size)
    found = []
    for i in range(n):
        words = tuple(Word(one.outline, one.text) for one in lay_out(i)[1])
        objects = tuple(SceneObject("text", word.box) for word in words)
        found.append(Scene(f"{name}-{i:04}", reader(i), objects, {"words": words}))
    return found


def _layout(
    index: int, *, seed: int, size: tuple[int, int], vocabulary: Sequence[str], put: Print
) -> tuple[Colour, list[Printed]]:
    """The colour of the paper, and words on it; places are tried until enough are found or were tried."""
    rng = np.random.default_rng([seed, index, 0])
    is_light = bool(rng.random() < 0.6)
    paper = rng.integers(176, 200, 3) if is_light else rng.integers(56, 80, 3)
    wanted = int(rng.integers(4, 9))
    printed: list[Printed] = []
    for text in rng.choice(vocabulary, 12 * wanted):
        if len(printed) == wanted:
            break
        one = put(str(text), paper, is_light, size, rng)
        if one is not None and all(_apart(one, other) for other in printed):
            printed.append(one)
    return _colour(paper), sorted(printed, key=lambda word: tuple(word.outline[0, ::-1]))


def _print(
    text: str, paper: npt.NDArray[np.int64], is_light: bool, size: tuple[int, int], rng: np.random.Generator
) -> Printed | None:
    """One word somewhere; None where it would come too close to the edge."""
    height = int(rng.integers(15, 24))
    coverage = drawn_word(text, height, font=str(rng.choice(["simplex", "duplex", "triplex"])))
    rows, columns = coverage.shape
    angle = math.radians(float(rng.uniform(-9, 9))) if rng.random() < 0.4 else 0.0
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    around = (corners_of((rows, columns)) - np.array([columns / 2, rows / 2])) @ turn.T
    centre = np.rint([rng.uniform(0, size[1]), rng.uniform(0, size[0])])
    # Half a pixel keeps upright words on whole pixels, so that they are drawn as sharp as they are.
    quad = around + centre + np.array([columns % 2, rows % 2]) / 2
    inside = quad.min() >= EDGE and (quad.max(axis=0) <= np.array([size[1], size[0]]) - EDGE).all()
    ink = choose_ink(paper, is_light, rng)
    return Printed(text, coverage, quad.astype(np.float32), ink) if inside else None


def choose_ink(paper: npt.NDArray[np.int64], is_light: bool, rng: np.random.Generator) -> Colour:
    """Plain to see on the paper, in all channels or in one of them."""
    away = rng.integers(110, 140, 3) * (-1 if is_light else 1)
    shows = np.array([True, True, True])
    if rng.random() < 0.5:
        shows = np.arange(3) == rng.integers(3)
    return _colour(paper + away * shows)


def _apart(one: Printed, other: Printed) -> bool:
    gaps = [a.outline.min(axis=0) - b.outline.max(axis=0) for a, b in ((one, other), (other, one))]
    return bool(np.max(gaps) >= _GAP)


def _draw(paper: Colour, printed: list[Printed], rng: np.random.Generator, size: tuple[int, int]) -> Image:
    # Light from one side, and the grain of the paper: a page is never one flat colour.
    slope = rng.uniform(-4, 4, 2)
    down, right = np.linspace(-1, 1, size[0])[:, None], np.linspace(-1, 1, size[1])[None, :]
    light = slope[0] * down + slope[1] * right + rng.normal(0, 1.0, size)
    page = np.array(paper, np.float64) + light[..., None]
    for word in printed:
        share = _share(word, size)[..., None] / 255
        page = page * (1 - share) + np.array(word.ink, np.float64) * share
    return np.asarray(np.clip(np.rint(page), 0, 255), np.uint8)


def _share(word: Printed, size: tuple[int, int]) -> Coverage:
    """How much of each pixel of the page the word covers, drawn strip by strip of its outline."""
    strips = len(word.outline) // 2 - 1
    top, foot = word.outline[: strips + 1], word.outline[strips + 1 :][::-1]
    share = np.zeros(size, np.uint8)
    for i, part in enumerate(np.array_split(word.coverage, strips, axis=1)):
        quad = np.array([top[i], top[i + 1], foot[i + 1], foot[i]], np.float32)
        there = homography(corners_of((part.shape[0], part.shape[1])), quad)
        cv2.add(share, warped(np.ascontiguousarray(part), there, size), dst=share)
    return share


def _colour(values: npt.NDArray[np.int64]) -> Colour:
    red, green, blue = (int(value) for value in values)
    return red, green, blue
