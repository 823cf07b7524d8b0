"""Cases among others: what a card says of each, read from the run where it is not in the columns."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from instar.core.errors import InstarError
from instar.report.causes import finding_words
from instar.store import RunStore
from instar.workbench.library import Library
from instar.workbench.table import UNMARKED, CaseTable
from instar.workbench.workers import Recent

FACETS = ("run", "scene", "relation", "status", "known", "kind", "mark", "group")
KEPT = 20_000


class CardWords:
    """What was found in cases, in words; the last ones are kept."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._kept = Recent[str](KEPT)

    def of(self, table: CaseTable, rows: Sequence[int]) -> dict[int, str]:
        """By row of a violated case: its plainest finding, such as "dog 0.83 is lost"."""
        told: dict[int, str] = {}
        missing: dict[str, list[int]] = defaultdict(list)
        for row in rows:
            words = self._kept.get(self._key(table, row))
            if words is not None:
                told[row] = words
            elif table.name("status", row) == "violated":
                missing[table.name("run", row)].append(row)
        for run, ours in missing.items():
            # A run may be removed, or spoilt, at any moment: then its cards have no words.
            with contextlib.suppress(InstarError), RunStore.read(self._library.run(run).folder) as store:
                for row in ours:
                    verdict = store.record(table.case_id(row), change=False).verdict
                    told[row] = finding_words(verdict.plainest) if verdict.findings else ""
                    self._kept.put(self._key(table, row), told[row])
        return told

    def _key(self, table: CaseTable, row: int) -> tuple[object, ...]:
        run = self._library.runs.get(table.name("run", row))
        identity = None if run is None else run.identity
        return (table.name("run", row), identity, table.case_id(row), float(table.margin[row]))


def cards_of(words: CardWords, table: CaseTable, rows: Sequence[int]) -> list[dict[str, Any]]:
    """The cases of these rows, as templates show them."""
    told = words.of(table, rows)
    cards = []
    for row in rows:
        names = {facet: table.name(facet, row) for facet in FACETS}
        if names["mark"] == UNMARKED:
            names["mark"] = ""
        margin = float(table.margin[row])
        cards.append({"case": table.case_id(row), "margin": margin, "words": told.get(row, ""), **names})
    return cards
