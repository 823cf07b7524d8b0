"""Relations that demand a reaction: another class, another network, another picture, another explanation.

An interpreter that fails these does not explain the classifier, however stable its maps are: an edge
detector, a map that is always the same, a gradient that lets the picture through and not the class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from instar.core.change import Change, Inapplicable
from instar.core.frame import Variant
from instar.core.recipe import recorded
from instar.core.relation import Relation, Workspace
from instar.core.scene import Image, Observation, Scene
from instar.core.task import Nulls
from instar.core.verdict import Status, Verdict
from instar.tasks.interpretation.answers import Asked
from instar.tasks.interpretation.boxes import KEPT_SHARE
from instar.tasks.interpretation.changes import Unchanged
from instar.tasks.interpretation.compare import BETA, changed_explanation
from instar.tasks.interpretation.relations.settings import Kept, settings_of
from instar.tasks.interpretation.task import NULLS

SHARES = (0.01, 0.3, 1)
"""Of the layers, from the last one on, whose weights are shuffled: the last alone, a third, all."""


@dataclass(frozen=True)
class OtherClass(Change):
    """Another class asked about in the same picture."""

    label: str

    def __str__(self) -> str:
        return f"asked about {self.label} instead"


@recorded
def another_class(*, beta: float = BETA, kept: float = KEPT_SHARE) -> Relation:
    """Another class is asked about: the explanation is another one."""

    def draw(source: Observation, rng: np.random.Generator) -> OtherClass | Inapplicable:
        other = source.input.other
        return OtherClass(other) if other else Inapplicable("the classifier has no other class")

    def apply(picture: Image, change: OtherClass) -> Asked:
        return Asked(picture, change.label)

    return _reacting("another-class", "class", beta, kept, apply, draw)


@recorded
def random_weights(*, beta: float = BETA, kept: float = KEPT_SHARE) -> Relation:
    """The network's weights are shuffled, from the last layer on: the explanation is another one."""

    def apply(picture: Image, change: Unchanged) -> tuple[Variant, ...]:
        return tuple(Variant(picture, f"weights {share:g}") for share in SHARES)

    return _reacting("random-weights", "weights", beta, kept, apply, lambda source, rng: Unchanged())


@recorded
def another_picture(*, beta: float = BETA, kept: float = KEPT_SHARE) -> Relation:
    """The picture's pixels are shuffled, so that it shows no class at all: the explanation is another one."""

    def apply(picture: Image, change: Unchanged) -> Image:
        order = np.random.default_rng(0).permutation(picture.shape[0] * picture.shape[1])
        return np.ascontiguousarray(picture.reshape(-1, 3)[order].reshape(picture.shape))

    return _reacting("another-picture", "picture", beta, kept, apply, lambda source, rng: Unchanged())


def _reacting(
    name: str,
    blind_to: str,
    beta: float,
    kept: float,
    apply: Callable[[Image, Any], Any],
    draw: Callable[[Observation, np.random.Generator], Any],
) -> Relation:
    asked = Kept(name, settings_of(name, beta=beta, kept=kept))

    def make(how: Kept) -> Relation:
        def expect(source: Observation, follow_ups: Sequence[Observation], change: Any) -> Verdict:
            verdicts = [
                changed_explanation(source.answer, seen.answer, settings=how.settings, blind_to=blind_to)
                for seen in follow_ups
            ]
            worst = min(verdicts, key=lambda verdict: verdict.margin)
            stayed = [verdict for verdict in verdicts if verdict.status is Status.VIOLATED]
            return (stayed or [worst])[0].with_evidence(label=source.input.label)

        # Nothing can be struck out: null changes never show a map that stays too much as it was.
        task = replace(how.task, nulls=Nulls(None, None, NULLS.conditions))
        return Relation(name, task, apply, draw=draw, expect=expect)

    def prepare(scenes: Sequence[Scene], workspace: Workspace) -> Relation:
        return make(asked.with_floor(workspace))

    return replace(make(asked), prepare=prepare)
