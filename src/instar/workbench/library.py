"""The runs in a folder: found, read into one table, and kept up to date while campaigns write to them.

A request only ever reads the table that is ready; whatever takes longer happens on a thread of its own, and
grouping by cause in a process of its own.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from instar.core.record import Totals
from instar.store import RunStore
from instar.store.marks import DISMISSING, Marks
from instar.workbench import NotHere
from instar.workbench.columns import STATUSES, Columns, Stamp, read_columns, stamp_of
from instar.workbench.groups import group_run
from instar.workbench.table import CaseTable, Groups, Part, make_case_table

DEEPEST = 4  # folders below the given one in which runs are looked for
LOOK_SECONDS = 1.0
QUIET_SECONDS = 3.0  # without a new record before a run is grouped again
REST = 5  # times as long as reading took, a run is left alone

ShowProgress = Callable[[str, int | None], AbstractContextManager[Any]]


@dataclass(eq=False)
class LibraryRun:
    """A run folder and what was last read of it."""

    name: str
    folder: Path
    columns: Columns | None = None
    totals: Totals | None = None
    system: str = ""
    groups: Groups = field(default_factory=Groups)
    marked: dict[str, str] = field(default_factory=dict)
    problem: str = ""
    changed_at: float = -1e9
    """When a record was last seen to be new, by the monotonic clock."""
    identity: Stamp = ()
    """Another one where the folder was removed and made anew."""
    _stamp: Stamp = ()
    _marks_stamp: int = 0
    _violations: str = ""
    _not_before: float = 0.0
    _grouping: Future[Groups] | None = None
    _was_broken_off: bool = False

    @property
    def marks(self) -> Marks:
        return Marks(self.folder)

    @property
    def task(self) -> str:
        return "" if self.totals is None else self.totals.task

    def counts(self) -> dict[str, int]:
        """Cases by status."""
        if self.columns is None:
            return dict.fromkeys(STATUSES, 0)
        rows = self.columns.rows
        counts = np.bincount(rows["status"][~rows["is_null"]], minlength=len(STATUSES))
        return dict(zip(STATUSES, counts.tolist()))


class Library:
    """All runs below a folder; `table` is their cases as of a moment ago."""

    def __init__(self, root: Path, *, workers: Executor) -> None:
        self.root = root.resolve()
        self.runs: dict[str, LibraryRun] = {}
        self.table: CaseTable = make_case_table([])
        self._workers = workers
        self._working = threading.Lock()
        self._marking = threading.Lock()  # never held for long, so that a mark does not wait for a reading
        self._just_said: list[tuple[str, str, str]] = []
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def run(self, name: str) -> LibraryRun:
        """The run of that name, which must be one that was found: no name leads out of the folder."""
        if name not in self.runs:
            self.look()
        if name not in self.runs:
            raise NotHere(f"there is no run {name[:200]!r} here")
        return self.runs[name]

    def readable_runs(self) -> list[LibraryRun]:
        return [run for run in self.runs.values() if run.columns is not None]

    def load(self, show: ShowProgress) -> None:
        """The first reading of all runs, with progress for those that are not prepared yet."""
        with self._working:
            self._find()
            for run in self.runs.values():
                with show(f"reading {run.name}", None) as steps:
                    self._read(run, steps.advance)
            self._rebuild()
            self._group(at_once=True)

    def look(self, at: str = "") -> None:
        """Read what has changed since the last look; the run `at` however recently it was read."""
        with self._working:
            changed = self._find()
            now = time.monotonic()
            for run in list(self.runs.values()):
                if now >= run._not_before or run.name == at:
                    changed |= self._read(run)
            changed |= self._group()
            if changed:
                self._rebuild()

    def watch(self) -> None:
        """Look again and again, until `close`."""
        self._thread = threading.Thread(target=self._watch, name="library", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=10)
        self._workers.shutdown(wait=False, cancel_futures=True)

    def mark(self, run: LibraryRun, case: str, mark: str, note: str) -> None:
        """Keep a mark, and show it at once, also in the table that may just be made."""
        with self._marking:
            run.marks.add(case, mark, note)
            others = {c: m for c, m in run.marked.items() if c != case}
            run.marked = others | {case: mark} if mark else others
            self.table.mark(run.name, case, mark)
            self._just_said.append((run.name, case, mark))

    # --- inside --------------------------------------------------------------------------------

    def _watch(self) -> None:
        while not self._stop.wait(LOOK_SECONDS):
            with contextlib.suppress(Exception):  # whatever it was, it may have passed at the next look
                self.look()

    def _find(self) -> bool:
        found = dict(_runs_below(self.root))
        gone = self.runs.keys() - found.keys()
        new = found.keys() - self.runs.keys()
        kept = {
            name: self.runs.get(name) or LibraryRun(name, folder) for name, folder in sorted(found.items())
        }
        if gone or new:
            self.runs = kept
        return bool(gone or new)

    def _read(self, run: LibraryRun, advance: Callable[[int], None] = lambda n: None) -> bool:
        stamp, marks_stamp = stamp_of(run.folder), _time_of(run.folder / "marks.sqlite")
        changed = False
        if stamp != run._stamp:
            began = time.monotonic()
            run.identity = _identity_of(run.folder)
            try:
                before = run.columns
                with RunStore.read(run.folder) as store:  # first: what is finished then has all its cases
                    totals = store.totals()
                run.columns = read_columns(run.folder, before, progress=advance)
                run.totals = totals
                run.problem = ""
                if before is not None and run.columns is not before:
                    run.changed_at = time.monotonic()
            except Exception as error:  # whatever is in the file of one run, the others are shown
                run.columns, run.problem = None, str(error) or type(error).__name__
            run.system = run.totals.system if run.totals is not None else _system_in(run.folder)
            run._stamp, changed = stamp, True
            now = time.monotonic()
            run._not_before = now + REST * (now - began)
        if marks_stamp != run._marks_stamp:
            with self._marking:
                run.marked, run._marks_stamp, changed = run.marks.current(), marks_stamp, True
        return changed

    def _group(self, *, at_once: bool = False) -> bool:
        """Collect the groups that are ready, and begin with those that are to be made."""
        changed = False
        for run in self.runs.values():
            if run._grouping is not None and run._grouping.done():
                problem = run._grouping.exception()
                if problem is None:
                    run.groups, changed = run._grouping.result(), True
                elif isinstance(problem, BrokenExecutor) and not run._was_broken_off:
                    run._was_broken_off, run._violations = True, ""  # once more, and no oftener
                run._grouping = None
            is_quiet = at_once or time.monotonic() - run.changed_at > QUIET_SECONDS
            if run._grouping is None and run.columns is not None and is_quiet:
                rows = run.columns.rows
                violated = rows[(rows["status"] == 0) & ~rows["is_null"]]
                seen = violated["case"].tobytes() + violated["margin"].tobytes()
                said = sorted(case for case, mark in run.marked.items() if mark in DISMISSING)
                content = hashlib.sha256(seen + "".join(said).encode()).hexdigest()
                if content != run._violations:
                    run._violations = content
                    run._grouping = self._workers.submit(group_run, str(run.folder), content)
        return changed

    def _rebuild(self) -> None:
        with self._marking:
            self._just_said.clear()
            parts = [
                Part(run.name, run.system, run.task, run.columns, run.groups, run.marked)
                for run in self.runs.values()
                if run.columns is not None
            ]
        table = make_case_table(parts)
        table.order("worst")
        with self._marking:
            for said in self._just_said:  # since the parts were taken
                table.mark(*said)
            self.table = table


def _runs_below(root: Path) -> Iterator[tuple[str, Path]]:
    """Run folders with their names, which are paths from the root; links that lead out are not followed."""
    if (root / "run.sqlite").is_file():
        yield root.name, root
    for folder, below, files in os.walk(root):
        here = Path(folder)
        depth = len(here.relative_to(root).parts)
        below[:] = [] if depth >= DEEPEST else [name for name in below if not name.startswith(".")]
        if depth and "run.sqlite" in files:
            name = here.relative_to(root).as_posix()
            yield name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"), here


def _system_in(folder: Path) -> str:
    """The system of a run that has no result yet."""
    try:
        return str(json.loads((folder / "provenance.json").read_text(encoding="utf-8"))["system"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _identity_of(folder: Path) -> Stamp:
    """Of the run file: one that was made anew may have the number of the old one, but not its age."""
    try:
        return ((folder / "run.sqlite").stat().st_ino, _time_of(folder / "provenance.json"))
    except OSError:
        return ()


def _time_of(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
