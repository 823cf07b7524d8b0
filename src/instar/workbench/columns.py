"""The cases of one run as columns: a million of them are filtered, counted and ordered in milliseconds.

They are read once from the run file and kept beside it in `RUN/workbench.npz`, which may be deleted at any
time. Later readings fetch only what is new. Names (scenes, relations, kinds, reasons) are codes into a list
of words.
"""

from __future__ import annotations

import contextlib
import io
import json
import sqlite3
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.verdict import Finding
from instar.report.causes import worth_words
from instar.store.folder import connect_for_reading, explain_errors, require_format
from instar.store.rows import read_findings
from instar.user_file import write_whole

STATUSES = ("violated", "held", "inapplicable", "failed")
FILE = "workbench.npz"
LAYOUT = 5  # of that file; another number in it means: read the run again
NAMED = ("relation", "kind", "scene", "reason", "known")
ROW = np.dtype(
    [
        ("case", "S16"),
        ("is_null", bool),
        ("status", np.int8),
        *[(name, np.int32) for name in NAMED],
        ("margin", np.float64),
        ("plain", np.float64),
        ("naturalness", np.float32),
        ("level", np.float32),
    ]
)
FIELDS = (
    "case_id, role, status, relation, kind, scene, reason, "
    "CASE WHEN status = 'violated' THEN findings ELSE '' END, margin, naturalness, "
    "CASE WHEN json_valid(evidence) THEN json_extract(evidence, '$.level') END"
)
CHUNK = 20_000
FEW = 500  # case ids in one question to SQLite

Array = npt.NDArray[Any]
Stamp = tuple[int, ...]
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Rows of the kind `ROW`, ordered by case; `words` lists what the codes of each named column stand for.

    `is_null` marks changes that measure false alarms; those are no cases. `known` is what is known of the
    plainest finding, `plain` how plain that is (the margin where there is none), `level` how severe the
    change was. A number that is not known is NaN.
    """

    rows: Array
    words: Mapping[str, Sequence[str]]

    def __len__(self) -> int:
        return len(self.rows)


def stamp_of(folder: Path) -> Stamp:
    """What changes whenever the run file does: its size and time, and those of its log."""
    return _size_and_time(folder / "run.sqlite") + _size_and_time(folder / "run.sqlite-wal")


def _size_and_time(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return (status.st_size, status.st_mtime_ns) if status.st_size else (0, 0)


def read_columns(
    folder: Path, before: Columns | None = None, *, progress: Progress = lambda n: None
) -> Columns:
    """The run's columns as of now; `before` is what was read earlier, if anything was."""
    stamp = stamp_of(folder)
    if before is None:
        before, of = _load(folder) or (None, ())
        if before is not None and of == stamp:
            return before
    with explain_errors(folder), contextlib.closing(connect_for_reading(folder)) as database:
        database.execute("PRAGMA query_only = ON")
        require_format(folder, database)
        columns = _updated(database, before) if before is not None else None
        if columns is None:
            columns = _arranged(database.execute(f"SELECT {FIELDS} FROM records"), progress)
    if columns is not before:
        _save(folder, columns, stamp)
    return columns


def merge_words(one: Sequence[str], other: Sequence[str]) -> tuple[list[str], Array]:
    """The words of both, those of `one` first, and what each code of `other` becomes in that list."""
    codes = {word: code for code, word in enumerate(one)}
    recoded = np.array([codes.setdefault(word, len(codes)) for word in other], np.int32)
    return list(codes), recoded


def _updated(database: sqlite3.Connection, before: Columns) -> Columns | None:
    """What was read earlier with what changed since; None where reading all anew is less work."""
    # Answered from an index that has all three, without touching the rows themselves.
    rows = database.execute("SELECT case_id, status, margin FROM records").fetchall()
    if not (rows and len(before)):
        return None
    cases = np.array([row[0] for row in rows], dtype="S")
    status = np.array([STATUSES.index(row[1]) for row in rows], np.int8)
    margin = np.array([row[2] for row in rows], np.float64)  # None becomes NaN
    at = np.minimum(np.searchsorted(before.rows["case"], cases), len(before) - 1)
    there = before.rows[at]
    alike = (there["margin"] == margin) | (np.isnan(there["margin"]) & np.isnan(margin))
    known = (there["case"] == cases) & (there["status"] == status) & alike
    fresh = [case.decode() for case in cases[~known].tolist()]
    if not fresh and len(cases) == len(before):
        return before
    if len(fresh) > len(cases) // 3:
        return None
    added = _arranged(_rows_of(database, fresh))
    words = {}
    for name in NAMED:
        words[name], codes = merge_words(before.words[name], added.words[name])
        added.rows[name] = codes[added.rows[name]]
    return _ordered(np.concatenate([there[known], added.rows]), words)


def _rows_of(database: sqlite3.Connection, cases: Sequence[str]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(cases), FEW):
        some = cases[start : start + FEW]
        marks = ",".join("?" * len(some))
        yield from database.execute(f"SELECT {FIELDS} FROM records WHERE case_id IN ({marks})", some)


def _arranged(rows: Iterable[Sequence[Any]], progress: Progress = lambda n: None) -> Columns:
    """Rows of the run file as columns."""
    codes: dict[str, dict[str, int]] = {name: {} for name in NAMED}
    parts = [np.zeros(0, ROW)]
    rows = iter(rows)
    while chunk := list(islice(rows, CHUNK)):
        case, role, status, *named, findings, margin, naturalness, level = zip(*chunk)
        plainest = [_plainest(text) if text else None for text in findings]
        named.append(tuple("" if one is None else worth_words(one) for one in plainest))
        part = np.zeros(len(chunk), ROW)
        part["case"] = case
        part["is_null"] = [one == "null" for one in role]
        part["status"] = [STATUSES.index(one) for one in status]
        for name, words in zip(NAMED, named):
            part[name] = [codes[name].setdefault(word, len(codes[name])) for word in words]
        part["margin"] = np.array(margin, np.float64)  # None becomes NaN
        part["plain"] = [
            one if finding is None else finding.plainness[1] for one, finding in zip(part["margin"], plainest)
        ]
        part["naturalness"] = np.array(naturalness, np.float32)
        part["level"] = [one if isinstance(one, (int, float)) else np.nan for one in level]
        parts.append(part)
        progress(len(chunk))
    return _ordered(np.concatenate(parts), {name: list(codes[name]) for name in NAMED})


def _plainest(findings: str) -> Finding | None:
    return min(read_findings(findings), key=lambda finding: finding.plainness, default=None)


def _ordered(rows: Array, words: Mapping[str, Sequence[str]]) -> Columns:
    return Columns(rows[np.argsort(rows["case"], kind="stable")], words)


# --- kept beside the run ---------------------------------------------------------------------------


def _save(folder: Path, columns: Columns, stamp: Stamp) -> None:
    """Keep the columns; where the folder cannot be written to, they are read again next time."""
    told = json.dumps({"layout": LAYOUT, "stamp": stamp, "words": columns.words})
    file = io.BytesIO()
    np.savez(file, told=np.frombuffer(told.encode(), np.uint8), rows=columns.rows)
    with contextlib.suppress(OSError):
        write_whole(folder / FILE, file.getvalue())


def _load(folder: Path) -> tuple[Columns, Stamp] | None:
    """What was kept, and of which state of the run file; None where it is missing, old or damaged."""
    try:
        with open(folder / FILE, "rb") as bytes_, np.load(bytes_, allow_pickle=False) as file:
            told = json.loads(file["told"].tobytes())
            if told["layout"] != LAYOUT:
                return None
            words = {name: [str(word) for word in told["words"][name]] for name in NAMED}
            columns = Columns(file["rows"], words)
            return (columns, tuple(told["stamp"])) if _is_sound(columns) else None
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile):
        return None


def _is_sound(columns: Columns) -> bool:
    """Whether rows and words fit together; the file may come from somebody else."""
    rows = columns.rows
    if rows.dtype != ROW or rows.ndim != 1:
        return False
    most = {"status": len(STATUSES)} | {name: len(columns.words[name]) for name in NAMED}
    in_bounds = all(((rows[name] >= 0) & (rows[name] < bound)).all() for name, bound in most.items())
    return in_bounds and bool(np.all(rows["case"][1:] > rows["case"][:-1]))
