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
from instar.core.errors import BadInput, InstarError, RunExists, SceneChanged, TooManyFailures
from instar.core.marks import Panel
from instar.core.record import Record, Skipped, Source, Totals
from instar.core.system import Reply
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
)
from instar.store.lock import RunLock
from instar.store.memory import encode_reply
from instar.store.rows import COLUMNS, dump_json, load_json, row_from_record
from instar.store.stored_run import StoredRun
from instar.user_file import write_whole


class RunStore(StoredRun):
    """A run folder, open for writing (`create`, `resume`) or for reading (`read`)."""

    def __init__(self, folder: Path, database: sqlite3.Connection, lock: RunLock | None) -> None:
        super().__init__(folder, database)
        self._lock = lock
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

    # --- inside --------------------------------------------------------------------------------

    def _system_id(self, fingerprint: str) -> int:
        if fingerprint not in self._systems:
            with explain_errors(self.folder):
                self._database.execute(
                    "INSERT OR IGNORE INTO systems (fingerprint) VALUES (?)", (fingerprint,)
                )
                (id,) = self._row("SELECT id FROM systems WHERE fingerprint = ?", fingerprint)
            self._systems[fingerprint] = int(id)
        return self._systems[fingerprint]

    def _has_answers(self) -> bool:
        with explain_errors(self.folder):
            return self._database.execute("SELECT 1 FROM answers LIMIT 1").fetchone() is not None

    def _set_meta(self, name: str, value: str) -> None:
        self._database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction: all of it, or none."""
        with explain_errors(self.folder), self._database:
            yield
