"""Pictures of rules that are made once and shown to several drivers: no change depends on who is asked."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from instar.core.change import Inapplicable
from instar.core.digest import digest
from instar.core.picture_cache import PictureCache
from instar.core.relation import Relation
from instar.core.scene import Observation, Scene
from instar.core.workspace import Folder, prepare_relation
from instar.tasks.driving.changes import RuleEdits


@dataclass(frozen=True, slots=True)
class MakingCost:
    """How many cases of a rule were made, of how many pictures each, in how many processor seconds each."""

    cases: int
    pictures: int
    seconds: float


class SharedPictures:
    """Rules that remember what they drew and made, for one driver after the other.

    Each gives what the rule itself would give.
    """

    def __init__(self, pictures: PictureCache) -> None:
        self._pictures = pictures
        self._ready: dict[str, Relation] = {}
        self._changes: dict[Any, tuple[Any, Any]] = {}
        # Processor seconds of each case, by rule.
        self._choosing: dict[str, dict[Any, float]] = defaultdict(dict)
        self._painting: dict[str, dict[Any, float]] = defaultdict(dict)

    def prepare(self, rule: Relation, scenes: Sequence[Scene], workspace: Folder) -> Relation:
        """The rule with a memory, prepared once: what it collects from the scenes is the same for all."""
        if rule.name not in self._ready:
            self._ready[rule.name] = self.relation(prepare_relation(rule, scenes, workspace))
        return self._ready[rule.name]

    def relation(self, rule: Relation) -> Relation:
        """The rule with a memory; it is known by its name."""
        return replace(rule, draw=partial(self._draw, rule), apply=partial(self._apply, rule))

    def making(self, rule: str) -> MakingCost | None:
        """What the cases of a rule took; None where there were none."""
        choosing, painting = self._choosing[rule].values(), self._painting[rule]
        if not painting:
            return None
        seconds = sum(choosing) / len(choosing) + sum(painting.values()) / len(painting)
        return MakingCost(len(painting), len(next(iter(painting))[1]), seconds)

    def _draw(self, relation: Relation, source: Observation, rng: np.random.Generator) -> Any:
        key = (relation.name, source.id, str(rng.bit_generator.state))
        if key not in self._changes:
            began = time.thread_time()
            change = relation.drawn(source, rng)
            if not isinstance(change, Inapplicable):
                self._choosing[relation.name][key] = time.thread_time() - began
            self._changes[key] = change, rng.bit_generator.state
        change, rng.bit_generator.state = self._changes[key]
        return change

    def _apply(self, relation: Relation, image: Any, change: Any) -> Any:
        if not isinstance(change, RuleEdits):
            return relation.apply(image, change)
        name, pictures, seconds = digest(image), [], 0.0
        for block in change.blocks:
            made, took = self._pictures.get((name, block), partial(_timed, relation, image, block))
            if isinstance(made, Inapplicable):
                return made
            pictures.extend(made)
            seconds += took
        self._painting[relation.name].setdefault((name, change.blocks), seconds)
        return tuple(pictures)


def _timed(relation: Relation, image: Any, block: Any) -> tuple[Any, float]:
    began = time.thread_time()
    return relation.apply(image, RuleEdits((block,))), time.thread_time() - began
