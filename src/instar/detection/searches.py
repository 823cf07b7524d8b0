"""How many insertions, and by which way of placing them."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial

import numpy as np

from instar.errors import BadInput
from instar.relation import Draw, Relation
from instar.scene import Observation
from instar.search import Drawn, Search, fitting
from instar.verdict import Verdict

__all__ = ["guided", "random"]


def guided(*, per_object: int = 10) -> Search:
    """Close to what was found: so many insertions for every found object."""
    return _placed("guided", per_object)


def random(*, per_object: int = 10) -> Search:
    """Anywhere in the picture: the baseline that `guided` is measured against."""
    return _placed("random", per_object)


def _placed(way: str, per_object: int) -> Search:
    if per_object < 1:
        raise BadInput(f"{way}: per_object is {per_object}; it must be at least 1")

    def search(
        relation: Relation, source: Observation, rng: np.random.Generator
    ) -> Generator[Sequence[Drawn], Sequence[Verdict], None]:
        draw = _way(way, relation)
        found = len(source.answer.confident())
        tried: set[Drawn] = set()
        for _ in range(max(1, per_object * (found > 0))):  # in portions: a small budget needs few of them
            drawn = dict.fromkeys(draw(source, rng) for _ in range(max(1, found)))
            new = [change for change in drawn if change not in tried]  # the same again would tell no more
            tried.update(new)
            if new:
                yield new

    return fitting(partial(_way, way), search)


def _way(way: str, relation: Relation) -> Draw:
    if way not in relation.ways:
        raise BadInput(f"relation {relation.name!r} cannot be searched by {way!r}")
    return relation.ways[way]
