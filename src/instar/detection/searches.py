"""How many insertions, and by which way of placing them."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from instar.errors import BadInput
from instar.relation import Inapplicable, Relation
from instar.scene import Observation
from instar.search import Drawn, Search
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
        if way not in relation.ways:
            raise BadInput(f"relation {relation.name!r} cannot be searched by {way!r}")
        found = len(source.answer.confident())
        if not found:  # one draw all the same, so that the scene is counted, with the reason
            yield [relation.draw(source, rng)]
        for _ in range(per_object if found else 0):  # in portions: a small budget needs few of them
            drawn = [relation.ways[way](source, rng) for _ in range(found)]
            if all(isinstance(change, Inapplicable) for change in drawn):
                yield drawn[:1]  # nothing fits here; the same reason again would tell no more
                return
            yield drawn

    return search
