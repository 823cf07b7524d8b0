"""What is in a run folder, for whoever looks at it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from instar.core.campaign import AnswerKey
from instar.core.change import Change, change_from_json
from instar.core.errors import BadInput, RunError
from instar.core.marks import Panel
from instar.core.record import Record, Totals
from instar.core.system import Reply
from instar.core.verdict import Status
from instar.store.answers import decode_answer
from instar.store.folder import reading
from instar.store.panels import PanelFolder
from instar.store.pictures import Pictures
from instar.store.rows import COLUMNS, load_json, record_from_row, totals_from_json
from instar.user_file import read_text

CHANGE = COLUMNS.index("change")


class StoredRun:
    """A run folder whose file is open; nothing here writes to it."""

    def __init__(self, folder: Path, database: sqlite3.Connection) -> None:
        self.folder = folder
        self.pictures = Pictures(folder / "pictures")
        self._panels = PanelFolder(folder / "pictures")
        self._database = database

    def answer(self, key: AnswerKey) -> Reply | None:
        with reading(self.folder):
            row = self._row(
                "SELECT answer, error, seconds FROM answers JOIN systems ON systems.id = answers.system"
                " WHERE fingerprint = ? AND input = ? AND repeat = ?",
                key.fingerprint, bytes.fromhex(key.input), key.repeat,
            )  # fmt: skip
            if row is None:
                return None
            data, error, seconds = row
            return Reply(None if data is None else decode_answer(data), error, seconds)

    def records(self, *, changes: bool = True) -> Iterator[Record]:
        """All records, in an order that no speed or number of workers changes.

        Without `changes` those are None, and the modules that define them need not be there.
        """
        with reading(self.folder):
            for row in self._rows("ORDER BY source, relation, role, ordinal"):
                yield record_from_row(row, change=changes)

    def counted(self) -> Iterator[tuple[Record, dict[str, Any]]]:
        """All records as counting needs them: without evidence of what held, so that a million of them are
        read in half the time, and with the change as JSON of what is violated.
        """
        with reading(self.folder):
            for row in self._rows("ORDER BY source, relation, role, ordinal"):
                record = record_from_row(row, change=False, held_evidence=False)
                recipe = row[CHANGE] if record.verdict.status is Status.VIOLATED else None
                yield record, load_json(recipe, dict) if recipe else {}

    def violated(self) -> Iterator[tuple[Record, dict[str, Any]]]:
        """The violated cases, each with its change as JSON: the modules that define it need not be there."""
        only = "WHERE status = 'violated' AND role = 'case'"
        with reading(self.folder):
            for row in self._rows(f"{only} ORDER BY source, relation, ordinal"):
                record, recipe = record_from_row(row, change=False), row[CHANGE]
                yield record, load_json(recipe, dict) if recipe else {}

    def judged(self) -> Iterator[tuple[Record, str]]:
        """The held and violated cases, each with its change as it is written."""
        with reading(self.folder):
            for row in self._rows("WHERE status IN ('held', 'violated') AND role = 'case'"):
                yield record_from_row(row, change=False), row[CHANGE] or ""

    def changes(self) -> Iterator[tuple[str, str, Change]]:
        """Relation, source and change of every case that has one, in the order they were tried."""
        only = "WHERE role = 'case' AND change IS NOT NULL"
        with reading(self.folder):
            for row in self._rows(f"{only} ORDER BY source, relation, ordinal"):
                record = record_from_row(row)
                if record.change is not None:
                    yield record.relation, record.source, record.change

    def tried(self) -> dict[tuple[str, str, Any], dict[str, int]]:
        """How many cases brought what (`label`) to which place: relation, source and `anchor`."""
        counts: dict[tuple[str, str, Any], dict[str, int]] = {}
        with reading(self.folder):
            # JSON of ours may have a NaN, which SQLite does not take for JSON.
            for relation, source, anchor, label, n in self._database.execute(
                "SELECT relation, source, json_extract(change, '$.anchor'), json_extract(change, '$.label'), "
                "count(*) FROM records WHERE role = 'case' AND json_valid(change) GROUP BY 1, 2, 3, 4"
            ):
                if isinstance(label, str):
                    counts.setdefault((relation, source, anchor), {})[label] = n
        return counts

    def levels(self) -> Iterator[tuple[str, str, float]]:
        """Case, relation and severity of the judged cases that have one."""
        with reading(self.folder):
            yield from self._database.execute(
                "SELECT case_id, relation, json_extract(evidence, '$.level') FROM records "
                "WHERE role = 'case' AND status IN ('held', 'violated') AND json_valid(evidence) "
                "AND json_type(evidence, '$.level') IN ('integer', 'real')"
            )

    def record(self, case: str, *, change: bool = True) -> Record:
        """The record of a case, which may be named by the beginning of its id."""
        if not (case and all(c in "0123456789abcdef" for c in case)):
            raise BadInput(f"{case!r} is no case id: those are made of 0-9 and a-f")
        with reading(self.folder):
            rows = list(self._rows("WHERE case_id >= ? AND case_id < ? LIMIT 2", (case, case + "g")))
            if not rows:
                raise BadInput(f"no case {case!r} in {self.folder}")
            if len(rows) > 1:
                raise BadInput(f"more than one case begins with {case!r}; give more digits")
            return record_from_row(rows[0], change=change)

    def panels(self, case: str) -> list[Panel] | None:
        """The pictures of a finding as they were kept; None for a case that has none."""
        with reading(self.folder):
            row = self._row("SELECT panels FROM panels WHERE case_id = ?", case)
            return self._panels.read(row[0]) if row is not None and row[0] else None

    def change_text(self, case: str) -> str:
        """The change of a case in words; empty where none was made."""
        with reading(self.folder):
            query = "SELECT words, change FROM records WHERE case_id = ?"
            words, recipe = self._row(query, case) or ("", None)
            if words or not recipe:
                return str(words)
            try:
                return str(change_from_json(load_json(recipe, dict)))
            except BadInput:  # the module that defines it is not there
                return str(recipe)

    def recipe(self, case: str) -> dict[str, Any]:
        """The change of a case as JSON, without the modules that define it; empty where none was made."""
        with reading(self.folder):
            row = self._row("SELECT change FROM records WHERE case_id = ?", case)
            return load_json(row[0], dict) if row is not None and row[0] else {}

    def totals(self) -> Totals | None:
        """The account as of the last stop, or of a few seconds ago; None before the first question."""
        with reading(self.folder):
            text = self._meta("totals")
            if text is None:
                return None
            # Of what the records rest on there may be more than at the last account.
            (scenes,) = self._database.execute("SELECT count(DISTINCT scene) FROM sources").fetchone()
            left_out = "SELECT count(*) FROM panels WHERE panels = ''"
            (pictures_left_out,) = self._database.execute(left_out).fetchone()
            remark = str(load_json(self._meta("identity") or "{}", dict).get("remark", ""))
            return totals_from_json(text, scenes=scenes, pictures_left_out=pictures_left_out, remark=remark)

    def source_digest(self, source: str) -> str | None:
        with reading(self.folder):
            row = self._row("SELECT digest FROM sources WHERE id = ?", source)
        return None if row is None else str(row[0])

    def fingerprint(self) -> str:
        """That of the system that was tested."""
        with reading(self.folder):
            return str(load_json(self._meta("identity") or "{}", dict).get("fingerprint", ""))

    def plan(self) -> str:
        """The text of RUN/plan.toml."""
        path = self.folder / "plan.toml"
        if not path.is_file():
            raise RunError(f"{path} is missing; the run was not made by the command line")
        return read_text(path, "plan")

    def _row(self, query: str, *values: Any) -> Any:
        return self._database.execute(query, values).fetchone()

    def _rows(self, rest: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        return iter(self._database.execute(f"SELECT {', '.join(COLUMNS)} FROM records {rest}", values))

    def _meta(self, name: str) -> str | None:
        row = self._row("SELECT value FROM meta WHERE name = ?", name)
        return None if row is None else str(row[0])
