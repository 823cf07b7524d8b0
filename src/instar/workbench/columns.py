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
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.store.folder import connect_for_reading, plainly, require_format, write_whole

__all__ = ["STATUSES", "Columns", "Stamp", "read_columns", "stamp_of"]

STATUSES = ("violated", "held", "inapplicable", "failed")
FILE = "workbench.npz"
LAYOUT = 2  # of that file; another number in it means: read the run again
NAMED = ("relation", "kind", "scene", "reason")
ARRAYS = ("case", "is_null", "status", *NAMED, "margin", "naturalness")
FIELDS = "case_id, role, status, relation, kind, scene, reason, margin, naturalness"
CHUNK = 20_000
FEW = 500  # case ids in one question to SQLite

Array = npt.NDArray[Any]
Stamp = tuple[int, ...]
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Arrays of one length, ordered by case. `words` lists, for each named column, what its codes stand for.

    `is_null` marks changes that measure false alarms; those are no cases. A margin or naturalness that is
    not known is NaN.
    """

    case: Array
    is_null: Array
    status: Array
    relation: Array
    kind: Array
    scene: Array
    reason: Array
    margin: Array
    naturalness: Array
    words: Mapping[str, Sequence[str]]

    def __len__(self) -> int:
        return len(self.case)


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
        kept = _load(folder)
        if kept is not None:
            known, of = kept
            if of == stamp:
                return known
            before = known
    with plainly(folder):
        database = connect_for_reading(folder)
        try:
            database.execute("PRAGMA query_only = ON")
            require_format(folder, database)
            columns = _updated(database, before) if before is not None else None
            if columns is None:
                columns = _arranged(database.execute(f"SELECT {FIELDS} FROM records"), progress)
        finally:
            database.close()
    if columns is not before:
        _save(folder, columns, stamp)
    return columns


def _updated(database: sqlite3.Connection, before: Columns) -> Columns | None:
    """What was read earlier with what changed since; None where reading all anew is less work."""
    # Answered from an index that has all three, without touching the rows themselves.
    rows = database.execute("SELECT case_id, status, margin FROM records").fetchall()
    if not rows:
        return _arranged(iter(()))
    cases = np.array([row[0] for row in rows], dtype="S")
    status = np.array([STATUSES.index(row[1]) for row in rows], np.int8)
    margin = np.array([np.nan if row[2] is None else row[2] for row in rows], np.float64)
    at = np.minimum(np.searchsorted(before.case, cases), max(len(before) - 1, 0))
    if len(before):
        known = before.case[at] == cases
        alike = (before.margin[at] == margin) | (np.isnan(before.margin[at]) & np.isnan(margin))
        known &= (before.status[at] == status) & alike
    else:
        known = np.zeros(len(cases), bool)
    fresh = [case.decode() for case in cases[~known].tolist()]
    if not fresh and len(cases) == len(before):
        return before
    if len(fresh) > len(cases) // 3:
        return None
    kept = np.sort(at[known])
    return _joined(_taken(before, kept), _arranged(_rows_of(database, fresh)))


def _rows_of(database: sqlite3.Connection, cases: Sequence[str]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(cases), FEW):
        some = cases[start : start + FEW]
        marks = ",".join("?" * len(some))
        yield from database.execute(f"SELECT {FIELDS} FROM records WHERE case_id IN ({marks})", some)


def _arranged(rows: Iterable[Sequence[Any]], progress: Progress = lambda n: None) -> Columns:
    """Rows of the run file as columns."""
    codes: dict[str, dict[str, int]] = {name: {} for name in NAMED}
    parts: list[tuple[Array, ...]] = []
    rows = iter(rows)
    while chunk := [row for row, _ in zip(rows, range(CHUNK))]:
        case, role, status, *named, margin, naturalness = zip(*chunk)
        coded = [
            np.array([codes[name].setdefault(word, len(codes[name])) for word in words], np.int32)
            for name, words in zip(NAMED, named)
        ]
        parts.append(
            (
                np.array(case, dtype="S"),
                np.array([r == "null" for r in role]),
                np.array([STATUSES.index(s) for s in status], np.int8),
                *coded,
                np.array(margin, np.float64),  # None becomes NaN
                np.array(naturalness, np.float32),
            )
        )
        progress(len(chunk))
    words = {name: list(codes[name]) for name in NAMED}
    if not parts:
        return _empty(words)
    arrays = [np.concatenate(column) for column in zip(*parts)]
    order = np.argsort(arrays[0], kind="stable")
    return _of([array[order] for array in arrays], words)


def _empty(words: Mapping[str, Sequence[str]]) -> Columns:
    kinds: list[npt.DTypeLike] = ["S16", bool, np.int8, *[np.int32] * len(NAMED), np.float64, np.float32]
    return _of([np.zeros(0, kind) for kind in kinds], words)


def _of(arrays: Sequence[Array], words: Mapping[str, Sequence[str]]) -> Columns:
    """Columns of arrays in the order of `ARRAYS`."""
    return Columns(**dict(zip(ARRAYS, arrays)), words=words)


def _taken(columns: Columns, rows: Array) -> Columns:
    return _of([getattr(columns, name)[rows] for name in ARRAYS], columns.words)


def _joined(one: Columns, other: Columns) -> Columns:
    words, arrays = {}, {}
    for name in ARRAYS:
        added = getattr(other, name)
        if name in NAMED:
            codes = {word: code for code, word in enumerate(one.words[name])}
            new = [codes.setdefault(word, len(codes)) for word in other.words[name]]
            words[name] = list(codes)
            added = np.array(new, np.int32)[added] if new else added
        arrays[name] = np.concatenate([getattr(one, name), added])
    order = np.argsort(arrays["case"], kind="stable")
    return Columns(**{name: array[order] for name, array in arrays.items()}, words=words)


# --- kept beside the run ---------------------------------------------------------------------------


def _save(folder: Path, columns: Columns, stamp: Stamp) -> None:
    """Keep the columns; where the folder cannot be written to, they are read again next time."""
    told = json.dumps(
        {"layout": LAYOUT, "stamp": stamp, "words": {k: list(v) for k, v in columns.words.items()}}
    )
    arrays = {name: getattr(columns, name) for name in ARRAYS}
    file = io.BytesIO()
    np.savez(file, told=np.frombuffer(told.encode(), np.uint8), **arrays)
    with contextlib.suppress(OSError):
        write_whole(folder / FILE, file.getvalue())


def _load(folder: Path) -> tuple[Columns, Stamp] | None:
    """What was kept, and of which state of the run file; None where it is missing, old or damaged."""
    try:
        with open(folder / FILE, "rb") as bytes_, np.load(bytes_, allow_pickle=False) as file:
            told = json.loads(file["told"].tobytes())
            if told["layout"] != LAYOUT:
                return None
            arrays = {name: file[name] for name in ARRAYS}
            words = {name: [str(word) for word in told["words"][name]] for name in NAMED}
            columns = Columns(**arrays, words=words)
            return (columns, tuple(told["stamp"])) if _is_sound(columns) else None
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile):
        return None


def _is_sound(columns: Columns) -> bool:
    """Whether the arrays fit together; the file may come from somebody else."""
    arrays = [getattr(columns, name) for name in ARRAYS]
    wanted = _empty(columns.words)
    same_kind = all(a.dtype.kind == getattr(wanted, n).dtype.kind for a, n in zip(arrays, ARRAYS))
    if not same_kind or {a.shape for a in arrays} != {(len(columns.case),)}:
        return False
    bounds = chain(
        [(columns.status, len(STATUSES))],
        ((getattr(columns, name), len(columns.words[name])) for name in NAMED),
    )
    in_bounds = all(not a.size or (int(a.min()) >= 0 and int(a.max()) < most) for a, most in bounds)
    return in_bounds and bool(np.all(columns.case[1:] > columns.case[:-1]))
