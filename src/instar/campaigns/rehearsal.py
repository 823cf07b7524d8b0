"""Rehearsals: what a relation asks of a few scenes before the campaign begins, to learn what is usual.

A task that judges by a floor measures it here. Answers are kept in the run like all others and counted among
its questions; the cases are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from instar.core.campaign import AnswerKey, Campaign, Store
from instar.core.record import Record, Totals
from instar.core.relation import Relation
from instar.core.search import Search
from instar.core.system import Reply
from instar.engines.local import run_local
from instar.store import MemoryStore

SCENES = 24
SHARE = 5  # of the budget goes into rehearsals at most


class _AnswersOnly(MemoryStore):
    """A store that keeps the answers in another one, and everything else for itself alone."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store

    def answer(self, key: AnswerKey) -> Reply | None:
        return self._store.answer(key)

    def keep_answers(self, replies: Sequence[tuple[AnswerKey, Reply]]) -> list[Reply]:
        return self._store.keep_answers(replies)

    def forget_answers(self, keys: Sequence[AnswerKey]) -> None:
        self._store.forget_answers(keys)


@dataclass(eq=False)
class Rehearsal:
    """Asks the campaign's system; relations of one name are asked once."""

    campaign: Campaign
    store: Store
    workers: int = 1
    batch: int | None = None
    accounts: list[Totals] = field(default_factory=list)
    _known: dict[str, Sequence[Record]] = field(default_factory=dict)

    def __call__(self, relation: Relation, search: Search) -> Sequence[Record] | None:
        if hasattr(self.campaign.system, "ask_later"):
            return None
        if relation.name not in self._known:
            self._known[relation.name] = self._ask(relation, search)
        return self._known[relation.name]

    def _ask(self, relation: Relation, search: Search) -> Sequence[Record]:
        limits, store = self.campaign.limits, _AnswersOnly(self.store)
        if limits.queries is not None:
            left = limits.queries // SHARE - sum(one.queries for one in self.accounts)
            if left <= 0:
                return []
            limits = replace(limits, queries=left)
        campaign = replace(
            self.campaign,
            scenes=_evenly(self.campaign.scenes),
            relations=[(relation, search)],
            limits=limits,
            referees=(),
        )
        records = list(run_local(campaign, store, workers=self.workers, batch=self.batch))
        if store.totals is not None:
            self.accounts.append(store.totals)
        return [record for record in records if record.role == "case"]


def _evenly(scenes: Sequence[Any]) -> list[Any]:
    count = min(SCENES, len(scenes))
    return [scenes[i * len(scenes) // count] for i in range(count)]
