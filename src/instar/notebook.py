"""A run folder as a value, to be looked at in a notebook or from a script."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import instar.report.notebook  # noqa: F401  # gives records and comparisons their look
from instar.campaigns.reader import open_run
from instar.campaigns.result import RunResult, compare_folders, read_result
from instar.core.record import Record
from instar.report.comparison import Comparison
from instar.report.notebook import html_picture, html_table, record_html
from instar.report.relation_table import relation_rows
from instar.report.words import counted, escape, name
from instar.store import RunStore

MOST_GROUPS = 6


@dataclass(frozen=True, slots=True)
class RunCase:
    """A case of a run; a notebook shows its pictures before and after."""

    run: Path
    record: Record

    def _repr_html_(self) -> str:
        with open_run(str(self.run), quiet=True) as reader:
            picture = reader.picture(self.record.case)
        return record_html(self.record) + ("" if picture is None else html_picture(picture))


class Run:
    """The run in a folder, as it is now. `instar.Run("runs/blobs")` shows what it found."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        with RunStore.read(self.folder):
            pass  # refused at once where it is none

    @property
    def result(self) -> RunResult:
        """Everything that the report counts."""
        with RunStore.read(self.folder) as store:
            return read_result(store)

    def records(self) -> Iterator[Record]:
        """All records, null changes included."""
        with RunStore.read(self.folder) as store:
            yield from store.records(changes=False)

    def findings(self) -> list[RunCase]:
        """The failing cases, the plainest first."""
        return [self.case(one.case) for one in self.result.summary.findings if one.headline]

    def case(self, case: str) -> RunCase:
        """The case of that id, or of its beginning."""
        with RunStore.read(self.folder) as store:
            return RunCase(self.folder, store.record(case, change=False))

    def compare(self, later: Run | str | Path) -> Comparison:
        """What is newly broken and what is fixed in a later run."""
        other = later.folder if isinstance(later, Run) else later
        return compare_folders(str(self.folder), str(other))

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r})"

    def _repr_html_(self) -> str:
        found = self.result
        summary, counts = found.summary, found.summary.counts
        failing = f"fails in {counts.headline:,} of {counted(counts.judged, 'judged case')}"
        told = (
            summary.why_not_judged or f"{failing}: {counted(summary.distinct_failures, 'different failure')}"
        )
        headings, *rows = relation_rows(summary.relations)
        parts = [f"<p><b>{name(summary.totals.system)}</b> {escape(told)}</p>"]
        parts.append(html_table(rows, headings))
        groups = [
            (f"{len(one.cases):,}", one.title, one.representative) for one in found.groups[:MOST_GROUPS]
        ]
        if groups:
            parts.append(html_table(groups, ("cases", "group", "for example")))
        return "".join(parts)
