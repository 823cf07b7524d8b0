"""Which cases people are shown: as many violated ones as passes, of every relation alike, mixed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from instar.core.record import Record
from instar.core.verdict import Status
from instar.report.groups import in_turns

__all__ = ["choose_cases"]


def choose_cases(records: Iterable[Record], n: int, *, seed: int = 0) -> list[Record]:
    """At most `n` judged cases, half of them violated where there are enough of both.

    Relations take turns, so that a frequent one does not crowd out the others. What is missing on one side is
    made up for by the other.
    """
    rng = np.random.default_rng([seed, 0x7A7E])
    judged = [record for record in records if record.role == "case"]
    violated = _shuffled([r for r in judged if r.verdict.status is Status.VIOLATED], rng)
    held = _shuffled([r for r in judged if r.verdict.status is Status.HELD], rng)
    many = max(n // 2, n - len(held))
    chosen = violated[:many]
    chosen += held[: n - len(chosen)]
    return [chosen[i] for i in rng.permutation(len(chosen))]


def _shuffled(records: Sequence[Record], rng: np.random.Generator) -> list[Record]:
    shuffled: list[Record] = []
    for relation in sorted({record.relation for record in records}):
        queue = sorted((r for r in records if r.relation == relation), key=lambda record: record.case)
        shuffled += [queue[i] for i in rng.permutation(len(queue))]
    return in_turns(shuffled, lambda record: record.relation)
