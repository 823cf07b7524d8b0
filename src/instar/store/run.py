"""The run folder: one SQLite file that a killed process leaves whole, and pictures beside it.

RUN/run.sqlite       answers, records, sources, totals
RUN/plan.toml        what was asked
RUN/provenance.json  versions, fingerprints, seed, machine
RUN/pictures/        cut-outs, and the pictures of findings, by content hash
RUN/pool/, ...       what relations collected from the scenes before they began
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.campaign import AnswerKey
from instar.core.change import Change, change_from_json
from instar.core.errors import (
    BadInput,
    InstarError,
    RunError,
    RunExists,
    SceneChanged,
    TooManyFailures,
)
from instar.core.marks import Panel
from instar.core.record import Record, Skipped, Source, Totals
from instar.core.system import Reply
from instar.store.answers import decode_answer
from instar.store.folder import (
    FORMAT,
    SCHEMA,
    connect,
    connect_for_reading,
    explain_errors,
    reading,
    require_format,
    require_same,
    this_session,
    use_write_ahead_log,
    write_whole,
)
from instar.store.lock import RunLock
from instar.store.memory import encode_reply
from instar.store.panels import PanelFolder
from instar.store.pictures import Pictures
from instar.store.rows import (
    COLUMNS,
    dump_json,
    load_json,
    record_from_row,
    row_from_record,
    totals_from_json,
)
from instar.user_file import read_text

UNKNOWN = -1  # a system that the run has no answers of


class RunStore:
    """A run folder, open for writing (`create`, `resume`) or for reading (`read`)."""

    def __init__(self, folder: Path, database: sqlite3.Connection, lock: RunLock | None) -> None:
        self.folder = folder
        self.pictures = Pictures(folder / "pictures")
        self._panels = PanelFolder(folder / "pictures")
        self._database, self._lock = database, lock
        self._systems: dict[str, int] = {}
        self._session = int(self._meta("session") or 0)

    # --- opening and closing -------------------------------------------------------------------

    @classmethod
    def create(cls, folder: Path | str, *, identity: Mapping[str, Any]) -> RunStore:
        """A new run. `identity` is what a resumed run must agree with: seed, system, relations, ..."""
        folder = Path(folder)
        if (folder / "run.sqlite").exists():
            raise RunExists(f"{folder} holds a run already; go on with --resume, or choose another --out")
        with explain_errors(folder):
            # A process that was killed before it had begun leaves its lock file.
            if folder.exists() and (not folder.is_dir() or {p.name for p in folder.iterdir()} - {"lock"}):
                raise RunExists(f"{folder} is there already and is no run; choose another --out")
            folder.mkdir(parents=True, exist_ok=True)
            return cls._open(folder, identity)

    @classmethod
    def resume(cls, folder: Path | str, *, identity: Mapping[str, Any]) -> RunStore:
        """The run there is, or a new one where there is none."""
        folder = Path(folder)
        if not (folder / "run.sqlite").exists():
            return cls.create(folder, identity=identity)
        with explain_errors(folder):
            return cls._open(folder, identity)

    @classmethod
    def _open(cls, folder: Path, identity: Mapping[str, Any]) -> RunStore:
        with contextlib.ExitStack() as undo:
            lock = RunLock(folder / "lock")
            undo.callback(lock.release)
            database = connect(folder)
            undo.callback(database.close)
            if not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                # One transaction: a process killed meanwhile leaves an empty file, never half a run.
                database.executescript(f"BEGIN; {SCHEMA} COMMIT;")
            require_format(folder, database)
            use_write_ahead_log(database)
            store = cls(folder, database, lock)
            with reading(folder):
                was = store._meta("identity")
                require_same(folder, None if was is None else load_json(was, dict), identity)
                store._begin(identity)
            undo.pop_all()
            return store

    @classmethod
    def read(cls, folder: Path | str) -> RunStore:
        """The run as it is now, for looking only; a campaign may be writing to it meanwhile."""
        folder = Path(folder)
        if not (folder / "run.sqlite").is_file():
            raise BadInput(f"{folder} is no run folder: it has no run.sqlite")
        with reading(folder), contextlib.ExitStack() as undo:
            database = connect_for_reading(folder)
            undo.callback(database.close)
            database.execute("PRAGMA query_only = ON")
            require_format(folder, database)
            store = cls(folder, database, None)
            undo.pop_all()
            return store

    def close(self) -> None:
        with contextlib.ExitStack() as closing, explain_errors(self.folder):
            if self._lock is not None:
                closing.callback(self._lock.release)
            closing.callback(self._database.close)
            self._database.commit()

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, _: object, error: BaseException | None, traceback: object) -> None:
        refused = isinstance(error, InstarError) and not isinstance(error, TooManyFailures)
        ours_alone = self._lock is not None and self._session == 1  # neither reading nor resumed
        unused = refused and ours_alone and not self._has_answers()
        self.close()
        if unused:  # nothing had been asked: leave nothing half-made behind
            shutil.rmtree(self.folder, ignore_errors=True)

    def _begin(self, identity: Mapping[str, Any]) -> None:
        self._session += 1
        with self._writing():
            self._set_meta("identity", dump_json(dict(identity)))
            self._set_meta("session", str(self._session))
            # What failed may succeed now: a service is back, a package was installed.
            self._database.execute("DELETE FROM answers WHERE error IS NOT NULL")
            sessions = [*load_json(self._meta("sessions") or "[]", list), this_session()]
            self._set_meta("sessions", dump_json(sessions))
        provenance = json.loads(dump_json(dict(identity))) | {"format": FORMAT, "sessions": sessions}
        write_whole(self.folder / "provenance.json", json.dumps(provenance, indent=2) + "\n")

    # --- what a campaign writes (see instar.core.campaign.Store) ------------------------------------

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

    def keep_answers(self, replies: Sequence[tuple[AnswerKey, Reply]]) -> list[Reply]:
        rows, read = [], []
        for key, reply in replies:
            data, as_read = encode_reply(reply)
            system = self._system_id(key.fingerprint)
            rows.append((system, bytes.fromhex(key.input), key.repeat, data, as_read.error, as_read.seconds))
            read.append(as_read)
        with self._writing():
            self._database.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?)", rows)
        return read

    def forget_answers(self, keys: Sequence[AnswerKey]) -> None:
        with self._writing():
            self._database.executemany(
                "DELETE FROM answers WHERE system = ? AND input = ? AND repeat = ?",
                [(self._system_id(k.fingerprint), bytes.fromhex(k.input), k.repeat) for k in keys],
            )

    def keep_records(self, records: Sequence[Record]) -> None:
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        with explain_errors(self.folder):  # committed with the next answers: records follow from them
            self._database.executemany(
                f"INSERT OR REPLACE INTO records VALUES ({marks})",
                [(*row_from_record(record), self._session) for record in records],
            )

    def keep_source(self, source: Source) -> None:
        known = self.source_digest(source.id)
        if known is None:
            with explain_errors(self.folder):
                self._database.execute(
                    "INSERT INTO sources VALUES (?, ?, ?)", (source.id, source.scene, source.digest)
                )
        elif known != source.digest:
            raise SceneChanged(
                f"{source.id} is not the picture that {self.folder} was begun with; start a new run"
            )

    def keep_skipped(self, skipped: Skipped) -> None:
        with explain_errors(self.folder):
            self._database.execute(
                "INSERT OR REPLACE INTO skipped VALUES (?, ?)", (skipped.scene, skipped.reason)
            )

    def keep_picture(self, digest: str, pixels: npt.NDArray[np.uint8]) -> None:
        with explain_errors(self.folder):
            self._panels.spend(self.pictures.keep(digest, pixels))

    def keep_panels(self, case: str, panels: Sequence[Panel], *, exact: bool) -> None:
        with explain_errors(self.folder):
            told = self._panels.keep(panels, exact=exact)
            self._database.execute("INSERT OR REPLACE INTO panels VALUES (?, ?)", (case, told))

    def limit_pictures(self, most: int) -> None:
        """Let pictures take so many bytes; those of findings beyond that are left out."""
        with explain_errors(self.folder):
            self._panels.limit(most)

    def keep_totals(self, totals: Totals) -> None:
        """The account so far; a session that was cut short does not replace one that had come further."""
        before = self.totals()
        if before is not None and not totals.finished and before.queries > totals.queries:
            totals = dataclasses.replace(before, finished=False)
        with self._writing():
            self._set_meta("totals", dump_json(dataclasses.asdict(totals)))
            if totals.finished:
                # What an earlier session wrote under other limits and this one did not is no part of it.
                self._database.execute("DELETE FROM records WHERE session < ?", (self._session,))
                self._database.execute(
                    "DELETE FROM panels WHERE case_id NOT IN"
                    " (SELECT case_id FROM records WHERE status = 'violated')"
                )

    def keep_plan(self, toml: str) -> None:
        with explain_errors(self.folder):
            write_whole(self.folder / "plan.toml", toml)

    # --- what others read ----------------------------------------------------------------------

    def records(self, *, changes: bool = True, held_evidence: bool = True) -> Iterator[Record]:
        """All records, in an order that no speed or number of workers changes.

        Without `changes` those are None, and the modules that define them need not be there. Counting needs
        no evidence of cases that held; without `held_evidence` a million of them are read in half the time.
        """
        with reading(self.folder):
            for row in self._rows("ORDER BY source, relation, role, ordinal"):
                yield record_from_row(row, change=changes, held_evidence=held_evidence)

    def violated(self) -> Iterator[tuple[Record, dict[str, Any]]]:
        """The violated cases, each with its change as JSON: the modules that define it need not be there."""
        only = "WHERE status = 'violated' AND role = 'case'"
        with reading(self.folder):
            for row in self._rows(f"{only} ORDER BY source, relation, ordinal"):
                record, recipe = record_from_row(row, change=False), row[COLUMNS.index("change")]
                yield record, load_json(recipe, dict) if recipe else {}

    def judged(self) -> Iterator[tuple[Record, str]]:
        """The held and violated cases, each with its change as it is written."""
        with reading(self.folder):
            for row in self._rows("WHERE status IN ('held', 'violated') AND role = 'case'"):
                yield record_from_row(row, change=False), row[COLUMNS.index("change")] or ""

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

    # --- inside --------------------------------------------------------------------------------

    def _row(self, query: str, *values: Any) -> Any:
        return self._database.execute(query, values).fetchone()

    def _rows(self, rest: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        return iter(self._database.execute(f"SELECT {', '.join(COLUMNS)} FROM records {rest}", values))

    def _system_id(self, fingerprint: str) -> int:
        if fingerprint not in self._systems:
            with explain_errors(self.folder):
                if self._lock is not None:
                    self._database.execute(
                        "INSERT OR IGNORE INTO systems (fingerprint) VALUES (?)", (fingerprint,)
                    )
                row = self._database.execute(
                    "SELECT id FROM systems WHERE fingerprint = ?", (fingerprint,)
                ).fetchone()
            if row is None:
                return UNKNOWN
            self._systems[fingerprint] = int(row[0])
        return self._systems[fingerprint]

    def _has_answers(self) -> bool:
        with explain_errors(self.folder):
            return self._database.execute("SELECT 1 FROM answers LIMIT 1").fetchone() is not None

    def _meta(self, name: str) -> str | None:
        row = self._row("SELECT value FROM meta WHERE name = ?", name)
        return None if row is None else str(row[0])

    def _set_meta(self, name: str, value: str) -> None:
        self._database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction: all of it, or none."""
        with explain_errors(self.folder), self._database:
            yield
