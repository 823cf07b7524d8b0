"""Work that takes longer than a page may: `instar replay` and `shrink` as child processes."""

from __future__ import annotations

import json
import secrets
import subprocess
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from instar.core.errors import BadInput
from instar.workbench import NotHere
from instar.workbench.workers import Recent

__all__ = ["Job", "Jobs"]

AT_ONCE, WAITING, KEPT = 2, 20, 200
SECONDS = 600.0


@dataclass(eq=False)
class Job:
    """One child process; `document` is what it printed, None while it has not ended."""

    id: str
    what: str
    run: str
    words: Sequence[str]
    document: Mapping[str, Any] | None = None


class Jobs:
    """A few at a time, the others wait; the results of the last ones are kept."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = list(command)
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="jobs")
        self._jobs = Recent[Job](KEPT)
        self._children: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()

    def start(self, what: str, run: str, *words: str) -> Job:
        """Begin `instar WORDS --json`."""
        with self._lock:
            if sum(job.document is None for job in self._jobs.values()) >= WAITING:
                raise BadInput("too much is being done already; wait for it")
            job = Job(secrets.token_hex(8), what, run, words)
            self._jobs.put(job.id, job)
        self._threads.submit(self._work, job)
        return job

    def job(self, id: str) -> Job:
        job = self._jobs.get(id)
        if job is None:
            raise NotHere("this is not known any more; ask again")
        return job

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            for child in self._children:
                child.kill()

    def _work(self, job: Job) -> None:
        try:
            child = subprocess.Popen(
                [*self._command, *job.words, "--json"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )  # fmt: skip
        except OSError as error:
            job.document = {"error": f"instar cannot be started: {error}"}
            return
        with self._lock:
            self._children.add(child)
        try:
            out, _ = child.communicate(timeout=SECONDS)
            document = json.loads(out)
            job.document = document if isinstance(document, dict) else {"error": "it said nothing"}
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            job.document = {"error": f"it took longer than {SECONDS:.0f} s"}
        except ValueError:
            job.document = {"error": f"it ended with status {child.returncode}"}
        finally:
            with self._lock:
                self._children.discard(child)
