"""The six relations of the stability paper: what may change in a picture, and what must be found then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from instar.core.change import Inapplicable
from instar.core.errors import BadInput
from instar.core.options import (
    require_number,
    require_one_of,
    require_range,
    require_strings,
    require_whole_number,
)
from instar.core.recipe import recorded
from instar.core.relation import Draw, Range, Relation
from instar.core.scene import Image, Observation
from instar.core.verdict import Verdict
from instar.imaging.lettering import require_drawable
from instar.imaging.naturalness import hog_intersection
from instar.tasks.text.accuracy import with_words
from instar.tasks.text.answers import Quads
from instar.tasks.text.changes import (
    Brightness,
    Masks,
    Permutation,
    Perspective,
    TextChange,
    Watermark,
)
from instar.tasks.text.compare import LINES, Lines, nothing_left, word_found
from instar.tasks.text.measures import EPS, Matching, require_matching
from instar.tasks.text.naming import with_names
from instar.tasks.text.placement import Lettering, choose_watermark, find_paper
from instar.tasks.text.polygons import quad_areas, quad_intersections
from instar.tasks.text.shrink import reduce_brightness, reduce_pushes, reduce_to_swaps, reduce_word
from instar.tasks.text.task import text

CYCLES = ("gbr", "brg")
ORDERS = ("rbg", "grb", "gbr", "brg", "bgr")
COVERED = 0.9  # of a box must lie under masks: then none of its text is left


@recorded
def brightness_up(
    *,
    step: int = 5,
    most: int = 100,
    gain: float = 1.0,
    eps: float = EPS,
    matching: Matching = "one-to-one",
    lines: Lines = "any",
) -> Relation:
    """Every value by `step`, 2 `step`, ... `most` grey levels up: the same boxes."""
    return _brightness("brightness-up", 1, step, most, gain, (eps, matching, lines))


@recorded
def brightness_down(
    *,
    step: int = 5,
    most: int = 100,
    gain: float = 1.0,
    eps: float = EPS,
    matching: Matching = "one-to-one",
    lines: Lines = "any",
) -> Relation:
    """Every value by `step`, 2 `step`, ... `most` grey levels down, ending at black: the same boxes."""
    return _brightness("brightness-down", -1, step, most, gain, (eps, matching, lines))


@recorded
def channel_switch(
    *,
    orders: Sequence[str] = CYCLES,
    eps: float = EPS,
    matching: Matching = "one-to-one",
    lines: Lines = "any",
) -> Relation:
    """The colour channels in another order, by default both ways round: the same boxes."""
    orders = require_strings("channel-switch", "orders", orders)
    for order in orders:
        if order not in ORDERS:
            raise BadInput(f"channel-switch: order {order!r} is none of {', '.join(ORDERS)}")
    if not orders:
        raise BadInput(f"channel-switch: orders is empty; give some of {', '.join(ORDERS)}")

    def draw(source: Observation, rng: np.random.Generator) -> TextChange:
        return Permutation(orders[int(rng.integers(len(orders)))])

    ways = _fixed([Permutation(order) for order in orders])
    same = _relation("channel-switch", eps, matching, lines)
    return replace(same, draw=draw, ways=ways, smaller=reduce_to_swaps)


@recorded
def perspective(
    *, reach: int = 50, eps: float = EPS, matching: Matching = "one-to-one", lines: Lines = "any"
) -> Relation:
    """Each corner pushed outward by up to `reach` pixels: the same boxes, carried along."""
    require_whole_number("perspective", "reach", reach, least=1)
    # A hundred draws need not decode the picture a hundred times.
    size_of = lru_cache(maxsize=256)(lambda source: source.input.shape[:2])

    def draw(source: Observation, rng: np.random.Generator) -> TextChange:
        height, width = size_of(source)
        pushed = rng.integers(0, reach, (4, 2), endpoint=True).tolist()
        return Perspective(width, height, reach, tuple((x, y) for x, y in pushed))

    # The canvas has another size, so there is no naturalness to be measured.
    same = _relation("perspective", eps, matching, lines)
    return replace(same, draw=draw, smaller=reduce_pushes, naturalness=None)


@recorded
def watermark(
    *,
    words: Sequence[str] = (),
    letters: Sequence[int] = (4, 8),
    height: Sequence[int] = (20, 40),
    contrast: int = 100,
    clearance: float = 1.0,
    font: str = "duplex",
    eps: float = EPS,
    lines: Lines = "any",
) -> Relation:
    """A word more, clear of every found box: all boxes as before, and one around the word."""
    words = require_strings("watermark", "words", words)
    for word in words or ("A",):
        require_drawable(word, font)
    few, many = require_range("watermark", "letters", letters, least=1)
    low, high = require_range("watermark", "height", height, least=8)
    require_whole_number("watermark", "contrast", contrast, least=1, most=255)
    require_number("watermark", "clearance", clearance, least=0)
    lettering = Lettering(words, (few, many), (low, high), contrast, float(clearance), font)
    # Twenty words are drawn from one source in a row; a few sources may be open at a time.
    paper_of = lru_cache(maxsize=4)(partial(find_paper, contrast=contrast))

    def draw(source: Observation, rng: np.random.Generator) -> TextChange | Inapplicable:
        return choose_watermark(paper_of(source), lettering, rng)

    def expect(source: Observation, follow_ups: Sequence[Observation], change: Watermark) -> Verdict:
        verdict = word_found(source.answer, follow_ups[0].answer, change, eps=eps, lines=lines)
        named = with_names(verdict, source, follow_ups[0])
        return with_words(named, source, follow_ups[0], change)

    def fair(source: Observation, change: Watermark) -> Inapplicable | None:
        covers = (quad_intersections(change.quad(air=0.5), source.answer.quads) > 0).any()
        return Inapplicable("it would cover what this system finds") if covers else None

    smaller = reduce_word(few, low)
    same = _relation("watermark", eps, lines=lines)
    return replace(same, draw=draw, expect=expect, fair=fair, smaller=smaller)


@recorded
def masking(*, eps: float = EPS) -> Relation:
    """Every found box filled with the colour of its top left corner: nothing is found any more."""

    def draw(source: Observation, rng: np.random.Generator) -> TextChange | Inapplicable:
        found: Quads = source.answer
        if not len(found):
            return Inapplicable("no text found in the source")
        corners = np.round(found.quads.astype(np.float64), 2).tolist()
        return Masks(tuple(tuple((x, y) for x, y in quad) for quad in corners))

    def expect(source: Observation, follow_ups: Sequence[Observation], change: Masks) -> Verdict:
        verdict = nothing_left(source.answer, follow_ups[0].answer)
        named = with_names(verdict, source, follow_ups[0])
        return with_words(named, source, follow_ups[0], change)

    def fair(source: Observation, change: Masks) -> Inapplicable | None:
        found: Quads = source.answer
        if not len(found):
            return Inapplicable("no text found in the source")
        covered = quad_intersections(found.quads, change.corners).sum(axis=1)
        left = (covered < COVERED * quad_areas(found.quads)).any()
        return Inapplicable("it leaves text that this system finds") if left else None

    return replace(_relation("masking", eps), draw=draw, expect=expect, fair=fair, ways={"all": draw})


def _brightness(
    name: str, sign: int, step: int, most: int, gain: float, same: tuple[float, Matching, Lines]
) -> Relation:
    require_whole_number(name, "most", most, least=1, most=255)
    require_whole_number(name, "step", step, least=1, most=most)
    require_number(name, "gain", gain, least=0.01)

    def at(source: Observation, level: float) -> TextChange:
        if not -255 <= level <= 255:
            raise BadInput(f"{name}: {level:g} grey levels are out of range; give -255 to 255")
        return Brightness(float(round(level)), gain)

    ways = _fixed([Brightness(float(sign * levels), gain) for levels in range(step, most + 1, step)])
    severity = Range(0, sign * most, "grey levels", at)
    return replace(_relation(name, *same), severity=severity, ways=ways, smaller=reduce_brightness)


def _relation(name: str, eps: float, matching: Matching = "one-to-one", lines: Lines = "any") -> Relation:
    """What all six have in common: the same boxes must be found."""
    require_matching(name, matching, eps)
    require_one_of(name, "lines", lines, LINES)
    task = text(eps=eps, matching=matching, lines=lines)
    return Relation(name, task, lambda p, change: change.apply(p), naturalness=_naturalness)


def _fixed(changes: Sequence[TextChange]) -> dict[str, Draw]:
    """Ways of drawing that leave no choice: one for each of the changes."""
    return {str(change): partial(_always, change) for change in changes}


def _always(change: TextChange, source: Observation, rng: np.random.Generator) -> TextChange:
    return change


def _naturalness(source: Observation, follow_up: Image, change: TextChange) -> float:
    return hog_intersection(source.input, follow_up)
