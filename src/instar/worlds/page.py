"""Drawn pages whose text is known: which word stands where is decided first, then drawn.

Ink keeps at least 110 grey levels away from the paper in one channel or more, and neither is near black
or white, so that a hundred levels more or less leave every word as plain to see as it was. Some inks show
in one channel only: a locator that looks at fewer channels than there are misses them.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.core.scene import Image, Scene, SceneObject
from instar.imaging.lettering import drawn_word
from instar.imaging.warp import corners_of, homography, warped
from instar.imaging.words import Word
from instar.worlds.kept_pictures import keep_pictures

__all__ = ["scenes"]

_VOCABULARY = (
    "Airport", "BAKERY", "Bridge", "Castle", "Centre", "CINEMA", "Coffee", "Corner", "Doctor", "Exit",
    "FLOWERS", "Garden", "Gate", "Harbour", "Hotel", "Island", "Kitchen", "Library", "MARKET", "Museum",
    "North", "Office", "Open", "Park", "Police", "POST", "River", "School", "Shop", "South", "STATION",
    "Street", "Taxi", "Theatre", "Tickets", "TOWER", "Welcome", "Window",
)  # fmt: skip
_EDGE = 26
"""Pixels between a word and the edge of the page."""
_GAP = 28
"""Pixels between any two words."""

Colour = tuple[int, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class _Printed:
    """A word in its place: `quad` is `float32 (4, 2)`, around its ink."""

    text: str
    height: int
    font: str
    quad: npt.NDArray[np.float32]
    ink: Colour


def scenes(n: int, *, seed: int = 0, size: tuple[int, int] = (360, 480)) -> list[Scene]:
    """`n` pages of `size` (height, width), each the same for the same seed and index.

    Nothing is drawn before it is looked at. What is known are the words, with the quads of their ink.

    >>> [scene.id for scene in scenes(2)]
    ['page-0000', 'page-0001']
    """
    if n < 1:
        raise BadInput(f"page: {n} scenes; ask for at least 1")
    if size[0] < 200 or size[1] < 240:
        raise BadInput(f"page: size is {size[0]}x{size[1]}; it must be at least 200x240 pixels")
    reader = keep_pictures(functools.partial(_draw, seed=seed, size=size), size)
    found = []
    for i in range(n):
        words = tuple(Word(one.quad, one.text) for one in _layout(i, seed=seed, size=size)[1])
        objects = tuple(SceneObject("text", word.box) for word in words)
        found.append(Scene(f"page-{i:04}", reader(i), objects, {"words": words}))
    return found


def _layout(index: int, *, seed: int, size: tuple[int, int]) -> tuple[Colour, list[_Printed]]:
    """The colour of the paper, and words on it; places are tried until enough are found or were tried."""
    rng = np.random.default_rng([seed, index, 0])
    is_light = bool(rng.random() < 0.6)
    paper = rng.integers(176, 200, 3) if is_light else rng.integers(56, 80, 3)
    wanted = int(rng.integers(4, 9))
    printed: list[_Printed] = []
    for text in rng.choice(_VOCABULARY, 12 * wanted):
        if len(printed) == wanted:
            break
        one = _print(str(text), paper, is_light, size, rng)
        if one is not None and all(_apart(one, other) for other in printed):
            printed.append(one)
    return _colour(paper), sorted(printed, key=lambda word: tuple(word.quad[0, ::-1]))


def _print(
    text: str, paper: npt.NDArray[np.int64], is_light: bool, size: tuple[int, int], rng: np.random.Generator
) -> _Printed | None:
    """One word somewhere; None where it would come too close to the edge."""
    height = int(rng.integers(15, 24))
    font = str(rng.choice(["simplex", "duplex", "triplex"]))
    rows, columns = drawn_word(text, height, font=font).shape
    angle = math.radians(float(rng.uniform(-9, 9))) if rng.random() < 0.4 else 0.0
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    around = (corners_of((rows, columns)) - np.array([columns / 2, rows / 2])) @ turn.T
    centre = np.rint([rng.uniform(0, size[1]), rng.uniform(0, size[0])])
    # Half a pixel keeps upright words on whole pixels, so that they are drawn as sharp as they are.
    quad = around + centre + np.array([columns % 2, rows % 2]) / 2
    inside = quad.min() >= _EDGE and (quad.max(axis=0) <= np.array([size[1], size[0]]) - _EDGE).all()
    away = rng.integers(110, 140, 3) * (-1 if is_light else 1)
    shows = np.array([True, True, True])
    if rng.random() < 0.5:
        shows = np.arange(3) == rng.integers(3)
    ink = paper + away * shows
    return _Printed(text, height, font, quad.astype(np.float32), _colour(ink)) if inside else None


def _apart(one: _Printed, other: _Printed) -> bool:
    gaps = [a.quad.min(axis=0) - b.quad.max(axis=0) for a, b in ((one, other), (other, one))]
    return bool(np.max(gaps) >= _GAP)


def _draw(index: int, *, seed: int, size: tuple[int, int]) -> Image:
    paper, printed = _layout(index, seed=seed, size=size)
    rng = np.random.default_rng([seed, index, 1])
    # Light from one side, and the grain of the paper: a page is never one flat colour.
    slope = rng.uniform(-4, 4, 2)
    down, right = np.linspace(-1, 1, size[0])[:, None], np.linspace(-1, 1, size[1])[None, :]
    light = slope[0] * down + slope[1] * right + rng.normal(0, 1.0, size)
    page = np.array(paper, np.float64) + light[..., None]
    for word in printed:
        coverage = drawn_word(word.text, word.height, font=word.font)
        matrix = homography(corners_of((coverage.shape[0], coverage.shape[1])), word.quad)
        share = warped(coverage, matrix, size)[..., None] / 255
        page = page * (1 - share) + np.array(word.ink, np.float64) * share
    return np.asarray(np.clip(np.rint(page), 0, 255), np.uint8)


def _colour(values: npt.NDArray[np.int64]) -> Colour:
    red, green, blue = (int(value) for value in values)
    return red, green, blue
