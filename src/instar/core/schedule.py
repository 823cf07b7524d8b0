"""Whose case is next: the relations of a scene take turns."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import replace

from instar.core.case import Case, RelationState
from instar.core.change import Change, Value
from instar.core.relation import Drawn
from instar.core.verdict import Verdict

MOST_REPEATS = 1000
"""A search that proposes nothing new in so many batches in a row has ended: it would never stop by itself."""


def key_of(drawn: Drawn) -> bytes:
    """A hash by which identical changes are recognised: they are asked and counted once."""
    if isinstance(drawn, Change):
        recipe = drawn.to_json()
        if isinstance(drawn, Value):
            recipe.pop("unit", None)  # only a word for people
        text = json.dumps(recipe, sort_keys=True)
    else:
        text = f"not: {drawn.reason}"
    return hashlib.sha256(text.encode()).digest()[:16]


class Proposals:
    """What a search proposes, one change at a time; it goes on when all it yielded has been judged.

    A change that was proposed before is not given again: the search is told its verdict.
    """

    def __init__(self, search: Generator[Sequence[Drawn], Sequence[Verdict], None]) -> None:
        self._search = search
        self._batch: list[bytes] | None = None  # keys of what was yielded last
        self._pending: deque[Drawn] = deque()
        self._unjudged: set[bytes] = set()
        self._verdicts: dict[bytes, Verdict] = {}

    @property
    def waits(self) -> bool:
        """True while the next proposal depends on verdicts that are still to come."""
        return not self._pending and bool(self._unjudged)

    def next(self) -> Drawn | None:
        """None when the search waits for verdicts, or has ended."""
        repeats = 0
        while not self._pending:
            if self._unjudged:
                return None
            if repeats == MOST_REPEATS:
                self._search.close()
                return None
            repeats += 1
            try:
                batch = next(self._search) if self._batch is None else self._search.send(self._told())
            except StopIteration:
                return None
            self._batch = [key_of(drawn) for drawn in batch]
            new = {key: drawn for key, drawn in zip(self._batch, batch) if key not in self._verdicts}
            self._pending.extend(new.values())
            self._unjudged.update(new)
        return self._pending.popleft()

    def tell(self, drawn: Drawn, verdict: Verdict) -> None:
        key = key_of(drawn)
        self._verdicts[key] = verdict
        self._unjudged.discard(key)

    def _told(self) -> list[Verdict]:
        """The verdicts on the last batch. Of a change that comes again only the bare verdict is remembered:
        a search may propose a hundred thousand.
        """
        assert self._batch is not None
        told = [self._verdicts[key] for key in self._batch]
        self._verdicts |= {key: without_evidence(verdict) for key, verdict in zip(self._batch, told)}
        return told


def without_evidence(verdict: Verdict) -> Verdict:
    """What is remembered of a verdict: there may be very many."""
    findings = tuple(replace(finding, evidence={}) for finding in verdict.findings)
    return replace(verdict, findings=findings, evidence={})


class TurnSchedule:
    """Relations of one scene taking turns: a case each, now and then a null change of the source."""

    def __init__(self, proposals: Sequence[tuple[RelationState, Proposals]]) -> None:
        self._queue = deque(proposals)
        self._of = {id(state): one for state, one in proposals}
        self._drawn: dict[int, Drawn] = {}

    def next(self) -> Case | None:
        """None when all have ended, or when the one whose turn it is waits for verdicts."""
        while self._queue:
            state, proposals = self._queue[0]
            null = state.of_source.null_due()
            if null is not None:
                return Case.of(state, null)
            drawn = proposals.next()
            if drawn is not None:
                self._queue.rotate(-1)
                case = Case.of(state, drawn)
                state.of_source.count(case)
                self._drawn[id(case)] = drawn
                return case
            if proposals.waits:
                return None
            self._queue.popleft()
        return None

    def tell(self, case: Case) -> None:
        drawn = self._drawn.pop(id(case), None)
        if drawn is not None and case.verdict is not None:
            self._of[id(case.state)].tell(drawn, case.verdict)
