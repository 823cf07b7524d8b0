"""Findings of a run that users called no failure, and its records with these left out of account."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from instar.core.record import Record
from instar.report.known import Dismissal, Known, dismisser, words_about
from instar.store import RunStore
from instar.store.marks import Marks


def said_in(store: RunStore) -> Known:
    """The findings of a run that were called no failure there, by a mark or by `instar known`."""
    dismissed = Marks(store.folder).dismissed()
    if not dismissed:
        return Known()
    system = _system_in(store)
    there = [record for record, _ in store.violated() if record.case in dismissed]
    words = [word for record in there for word in words_about(record, dismissed[record.case], system)]
    return Known(dismissals=tuple(words))


def dismisser_in(store: RunStore, more: Iterable[Dismissal] = ()) -> Callable[[Record], Record]:
    """A function that marks findings of a record as no failure where the run, or `more`, calls them so."""
    said = Known(dismissals=tuple(more)).merge(said_in(store))
    return dismisser(said.dismissals, _system_in(store))


def _system_in(store: RunStore) -> str:
    totals = store.totals()
    return "" if totals is None else totals.system
