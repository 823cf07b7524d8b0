"""What people say of cases: marks with notes, and ratings; in `RUN/marks.sqlite`, apart from the campaign.

Nothing is ever overwritten: the mark of a case is the last one said, and all earlier ones are its history.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from instar.core.errors import BadInput
from instar.store.folder import explain_errors

MARKS = ("real defect", "acceptable", "oracle wrong")
DISMISSING = ("acceptable", "oracle wrong")  # what these are said of is none
LONGEST_NOTE, LONGEST_NAME = 2_000, 60
SCHEMA = """
CREATE TABLE IF NOT EXISTS marks (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, mark TEXT NOT NULL, note TEXT NOT NULL, at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS marks_by_case ON marks (case_id, id);
CREATE TABLE IF NOT EXISTS ratings (
    case_id TEXT NOT NULL, rater TEXT NOT NULL, question TEXT NOT NULL,
    points INTEGER NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (case_id, rater, question)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Review:
    """What was said of a case; `mark` is empty where an earlier one was taken back."""

    mark: str
    note: str
    at: str


@dataclass(frozen=True, slots=True)
class Rating:
    case: str
    rater: str
    question: str
    points: int


class Marks:
    """The marks and ratings of one run. Every call is a transaction of its own, so any number may write."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "marks.sqlite"

    def add(self, case: str, mark: str, note: str = "") -> None:
        if mark not in ("", *MARKS):
            raise BadInput(f"{mark!r} is no mark; it must be one of {', '.join(MARKS)}")
        if len(note) > LONGEST_NOTE:
            raise BadInput(f"the note has {len(note):,} characters; it may have {LONGEST_NOTE:,}")
        with self._writing() as database:
            database.execute(
                "INSERT INTO marks (case_id, mark, note, at) VALUES (?, ?, ?, ?)", (case, mark, note, _now())
            )

    def history(self, case: str) -> list[Review]:
        """All that was said of a case, the latest first."""
        rows = self._rows("SELECT mark, note, at FROM marks WHERE case_id = ? ORDER BY id DESC", case)
        return [Review(*row) for row in rows]

    def current(self) -> dict[str, str]:
        """The mark of every case that has one."""
        latest = "SELECT max(id) FROM marks GROUP BY case_id"
        rows = self._rows(f"SELECT case_id, mark FROM marks WHERE id IN ({latest})")
        return {case: mark for case, mark in rows if mark in MARKS}

    def dismissed(self) -> dict[str, str]:
        """The cases that are said to be no failure, each with the reason."""
        return {
            case: self.history(case)[0].note or mark
            for case, mark in self.current().items()
            if mark in DISMISSING
        }

    def rate(self, case: str, rater: str, points: dict[str, int]) -> None:
        """Keep the points that a rater gives to each question; the last ones count."""
        rater = rater.strip()
        if not rater or len(rater) > LONGEST_NAME:
            raise BadInput(f"a rater has a name of 1 to {LONGEST_NAME} characters")
        with self._writing() as database:
            database.executemany(
                "INSERT OR REPLACE INTO ratings VALUES (?, ?, ?, ?, ?)",
                [(case, rater, question, value, _now()) for question, value in points.items()],
            )

    def ratings(self) -> list[Rating]:
        rows = self._rows("SELECT case_id, rater, question, points FROM ratings ORDER BY 1, 2, 3")
        return [Rating(*row) for row in rows]

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with (
            explain_errors(self._folder),
            contextlib.closing(sqlite3.connect(self._file, timeout=30)) as database,
        ):
            database.executescript(SCHEMA)
            with database:
                yield database

    def _rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        if not self._file.is_file():
            return []
        address = f"{self._file.resolve().as_uri()}?mode=ro"
        with (
            explain_errors(self._folder),
            contextlib.closing(sqlite3.connect(address, uri=True, timeout=30)) as database,
        ):
            return database.execute(query, values).fetchall()


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
