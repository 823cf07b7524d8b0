"""The account of a campaign: what the runs of its scenes report, kept in the store as it comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from instar.core.campaign import Campaign, Store
from instar.core.record import Empty, KeptPanels, KeptPixels, Record, Repeat, Skipped, Source, Totals
from instar.core.scene_run import Note
from instar.core.search import is_representative
from instar.engines.batcher import Batcher

ACCOUNT_SECONDS = 5.0  # between two accounts of a run that is under way


@dataclass(frozen=True, slots=True)
class Tally:
    """How far a campaign has come, for whoever watches."""

    scenes: int
    scenes_done: int
    cases: int
    failing: int
    queries: int
    seconds: float
    price: float
    actors: str = ""  # of a cluster, and what waits for them


class Account:
    """Counts notes and gives them to the store; used by one thread only."""

    def __init__(
        self,
        campaign: Campaign,
        store: Store,
        batcher: Batcher,
        *,
        isolated: bool,
        clock: Callable[[], float],
    ) -> None:
        self._campaign, self._store, self._batcher = campaign, store, batcher
        self._isolated, self._clock = isolated, clock
        self._began = self._kept = clock()
        self._records: list[Record] = []
        self._repeats: list[Repeat] = []
        self._pictures: set[str] = set()
        self._scenes: set[str] = set()
        self._empty: set[str] = set()
        self._skipped: dict[str, Skipped] = {}
        self._cases = self._failing = 0

    @property
    def seconds(self) -> float:
        """How long the campaign has been going on."""
        return self._clock() - self._began

    def add(self, note: Note) -> None:
        if isinstance(note, Record):
            self._records.append(note)
            if note.role == "case":
                self._cases += 1
                self._failing += bool(note.verdict.failures)
        elif isinstance(note, KeptPixels):
            if note.digest not in self._pictures:
                self._store.keep_picture(note.digest, note.pixels)
                self._pictures.add(note.digest)
        elif isinstance(note, Repeat):
            self._repeats.append(note)
        elif isinstance(note, Empty):
            self._empty.add(note.source)
        elif isinstance(note, KeptPanels):
            self._store.keep_panels(note.case, note.panels, exact=note.exact)
        elif isinstance(note, Source):
            self._scenes.add(note.scene)
            self._store.keep_source(note)
        else:
            self._skipped[note.scene] = note
            self._store.keep_skipped(note)

    def keep_records(self) -> list[Record]:
        """The records that have come since the last time, now in the store."""
        records, self._records = self._records, []
        if records:
            self._store.keep_records(records)
        return records

    def keep(self, *, finished: bool = False) -> None:
        """So that a run that is under way, or was killed, can be reported on."""
        self._kept = self._clock()
        self._store.keep_totals(self._totals(finished))

    def keep_now_and_then(self) -> None:
        if self._clock() - self._kept > ACCOUNT_SECONDS:
            self.keep()

    def tally(self, done: int) -> Tally:
        """How far it has come, with so many runs of scenes at their end."""
        return Tally(
            scenes=len(self._campaign.scenes),
            scenes_done=min(done, len(self._campaign.scenes)),
            cases=self._cases,
            failing=self._failing,
            queries=self._batcher.queries,
            seconds=self.seconds,
            price=self._batcher.asked * self._campaign.limits.price_per_query,
            actors=self._batcher.load(),
        )

    def _totals(self, finished: bool) -> Totals:
        return Totals(
            run=self._campaign.name,
            system=self._campaign.system.name,
            seed=self._campaign.seed,
            scenes=len(self._scenes),
            queries=self._batcher.queries,
            asked=self._batcher.asked,
            seconds=self.seconds,
            price_per_query=self._campaign.limits.price_per_query,
            skipped=tuple(sorted(self._skipped.values(), key=lambda skipped: skipped.scene)),
            finished=finished,
            task=", ".join(sorted({one.resolved_task.name for one, _ in self._campaign.relations})),
            yields=[one.name for one, search in self._campaign.relations if not is_representative(search)],
            isolated=self._isolated,
            repeats=len(self._repeats),
            differing=sum(not one.identical for one in self._repeats),
            contradicting=sum(one.contradicts for one in self._repeats),
            empty=len(self._empty),
            referees=dict(self._batcher.referees),
            referee_queries=self._batcher.referee_queries,
        )
