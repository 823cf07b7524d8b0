"""Tables of a study, written as CSV and told on the terminal."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from instar.core.outcome import Outcome
from instar.report.files import write_file
from instar.report.text import table as aligned

__all__ = ["Table", "format_share", "span", "tell", "write_csv"]


@dataclass(frozen=True, slots=True)
class Table:
    """A title, rows of text of which the first are headings, and a sentence on what they say.

    `data` is the same with one number to a cell, for files, where the rows for people have more in one.
    """

    name: str
    title: str
    rows: Sequence[Sequence[str]]
    note: str = ""
    data: Sequence[Sequence[str]] = ()

    def to_json(self) -> dict[str, Any]:
        document = {"title": self.title, "rows": [list(row) for row in self.rows], "note": self.note}
        return document | {"data": [list(row) for row in self.data]} if self.data else document

    def to_text(self, words: int) -> str:
        """As people read it, its first columns `words` and what is numbers behind them to the right."""
        heading, *body = self.rows
        right = [i for i in range(words, len(heading)) if all(_is_number(row[i]) for row in body)]
        return "\n".join(filter(None, [self.title, aligned(self.rows, right=right), self.note]))


def format_share(part: float, whole: float) -> str:
    """A share in percent, or a dash where there is nothing to share."""
    return f"{100 * part / whole:.1f} %" if whole else "-"


def span(interval: tuple[float, float]) -> str:
    """An interval of shares in percent."""
    return f"{100 * interval[0]:.1f} to {100 * interval[1]:.1f} %"


def write_csv(path: Path, rows: Iterable[Sequence[str]]) -> None:
    """Write rows, whose first are headings."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    write_file(path, text.getvalue())


def tell(
    study: str,
    tables: Sequence[Table],
    out: Path,
    *,
    words: int = 1,
    figures: Sequence[Path] = (),
    said: Sequence[str] = (),
    **more: Any,
) -> Outcome:
    """Write the tables as CSV and tell them, less empty ones; their first columns are `words`."""
    for table in tables:
        write_csv(out / f"{table.name}.csv", table.data or table.rows)
    parts = [table.to_text(words) for table in tables if len(table.rows) > 1]
    parts.append("\n".join([f"Tables as CSV and the runs are in {out}.", *map(str, figures), *said]))
    document = {"study": study, "out": str(out), "figures": list(map(str, figures)), **more}
    return Outcome("\n\n".join(parts), document | {"tables": {one.name: one.to_json() for one in tables}})


def _is_number(cell: str) -> bool:
    return cell[:1].isdigit() or cell[:1] in "+-"
