"""What the commands of all studies share: names on the command line, and tables told and written."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from instar.core.errors import BadInput, RunError
from instar.core.options import split_names
from instar.core.outcome import Outcome

if TYPE_CHECKING:
    from instar.studies import Table

__all__ = ["folder_name", "outcome", "system_names", "write_csv"]


def system_names(given: str) -> list[str]:
    """The systems of `--systems`, at least one, each once."""
    names = split_names(given)
    if not names or len(set(names)) < len(names):
        raise BadInput(f"--systems {given!r} names none, or one of them twice")
    return names


def folder_name(system: str) -> str:
    """A system's name as a folder."""
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in system)


def write_csv(path: Path, rows: Iterable[Sequence[str]]) -> None:
    """Write rows, whose first are headings."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror or error}; choose another place") from error


def _is_numbers(cells: Iterable[str]) -> bool:
    return all(cell[:1].isdigit() or cell[:1] in "+-" for cell in cells)


def outcome(study: str, made: Sequence[Table], out: Path, figures: Sequence[str], *, names: int) -> Outcome:
    """Write the tables as CSV and tell them, less empty ones; their first `names` columns are words."""
    from instar.report.text import table as aligned

    for table in made:
        write_csv(out / f"{table.name}.csv", table.data or table.rows)
    parts = []
    for one in made:
        if len(one.rows) > 1:
            right = [i for i in range(names, len(one.rows[0])) if _is_numbers(row[i] for row in one.rows[1:])]
            body = aligned(one.rows, right=right)
            parts.append("\n".join(filter(None, [one.title, body, one.note])))
    parts.append("\n".join([f"Tables as CSV and the runs are in {out}.", *figures]))
    document = {
        "study": study,
        "out": str(out),
        "figures": list(figures),
        "tables": {table.name: table.to_json() for table in made},
    }
    return Outcome("\n\n".join(parts), document)
