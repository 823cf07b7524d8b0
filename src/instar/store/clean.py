"""What takes up space in run folders, and how to free it.

Only files that instar writes are ever removed: whatever else lies in a run folder stays, and so do runs that
lie in it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from instar.core.errors import RunError, RunLocked
from instar.store.folder import connect, connect_for_reading, explain_errors, require_format
from instar.store.lock import RunLock

PARTS = ("answers", "records", "pictures", "rest")
DEEPEST = 4  # folders below the given one in which runs are looked for
DATABASE = ("run.sqlite", "run.sqlite-wal", "run.sqlite-shm")
DRAWN = ("replays", "shrunk")  # what `instar replay` and `instar shrink` draw
OURS = (
    "plan.toml", "provenance.json", "pictures", *DRAWN, "pool", "gallery", "outlines", "objects.json",
    "marks.sqlite", "marks.sqlite-wal", "marks.sqlite-shm", "workbench.npz", "workbench-groups.json",
    "ratings.html",
    *DATABASE,
)  # fmt: skip
"""Everything that instar writes into a run folder, but for the lock; last what makes it one."""
SIZE = "ifnull(length(answer), 0) + ifnull(length(error), 0) + length(input) + 16"
CASE = re.compile(r"[0-9a-f]{16}\.png")
PICTURE = re.compile(r"[0-9a-f]{32,}\.(jpg|png)")


@dataclass(frozen=True, slots=True)
class Space:
    """A run folder, the bytes in each of `PARTS`, and when it was last written to (seconds since 1970)."""

    folder: Path
    system: str
    sizes: dict[str, int]
    removable: dict[str, int]
    """What cleaning "pictures", "answers" or "all" would give back; of answers about so much."""
    written: float


def find_runs(folder: Path) -> list[Path]:
    """The folder where it is a run, or else the runs below it; links are not followed."""
    if _has_run_file(folder):
        return [folder]
    found = []
    for here, below, _ in os.walk(folder):
        if _has_run_file(Path(here)):
            found.append(Path(here))
        depth = len(Path(here).relative_to(folder).parts)
        below[:] = [] if depth >= DEEPEST else sorted(name for name in below if not name.startswith("."))
    return found


def measure_run(folder: Path) -> Space:
    """The space that a run takes; refused where it is none of ours, or of another format."""
    with explain_errors(folder):
        with contextlib.closing(connect_for_reading(folder)) as database:
            require_format(folder, database)
            (answers,) = database.execute(f"SELECT ifnull(sum({SIZE}), 0) FROM answers").fetchone()
            row = database.execute("SELECT value FROM meta WHERE name = 'identity'").fetchone()
            pictures = _size(_pictures_of_findings(folder, database))
        # Only now: while it is open, SQLite has files of its own beside it.
        file, whole = _size(folder / name for name in DATABASE), _size(_files(folder))
        kept = _size(_files(folder / "pictures"))
        ours = _size(path for name in OURS for path in _files(folder / name))
        answers = min(answers, file)
        return Space(
            folder,
            system=str(json.loads(row[0]).get("system", "")) if row is not None else "",
            sizes=dict(zip(PARTS, (answers, file - answers, kept, whole - file - kept))),
            removable={"pictures": pictures, "answers": answers, "all": ours},
            written=max(os.path.getmtime(path) for name in DATABASE if (path := folder / name).is_file()),
        )


@contextlib.contextmanager
def hold_runs(folders: Iterable[Path]) -> Iterator[None]:
    """Lock the runs against other writers; refused where one is being written."""
    with contextlib.ExitStack() as held:
        for folder in folders:
            held.callback(_lock(folder).release)
        yield


def clean_run(folder: Path, what: str) -> int:
    """Remove "pictures", "answers" or "all" of a run that is held; the bytes that this gave back."""
    with explain_errors(folder):
        before = _size(_files(folder))
        with contextlib.closing(connect(folder)) as database:
            require_format(folder, database)
            if what == "pictures":
                for path in _pictures_of_findings(folder, database):
                    path.unlink(missing_ok=True)
                _empty(database, "panels")
            elif what == "answers":
                _empty(database, "answers")
        if what == "all":
            for name in OURS:
                _remove(folder / name)
        size = before - _size(_files(folder))
        if what == "all":
            _remove(folder / "lock")
            with contextlib.suppress(OSError):  # something else lies in it
                folder.rmdir()
        return size


def _has_run_file(folder: Path) -> bool:
    file = folder / "run.sqlite"
    return file.is_file() and not file.is_symlink()


def _lock(folder: Path) -> RunLock:
    try:
        with explain_errors(folder):
            return RunLock(folder / "lock")
    except RunLocked:
        raise RunLocked(f"{folder} is being written by another process; wait for it") from None


def _empty(database: sqlite3.Connection, table: str) -> None:
    database.execute(f"DELETE FROM {table}")
    database.commit()
    database.execute("VACUUM")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _pictures_of_findings(folder: Path, database: sqlite3.Connection) -> set[Path]:
    """Pictures that are only looked at; not cut-outs, from which cases are made again."""
    found = {path for name in DRAWN for path in _files(folder / name) if CASE.fullmatch(path.name)}
    lines = (line for (line,) in database.execute("SELECT panels FROM panels WHERE panels != ''"))
    try:
        panels = [one for line in lines for one in json.loads(line)]
        named = {str(one[key]) for one in panels for key in ("picture", "heat") if key in one}
    except (ValueError, TypeError) as error:
        raise RunError(f"{folder} is damaged: a list of pictures cannot be read ({error})") from None
    for path in _files(folder / "pictures"):
        if PICTURE.fullmatch(path.name) and (path.suffix == ".jpg" or path.name in named):
            found.add(path)
    return found


def _files(path: Path) -> Iterator[Path]:
    """The file itself, or all files in the folder but for runs in it; links are not followed."""
    if path.is_symlink():
        return
    if path.is_file():
        yield path
    for here, below, names in os.walk(path):
        below[:] = [name for name in below if not (Path(here) / name / "run.sqlite").is_file()]
        yield from (one for name in names if not (one := Path(here) / name).is_symlink())


def _size(paths: Iterable[Path]) -> int:
    size = 0
    for path in paths:
        with contextlib.suppress(OSError):  # gone meanwhile
            size += path.stat().st_size
    return size


def _remove(path: Path) -> None:
    """A file, a link or a folder; never what a link points to."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)
