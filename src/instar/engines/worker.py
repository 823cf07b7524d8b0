"""A system in processes of its own, which can be killed when it takes too long.

The processes are spawned, not forked: they inherit neither locks nor open files, so a hanging one can
never hold the run's lock. They die with their parent, however that ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import pickle
import queue
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any

from instar.core.errors import BadInput, Temporary
from instar.core.system import (
    Remote,
    System,
    describe_error,
    fingerprint_of,
    is_temporary,
    list_of_answers,
)

__all__ = ["killable"]

START_SECONDS = 300.0  # a large model may take minutes to load; that is not the system being slow


@contextlib.contextmanager
def killable(system: System, timeout: float, *, processes: int) -> Iterator[System]:
    """The same system behind worker processes; a call of over `timeout` seconds raises TimeoutError."""
    try:
        blob = pickle.dumps(system)
    except Exception as reason:
        raise BadInput(
            f"a time limit needs a process of its own, and system {system.name!r} cannot be sent to one "
            f"({describe_error(reason)}); define it in a module, or drop the limit"
        ) from reason
    workers = [_Worker(blob, timeout) for _ in range(processes)]
    try:
        yield _Killable(system, workers)
    finally:
        for worker in workers:
            worker.stop()


class _Killable:
    """A system whose calls go to whichever worker is free."""

    def __init__(self, system: System, workers: Sequence[_Worker]) -> None:
        self.name, self.fingerprint = system.name, fingerprint_of(system)
        self._free: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        for worker in workers:
            self._free.put(worker)

    def predict(self, inputs: Sequence[Any], /) -> Sequence[Any]:
        worker = self._free.get()
        try:
            return worker.call(inputs)
        finally:
            self._free.put(worker)


class _Worker:
    """One process, started when first needed and again after it was killed."""

    def __init__(self, blob: bytes, timeout: float) -> None:
        self._blob, self._timeout = blob, timeout
        self._process: Any = None
        self._line: Connection | None = None

    def call(self, inputs: Sequence[Any]) -> Sequence[Any]:
        line = self._line or self._start()
        try:
            line.send(list(inputs))
            if not line.poll(self._timeout):
                self.stop()
                raise TimeoutError(f"no answer within {self._timeout:g} s")
            outcome, value = line.recv()
        except (EOFError, OSError) as gone:
            if isinstance(gone, TimeoutError):
                raise
            raise Remote(f"the system's process died ({self._end()})") from gone
        if outcome == "answers":
            return list(value)
        raise Temporary(value) if outcome == "temporary" else Remote(value)

    def _end(self) -> str:
        """Stop, and say how a process that hung up by itself had ended."""
        self._process.join(1)
        code = self._process.exitcode
        self.stop()
        return f"exit code {code}"

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None
        if self._line is not None:
            self._line.close()
            self._line = None

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(there, self._blob, os.getpid()), daemon=True, name="instar-system"
        )
        self._process.start()
        there.close()
        self._line = here
        if not here.poll(START_SECONDS):
            self.stop()
            raise Remote(f"the system did not start within {START_SECONDS:g} s")
        try:
            outcome, value = here.recv()
        except (EOFError, OSError) as gone:
            raise Remote(f"the system did not start: its process died ({self._end()})") from gone
        if outcome != "ready":
            self.stop()
            raise Remote(f"the system did not start: {value}")
        return here


def _serve(line: Connection, blob: bytes, parent: int) -> None:
    """The worker's life: answer until the parent hangs up."""
    _die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    try:
        system = pickle.loads(blob)
    except Exception as reason:
        line.send(("broken", describe_error(reason)))
        return
    line.send(("ready", None))
    while True:
        try:
            inputs = line.recv()
        except EOFError:
            return
        try:
            outcome = pickle.dumps(("answers", list_of_answers(system.predict(inputs))))
        except Exception as raised:
            kind = "temporary" if is_temporary(system, raised) else "error"
            outcome = pickle.dumps((kind, describe_error(raised)))
        line.send_bytes(outcome)


def _die_with(parent: int) -> None:
    """End this process when its parent ends, even in the middle of a call that never returns."""
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)

    def watch() -> None:
        process = multiprocessing.parent_process()
        if process is not None:
            process.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
