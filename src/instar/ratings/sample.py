"""Which cases people are shown: as many violated ones as passes, of every relation alike, mixed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from instar.core.record import Record
from instar.core.verdict import Status

__all__ = ["choose_cases"]


def choose_cases(records: Iterable[Record], n: int, *, seed: int = 0) -> list[Record]:
    """At most `n` judged cases, half of them violated where there are enough of both.

    Relations take turns, so that a frequent one does not crowd out the others. What is missing on one side is
    made up for by the other.
    """
    rng = np.random.default_rng([seed, 0x7A7E])
    judged = [record for record in records if record.role == "case"]
    violated = _in_turns([r for r in judged if r.verdict.status is Status.VIOLATED], rng)
    held = _in_turns([r for r in judged if r.verdict.status is Status.HELD], rng)
    many = max(n // 2, n - len(held))
    chosen = violated[:many]
    chosen += held[: n - len(chosen)]
    return [chosen[i] for i in rng.permutation(len(chosen))]


def _in_turns(records: Sequence[Record], rng: np.random.Generator) -> list[Record]:
    queues: dict[str, list[Record]] = {}
    for record in sorted(records, key=lambda record: record.case):
        queues.setdefault(record.relation, []).append(record)
    shuffled = [[queue[i] for i in rng.permutation(len(queue))] for _, queue in sorted(queues.items())]
    longest = max(map(len, shuffled), default=0)
    return [queue[i] for i in range(longest) for queue in shuffled if i < len(queue)]
