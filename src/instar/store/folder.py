"""A run folder on disk: its schema, how it is opened, and what is said when it cannot be used."""

from __future__ import annotations

import contextlib
import json
import platform
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

from instar.core.errors import RunError, RunVersion
from instar.core.system import describe_error
from instar.store.rows import dump_json

FORMAT = 2
WRITTEN_BY = {1: "0.1"}  # the versions of instar that read and write older formats
MALFORMED = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
APPLICATION = 0x1A57A2  # marks the SQLite file as ours

SCHEMA = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE systems (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE);
CREATE TABLE answers (
    system INTEGER NOT NULL, input BLOB NOT NULL, repeat INTEGER NOT NULL,
    answer BLOB, error TEXT, seconds REAL NOT NULL,
    PRIMARY KEY (system, input, repeat)
) WITHOUT ROWID;
CREATE TABLE sources (id TEXT PRIMARY KEY, scene TEXT NOT NULL, digest TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE skipped (scene TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE records (
    case_id TEXT PRIMARY KEY, scene TEXT NOT NULL, source TEXT NOT NULL, relation TEXT NOT NULL,
    ordinal INTEGER NOT NULL, role TEXT NOT NULL, status TEXT NOT NULL, kind TEXT NOT NULL,
    margin REAL, reason TEXT NOT NULL, queries INTEGER NOT NULL, naturalness REAL,
    change TEXT, words TEXT NOT NULL, findings TEXT NOT NULL, evidence TEXT NOT NULL, session INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE panels (case_id TEXT PRIMARY KEY, panels TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX records_by_status ON records (status, margin);
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
"""


def connect(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / "run.sqlite", timeout=30)


def connect_for_reading(folder: Path) -> sqlite3.Connection:
    """For looking only, also on a read-only disk, where SQLite cannot write its index beside the file.

    A missing file is not created.
    """
    address = (folder / "run.sqlite").resolve().as_uri()
    try:
        with contextlib.ExitStack() as undo:
            database = sqlite3.connect(f"{address}?mode=rw", uri=True, timeout=30)
            undo.callback(database.close)
            database.execute("PRAGMA schema_version")
            undo.pop_all()
            return database
    except sqlite3.OperationalError:
        log = folder / "run.sqlite-wal"
        if log.exists() and log.stat().st_size:
            raise  # what is in it could not be seen
        return sqlite3.connect(f"{address}?mode=ro&immutable=1", uri=True)


def use_write_ahead_log(database: sqlite3.Connection) -> None:
    database.execute("PRAGMA journal_mode = WAL")
    # In WAL mode this survives a killed process; a power cut may cost the last answers, never the file.
    database.execute("PRAGMA synchronous = NORMAL")


def require_format(folder: Path, database: sqlite3.Connection) -> None:
    application = database.execute("PRAGMA application_id").fetchone()[0]
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION:
        raise RunVersion(f"{folder / 'run.sqlite'} was not written by instar")
    if version != FORMAT:
        wrote = WRITTEN_BY.get(version)
        advice = f"instar {wrote} can read it" if wrote else "a newer instar wrote it (see provenance.json)"
        raise RunVersion(f"{folder} has run format {version} and this instar reads {FORMAT}; {advice}")


def require_same(folder: Path, was: Mapping[str, Any] | None, now: Mapping[str, Any]) -> None:
    now = json.loads(dump_json(dict(now)))
    for key in sorted({*(was or {}), *now}):
        before, after = (was or {}).get(key), now.get(key)
        if was is not None and before != after and key == "fingerprint":
            raise RunError(
                f"{folder} was begun with another version of {now.get('system')}: its source, files or "
                "settings have changed since; bring that one back, or choose another --out"
            )
        if was is not None and before != after:
            raise RunError(
                f"{folder} was begun with {key} {dump_json(before)}, not {dump_json(after)}; "
                "give the same again, or choose another --out"
            )


def this_session() -> dict[str, Any]:
    """When, where and with which versions a run was begun or resumed."""
    versions = {"python": platform.python_version()}
    for package in ("instar", "numpy", "opencv-python-headless", "onnxruntime"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return {
        "began": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "versions": versions,
        "machine": {"system": platform.platform(), "processor": platform.machine()},
    }


@contextlib.contextmanager
def explain_errors(folder: Path) -> Iterator[None]:
    """Say in one line what the file system or SQLite refused."""
    try:
        yield
    except sqlite3.Error as error:
        raise RunError(f"cannot use {folder}: {error}; {_advice(str(error))}") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise RunError(f"cannot use {folder}: {reason}; {_advice(reason)}") from error


@contextlib.contextmanager
def reading(folder: Path) -> Iterator[None]:
    """The same, also for rows that instar did not write. No user's code may run inside."""
    try:
        with explain_errors(folder):
            yield
    except (*MALFORMED, zlib.error) as error:
        raise RunError(f"cannot read {folder}: {describe_error(error)}; its run.sqlite is damaged") from error


def _advice(reason: str) -> str:
    text = reason.lower()
    if "full" in text or "space" in text or "too large" in text:
        return "free some space and go on with --resume"
    if "i/o error" in text:
        return "see whether the disk is full or failing, then go on with --resume"
    if "not a database" in text or "malformed" in text:
        return "it is damaged or not ours; choose another --out"
    return "choose another --out"
