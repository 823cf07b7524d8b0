"""Relations that demand a reaction: another class, another network, another picture, another explanation.

An interpreter that fails these does not explain the classifier, however stable its maps are: an edge
detector, a map that is always the same, a gradient that lets the picture through and not the class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from instar.core.change import Change, Inapplicable
from instar.core.frame import Variant
from instar.core.recipe import recorded
from instar.core.relation import Relation, Workspace
from instar.core.scene import Image, Observation, Scene
from instar.core.task import Nulls
from instar.core.verdict import Status, Verdict
from instar.tasks.interpretation.answers import Asked, Explanation
from instar.tasks.interpretation.boxes import KEPT_SHARE
from instar.tasks.interpretation.compare import BETA, Settings, changed_explanation, unfixed_explanation
from instar.tasks.interpretation.relations.settings import Kept, settings_of
from instar.tasks.interpretation.task import NULLS

SHARES = (0.01, 0.3, 1)
"""Of the layers, from the last one on, whose weights are shuffled: the last alone, a third, all."""
PIECES = 6  # along each side of a picture that is cut up


@dataclass(frozen=True)
class OtherClass(Change):
    """Another class asked about in the same picture."""

    label: str

    def __str__(self) -> str:
        return f"asked about {self.label} instead"


@dataclass(frozen=True)
class Shuffled(Change):
    """The picture or the network in no order."""

    what: Literal["picture", "weights"]

    def __str__(self) -> str:
        return f"{self.what} shuffled"


@recorded
def another_class(*, beta: float = BETA, kept: float = KEPT_SHARE) -> Relation:
    """Another class is asked about: the explanation is another one."""

    def draw(source: Observation, rng: np.random.Generator) -> OtherClass | Inapplicable:
        other = source.input.other
        return OtherClass(other) if other else Inapplicable("the classifier has no other class")

    def apply(picture: Image, change: OtherClass) -> Asked:
        return Asked(picture, change.label)

    return _reacting("another-class", _each_another("class"), beta, kept, apply, draw)


@recorded
def random_weights(*, beta: float = BETA, kept: float = KEPT_SHARE) -> Relation:
    """The network's weights are shuffled, from the last layer on: the explanation is another one."""

    def apply(picture: Image, change: Shuffled) -> tuple[Variant, ...]:
        return tuple(Variant(picture, f"weights {share:g}") for share in SHARES)

    def draw(source: Observation, rng: np.random.Generator) -> Shuffled:
        return Shuffled("weights")

    return _reacting("random-weights", _each_another("weights"), beta, kept, apply, draw)


@recorded
def another_picture(*, beta: float = BETA, kept: float = KEPT_SHARE) -> Relation:
    """The picture's pixels are shuffled, so that it shows no class at all: the explanation is another one.

    Its pieces are shuffled too, and there is nothing but its mean colour: no place is hot in all four.
    """

    def draw(source: Observation, rng: np.random.Generator) -> Shuffled:
        return Shuffled("picture")

    def apply(picture: Image, change: Shuffled) -> tuple[Image, Image, Image]:
        plain = np.full_like(picture, picture.reshape(-1, 3).mean(axis=0).round())
        return shuffle_pixels(picture), shuffle_pieces(picture), plain

    def judge(before: Explanation, others: Sequence[Explanation], settings: Settings) -> list[Verdict]:
        return [
            changed_explanation(before, others[0], settings=settings, blind_to="picture"),
            unfixed_explanation(before, others, settings=settings),
        ]

    return _reacting("another-picture", judge, beta, kept, apply, draw)


def shuffle_pixels(picture: Image) -> Image:
    order = np.random.default_rng(0).permutation(picture.shape[0] * picture.shape[1])
    return np.ascontiguousarray(picture.reshape(-1, 3)[order].reshape(picture.shape))


def shuffle_pieces(picture: Image) -> Image:
    """Rectangles of the picture in another order."""
    height, width = (side // PIECES for side in picture.shape[:2])
    made: Image = picture.copy()

    def piece(number: int) -> tuple[slice, slice]:
        row, column = divmod(number, PIECES)
        return slice(row * height, (row + 1) * height), slice(column * width, (column + 1) * width)

    for to, of in enumerate(np.random.default_rng(0).permutation(PIECES**2).tolist()):
        made[piece(to)] = picture[piece(of)]
    return made


Judge = Callable[[Explanation, Sequence[Explanation], Settings], list[Verdict]]


def _each_another(blind_to: str) -> Judge:
    """Each map must be another one than the first."""
    return lambda before, others, settings: [
        changed_explanation(before, one, settings=settings, blind_to=blind_to) for one in others
    ]


def _reacting(
    name: str,
    judge: Judge,
    beta: float,
    kept: float,
    apply: Callable[[Image, Any], Any],
    draw: Callable[[Observation, np.random.Generator], Any],
) -> Relation:
    asked = Kept(name, settings_of(name, beta=beta, kept=kept))

    def make(how: Kept) -> Relation:
        def expect(source: Observation, follow_ups: Sequence[Observation], change: Any) -> Verdict:
            verdicts = judge(source.answer, [seen.answer for seen in follow_ups], how.settings)
            worst = min(verdicts, key=lambda verdict: verdict.margin)
            stayed = [verdict for verdict in verdicts if verdict.status is Status.VIOLATED]
            return (stayed or [worst])[0].with_evidence(label=source.input.label)

        # Nothing can be struck out: null changes never show a map that stays too much as it was.
        task = replace(how.task, nulls=Nulls(None, None, NULLS.conditions))
        return Relation(name, task, apply, draw=draw, expect=expect)

    def prepare(scenes: Sequence[Scene], workspace: Workspace) -> Relation:
        return make(asked.with_floor(workspace))

    return replace(make(asked), prepare=prepare)
