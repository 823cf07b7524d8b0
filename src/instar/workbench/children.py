"""Child processes: campaigns, and what takes longer than a page may (`instar replay` and `shrink`).

Each is `instar` with a list of arguments, never through a shell. The run folder of a campaign lies in the
folder that is shown.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from instar.core.errors import BadInput
from instar.workbench import NotHere
from instar.workbench.orders import Order
from instar.workbench.workers import Recent

INTERRUPT = signal.SIGINT if os.name == "posix" else signal.SIGTERM  # Windows ends it: it can be resumed
MOST_CAMPAIGNS = 4  # at once
PATIENCE = 20.0  # seconds that a stopped campaign may take to end
MOST_JOBS, WAITING, KEPT = 2, 20, 200
SECONDS = 600.0  # that a job may take


@dataclass(eq=False)
class Child:
    """A campaign that was started here."""

    run: str
    words: Sequence[str]
    process: subprocess.Popen[bytes]
    output: IO[bytes]
    budget: int | None
    began: float
    is_stopped: bool = False

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def error(self) -> str:
        """What it complained of, once it has ended."""
        if self.is_running or self.process.returncode in (0, 1):
            return ""
        if self.process.returncode < 0:
            return f"something ended it from outside ({signal.Signals(-self.process.returncode).name})"
        self.output.seek(0)
        try:
            document = json.loads(self.output.read())
            return str(document.get("error", ""))
        except (ValueError, AttributeError):
            return f"it ended with status {self.process.returncode}"


class Campaigns:
    """What was started here, by the name of its run."""

    def __init__(self, root: Path, command: Sequence[str], *, patience: float = PATIENCE) -> None:
        self.home = root / "runs" if (root / "run.sqlite").is_file() else root
        """Where runs, and pictures that are brought in, are put."""
        self._root, self._command, self._patience = root, list(command), patience
        self._children: dict[str, Child] = {}
        self._lock = threading.Lock()

    def child(self, run: str) -> Child | None:
        return self._children.get(run)

    def running(self) -> list[Child]:
        return [child for child in list(self._children.values()) if child.is_running]

    def start(self, order: Order) -> str:
        """Begin a campaign; the name of its run."""
        folder = self.home / order.name
        if folder.exists():
            raise BadInput(f"there is a {order.name!r} already; choose another name")
        run = folder.relative_to(self._root).as_posix()
        self._begin(run, order.words(folder), order.budget)
        return run

    def resume(self, run: str, folder: Path, flags: Sequence[str] = ()) -> None:
        """Go on with a run: as it was begun here, or else as its plan says, with these flags."""
        before, plan = self._children.get(run), folder / "plan.toml"
        if before is not None:
            words = [*(word for word in before.words if word != "--resume"), "--resume"]
            self._begin(run, words, before.budget)
        elif plan.is_file():
            self._begin(run, ["run", str(plan), f"--out={folder}", "--resume", *flags], None)
        else:
            raise BadInput(f"{run} has no plan.toml; it was not made by the command line")

    def stop(self, run: str) -> None:
        """Ask a campaign to end; it keeps what it has and can be resumed."""
        child = self._children.get(run)
        if child is None or not child.is_running:
            raise BadInput(f"{run} was not started here, or has ended")
        child.is_stopped = True
        child.process.send_signal(INTERRUPT)
        threading.Thread(target=self._see_to_its_end, args=[child], daemon=True).start()

    def close(self) -> None:
        """End whatever still runs, so that nothing goes on unseen."""
        for child in self.running():
            child.is_stopped = True
            child.process.send_signal(INTERRUPT)
        for child in list(self._children.values()):
            self._see_to_its_end(child)
            child.output.close()

    def _see_to_its_end(self, child: Child) -> None:
        """Killed, it can be resumed all the same: a run is sound at every instant."""
        try:
            child.process.wait(self._patience)
        except subprocess.TimeoutExpired:
            child.process.kill()
            child.process.wait()

    def _begin(self, run: str, words: Sequence[str], budget: int | None) -> None:
        with self._lock:
            before = self._children.get(run)
            if before is not None and before.is_running:
                raise BadInput(f"{run} is running already")
            if len(self.running()) >= MOST_CAMPAIGNS:
                raise BadInput(f"{MOST_CAMPAIGNS} campaigns are running already; stop one or wait")
            if before is not None:
                before.output.close()
            self.home.mkdir(parents=True, exist_ok=True)
            output = tempfile.TemporaryFile()  # noqa: SIM115 - read when the child has ended
            process = subprocess.Popen(
                [*self._command, *words, "--json"],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            self._children[run] = Child(run, words, process, output, budget, time.monotonic())


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
        self._threads = ThreadPoolExecutor(MOST_JOBS, thread_name_prefix="jobs")
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
