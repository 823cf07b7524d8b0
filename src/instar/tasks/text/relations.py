"""The six relations of the stability paper: what may change in a picture, and what must be found then."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from instar.core.change import Change, Inapplicable
from instar.core.errors import BadInput
from instar.core.options import require_number, require_range, require_strings, require_whole_number
from instar.core.relation import Relation
from instar.core.scene import Image, Observation
from instar.core.verdict import Verdict
from instar.imaging.lettering import require_drawable
from instar.imaging.naturalness import hog_intersection
from instar.imaging.nulls import Brighten, Conditioned, again, null
from instar.tasks.text.accuracy import count_hits, truth_of
from instar.tasks.text.answers import Quads, accept
from instar.tasks.text.changes import (
    Light,
    Masks,
    Permutation,
    Perspective,
    Watermark,
    carried_along,
    made,
)
from instar.tasks.text.compare import AIR, nothing_left, same_text, word_found
from instar.tasks.text.drawing import picture
from instar.tasks.text.fairness import fair
from instar.tasks.text.measures import EPS, Matching, require_matching
from instar.tasks.text.panels import panels
from instar.tasks.text.shrink import dimmer, less_pushed, shorter, swaps
from instar.tasks.text.watermark import Lettering, choose_watermark, look_at
from instar.tasks.text.words import words_after

__all__ = [
    "brightness_down",
    "brightness_up",
    "channel_switch",
    "masking",
    "perspective",
    "watermark",
]

Draw = Callable[[Observation, np.random.Generator], "Change | Inapplicable"]
CYCLES = ("gbr", "brg")
ORDERS = ("rbg", "grb", "gbr", "brg", "bgr")


def brightness_up(
    *,
    step: int = 5,
    most: int = 100,
    gain: float = 1.0,
    eps: float = EPS,
    matching: Matching = "one-to-one",
) -> Relation:
    """Every value by `step`, 2 `step`, ... `most` grey levels up: the same boxes."""
    return _brightness("brightness-up", 1, step, most, gain, eps, matching)


def brightness_down(
    *,
    step: int = 5,
    most: int = 100,
    gain: float = 1.0,
    eps: float = EPS,
    matching: Matching = "one-to-one",
) -> Relation:
    """Every value by `step`, 2 `step`, ... `most` grey levels down, ending at black: the same boxes."""
    return _brightness("brightness-down", -1, step, most, gain, eps, matching)


def channel_switch(
    *, orders: Sequence[str] = CYCLES, eps: float = EPS, matching: Matching = "one-to-one"
) -> Relation:
    """The colour channels in another order, by default both ways round: the same boxes."""
    orders = require_strings("channel-switch", "orders", orders)
    for order in orders:
        if order not in ORDERS:
            raise BadInput(f"channel-switch: order {order!r} is none of {', '.join(ORDERS)}")
    if not orders:
        raise BadInput(f"channel-switch: orders is empty; give some of {', '.join(ORDERS)}")
    ways = _listed([Permutation(order) for order in orders])
    return replace(_stability("channel-switch", _any_of(ways), eps, matching), ways=ways, smaller=swaps)


def perspective(*, reach: int = 50, eps: float = EPS, matching: Matching = "one-to-one") -> Relation:
    """Each corner pushed outward by up to `reach` pixels: the same boxes, carried along."""
    require_whole_number("perspective", "reach", reach, least=1)
    size_of = lru_cache(maxsize=256)(_size)  # a hundred draws need not decode the picture a hundred times

    def draw(source: Observation, rng: np.random.Generator) -> Change:
        height, width = size_of(source)
        pushed = rng.integers(0, reach, (4, 2), endpoint=True).tolist()
        return Perspective(width, height, reach, tuple((x, y) for x, y in pushed))

    # The canvas has another size, so there is no naturalness to be measured.
    return replace(_stability("perspective", draw, eps, matching), naturalness=None, smaller=less_pushed)


def watermark(
    *,
    words: Sequence[str] = (),
    letters: Sequence[int] = (4, 8),
    height: Sequence[int] = (20, 40),
    contrast: int = 100,
    clearance: float = 1.0,
    font: str = "duplex",
    eps: float = EPS,
) -> Relation:
    """A word more, clear of every found box: all boxes as before, and one around the word."""
    words = require_strings("watermark", "words", words)
    for word in words or ("A",):
        require_drawable(word, font)
    few, many = require_range("watermark", "letters", letters, least=1)
    low, high = require_range("watermark", "height", height, least=8)
    require_whole_number("watermark", "contrast", contrast, least=1, most=255)
    require_number("watermark", "clearance", clearance, least=0)
    require_matching("watermark", "one-to-one", eps)
    look = Lettering(words, (few, many), (low, high), contrast, float(clearance), font)
    # Twenty words are drawn from one source in a row; a few sources may be open at a time.
    paper_of = lru_cache(maxsize=4)(partial(look_at, contrast=contrast))

    def draw(source: Observation, rng: np.random.Generator) -> Change | Inapplicable:
        return choose_watermark(paper_of(source), look, rng)

    def check(source: Observation, follow_ups: Sequence[Observation], change: Conditioned) -> Verdict:
        before, after = _before(source, change), follow_ups[0].answer
        if not isinstance(change, Watermark):
            return same_text(before, after, eps=eps)
        tight, loose = (carried_along(change.quad(air=air), change) for air in (0.0, AIR))
        verdict = word_found(before, after, tight, loose, eps=eps)
        return _held_against_truth(verdict, source, after, change)

    return replace(_relation("watermark", draw, check, eps), smaller=shorter(few, low))


def masking(*, eps: float = EPS) -> Relation:
    """Every found box filled with the colour of its top left corner: nothing is found any more."""
    require_matching("masking", "one-to-one", eps)

    def draw(source: Observation, rng: np.random.Generator) -> Change | Inapplicable:
        found: Quads = source.answer
        if not len(found):
            return Inapplicable("no text found in the source")
        corners = np.round(found.quads.astype(np.float64), 2).tolist()
        return Masks(tuple(tuple((x, y) for x, y in quad) for quad in corners))

    def check(source: Observation, follow_ups: Sequence[Observation], change: Conditioned) -> Verdict:
        before, after = _before(source, change), follow_ups[0].answer
        if not isinstance(change, Masks):
            return same_text(before, after, eps=eps)
        return _held_against_truth(nothing_left(before, after), source, after, change)

    return replace(_relation("masking", draw, check, eps), ways={"all": draw})


def _size(source: Observation) -> tuple[int, int]:
    height, width = source.input.shape[:2]
    return int(height), int(width)


def _brightness(
    name: str, sign: int, step: int, most: int, gain: float, eps: float, matching: Matching
) -> Relation:
    require_whole_number(name, "most", most, least=1, most=255)
    require_whole_number(name, "step", step, least=1, most=most)
    require_number(name, "gain", gain, least=0.01)
    ways = _listed([Light(float(sign * levels), gain) for levels in range(step, most + 1, step)])

    def at(source: Observation, level: float) -> Change:
        if not -255 <= level <= 255:
            raise BadInput(f"{name}: {level:g} grey levels are out of range; give -255 to 255")
        return Light(float(round(level)), gain)

    return replace(_stability(name, _any_of(ways), eps, matching), ways=ways, at=at, smaller=dimmer)


def _listed(changes: Sequence[Change]) -> dict[str, Draw]:
    """Ways of drawing that leave no choice: one for each of the changes."""
    return {str(change): partial(_always, change) for change in changes}


def _always(change: Change, source: Observation, rng: np.random.Generator) -> Change:
    return change


def _any_of(ways: Mapping[str, Draw]) -> Draw:
    draws = list(ways.values())

    def draw(source: Observation, rng: np.random.Generator) -> Change | Inapplicable:
        return draws[int(rng.integers(len(draws)))](source, rng)

    return draw


def _stability(name: str, draw: Draw, eps: float, matching: Matching) -> Relation:
    """A relation under which the same boxes must be found."""
    require_matching(name, matching, eps)

    def check(source: Observation, follow_ups: Sequence[Observation], change: Conditioned) -> Verdict:
        after = follow_ups[0].answer
        verdict = same_text(_before(source, change), after, eps=eps, matching=matching)
        if isinstance(change, (Light, Brighten)):
            verdict = replace(verdict, evidence={**verdict.evidence, "level": change.levels})
        return _held_against_truth(verdict, source, after, change)

    return _relation(name, draw, check, eps)


def _relation(name: str, draw: Draw, check: Callable[..., Verdict], eps: float) -> Relation:
    """What all six have in common."""
    return Relation(
        name,
        draw,
        _apply,
        check,
        null=null,
        again=again,
        accept=accept,
        naturalness=lambda source, follow_up, change: hog_intersection(source.input, follow_up),
        picture=partial(picture, eps=eps),
        panels=partial(panels, eps=eps),
        fair=fair,
    )


def _apply(image: Image, change: Conditioned) -> tuple[Image, ...]:
    return (made(image, change),)


def _before(source: Observation, change: Conditioned) -> Quads:
    """The source's answer in the coordinates of the follow-up."""
    found: Quads = source.answer
    return found.moved_to(carried_along(found.quads, change))


def _held_against_truth(verdict: Verdict, source: Observation, after: Quads, change: Conditioned) -> Verdict:
    """With [right, given, words] of the follow-up in the evidence, where the words are known."""
    words = source.scene.knowledge.get("words")
    if words is None:
        return verdict
    counts = count_hits(after.quads, truth_of(words_after(words, change)))
    accuracy = [counts.hits, counts.given, counts.words]
    return replace(verdict, evidence={**verdict.evidence, "accuracy": accuracy})
