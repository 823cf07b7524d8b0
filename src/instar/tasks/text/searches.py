"""The follow-ups of the stability paper as a search."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from instar.core.change import Inapplicable
from instar.core.options import require_whole_number
from instar.core.recipe import recorded
from instar.core.relation import Drawn, Relation
from instar.core.scene import Observation
from instar.core.search import Search, representative
from instar.core.verdict import Verdict

PORTION = 10  # a small budget needs few of them at a time


@recorded
def listed(*, perspectives: int = 100, watermarks: int = 20, others: int = 20) -> Search:
    """Every change that a relation lists (brightness, channels, masks), or so many draws of one that cannot.

    With the usual settings these are the follow-ups of the paper: 20, 20, 2, 100, 20 and 1 per picture.
    """
    counts = {"perspective": perspectives, "watermark": watermarks}
    for name, count in (("perspectives", perspectives), ("watermarks", watermarks), ("others", others)):
        require_whole_number("listed", name, count, least=1)

    @representative
    def search(
        relation: Relation, source: Observation, rng: np.random.Generator
    ) -> Generator[Sequence[Drawn], Sequence[Verdict], None]:
        ways: list[str | None] = [*relation.ways] or [None] * counts.get(relation.name, others)
        for start in range(0, len(ways), PORTION):
            drawn = [relation.drawn(source, rng, way=way) for way in ways[start : start + PORTION]]
            yield drawn
            if all(isinstance(change, Inapplicable) for change in drawn):
                return  # nothing fits here, and more of the same reasons would tell no more

    return search
