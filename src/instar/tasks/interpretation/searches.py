"""How many changes of each relation are tried on a question."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from instar.core.options import require_whole_number
from instar.core.recipe import recorded
from instar.core.relation import Drawn, Relation
from instar.core.scene import Observation
from instar.core.search import Search, representative
from instar.core.verdict import Verdict


@recorded
def distinct(*, n: int = 3) -> Search:
    """Every way that a relation lists once, or else up to `n` draws, none twice."""
    require_whole_number("distinct", "n", n, least=1)

    @representative
    def search(
        relation: Relation, source: Observation, rng: np.random.Generator
    ) -> Generator[Sequence[Drawn], Sequence[Verdict], None]:
        ways: list[str | None] = list(relation.ways) or [None] * n
        yield list(dict.fromkeys(relation.drawn(source, rng, way=way) for way in ways))

    return search
