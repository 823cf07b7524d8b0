"""A system in processes of its own: whatever it does there, the campaign goes on.

A process imports and builds the system, answers until it is ended, and dies with its parent. What it prints
goes to standard error. Pictures reach it through shared memory and are copied there, so that it can spoil
nothing. Answers come back as plain bytes of bounded size: nothing foreign is imported or unpickled here.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import queue
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol, cast

from instar.core.errors import BadInput, Refused, Temporary
from instar.core.fingerprint import fingerprint_of
from instar.core.system import Limits, RemoteError, System, describe_error, is_isolated, variant_of
from instar.engines.arena import Arena, InlineMemory
from instar.engines.process import begin_process
from instar.store.answers import decode_answer

BUILD_SECONDS = 600.0
"""To import and build a system: a large model may take minutes, and that is not the system being slow."""
CALL_SECONDS = 120.0
"""What one call may take where no limit was given."""
LOOK_SECONDS = 0.5  # between two looks at the memory of a process that is busy
MEMORY_SHARE = 0.75  # of the machine's memory that a system may take before it is ended
MOST_BYTES = 1 << 30  # that all answers to one call may have together


class Isolated(System, Protocol):
    """A system in processes of its own, which end when it is closed and start again when it is asked."""

    isolated: bool

    def limit(self, limits: Limits) -> None: ...

    def close(self) -> None: ...


def within_limits(system: System, limits: Limits) -> System:
    """The system with a time limit for each call; an object that was built here goes to a process for it."""
    if is_isolated(system):
        cast(Isolated, system).limit(limits)
        return system
    if limits.timeout is None:
        return system
    try:
        blob = pickle.dumps(system)
    except Exception as reason:
        raise BadInput(
            f"a time limit needs a process of its own, and system {system.name!r} cannot be sent to one "
            f"({describe_error(reason)}); define it in a module, or drop the limit"
        ) from reason
    return WorkerSystem(partial(pickle.loads, blob), limits, fingerprint=fingerprint_of(system))


def gpus() -> list[str]:
    """The GPUs that may be used, by the names that CUDA_VISIBLE_DEVICES has for them."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given is not None:
        return [name.strip() for name in given.split(",") if name.strip() not in ("", "-1")]
    driver = Path("/proc/driver/nvidia/gpus")
    return [str(n) for n, _ in enumerate(driver.iterdir())] if driver.is_dir() else []


class WorkerSystem:
    """A system in other processes. A call goes to a process that is free, or to a new one.

    `build` makes the system, and is called only there. The first process is started at once, so that a
    system which cannot be built is refused before anything is asked. A call of over `timeout` seconds ends
    its process and raises TimeoutError; the first may take longer by the start-up allowance, since many
    systems load when they are first asked. `ours` is for one that no user's code is part of: its fingerprint
    is what it would be here.
    """

    isolated = True

    def __init__(
        self,
        build: Callable[[], System],
        limits: Limits | None = None,
        *,
        fingerprint: str | None = None,
        ours: bool = False,
    ) -> None:
        self._build, self._limits = build, limits or Limits()
        self._first = self._limits.start
        self._free: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._workers: list[_Worker] = []
        weakref.finalize(self, _stop_all, self._workers)
        first = self._new_worker()
        told = first.start()
        self._free.put(first)
        self.name = str(told["name"])
        self.fingerprint = fingerprint or str(told["own" if ours else "fingerprint"])
        self._ours = ours
        self.batch, self.concurrent = int(told["batch"]), bool(told["concurrent"])
        self.sends_to = str(told["sends_to"])

    def predict(self, inputs: Sequence[Any], /) -> Sequence[Any]:
        try:
            worker = self._free.get_nowait()
        except queue.Empty:
            worker = self._new_worker()
        seconds = CALL_SECONDS if self._limits.timeout is None else self._limits.timeout
        began, is_first = time.monotonic(), not worker.has_answered
        try:
            answers = worker.call(inputs, seconds + (self._first if is_first else 0))
        except TimeoutError:
            self._first = 0.0 if is_first else self._first  # it does not load: it hangs
            raise TimeoutError(f"no answer within {seconds:g} s") from None
        finally:
            self._free.put(worker)
        if is_first:
            self._first = 2 * (time.monotonic() - began)  # what a process that has to be started again needs
        return answers

    def limit(self, limits: Limits) -> None:
        """How long calls may take from now on."""
        self._limits, self._first = limits, limits.start

    def variant(self, name: str) -> WorkerSystem:
        return WorkerSystem(partial(_build_variant, self._build, name), self._limits, ours=self._ours)

    def close(self) -> None:
        """End all processes, also in the middle of a call; another call would start them again."""
        for worker in self._workers:
            worker.kill()  # whoever is in a call hears of it, and tidies up
        for _ in range(self._free.qsize()):
            with contextlib.suppress(queue.Empty):
                worker = self._free.get_nowait()
                worker.stop()
                self._free.put(worker)

    def _new_worker(self) -> _Worker:
        devices = gpus()
        device = devices[len(self._workers) % len(devices)] if devices else None
        self._workers.append(_Worker(self._build, device))
        return self._workers[-1]


def unpack_answers(kind: str, content: bytes) -> Sequence[Any]:
    """The answers that a process gave, or its reason why there are none."""
    if kind == "answers":
        answers: Sequence[Any] = decode_answer(content)
        return answers
    if kind == "never":
        raise Refused(content.decode())
    raise Temporary(content.decode()) if kind == "temporary" else RemoteError(content.decode())


def _build_variant(build: Callable[[], System], name: str) -> System:
    return variant_of(build(), name)


def _stop_all(workers: Sequence[_Worker]) -> None:
    for worker in workers:
        worker.stop()


class _Worker:
    """One process, started when first needed and again after it was ended."""

    def __init__(self, build: Callable[[], System], device: str | None) -> None:
        self._build, self._device = build, device
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._arena: Arena | InlineMemory | None = None
        self.has_answered = False

    def start(self) -> dict[str, Any]:
        """Start the process and have the system built; what it says about itself."""
        try:
            setting = pickle.dumps((sys.path, self._device, self._build))
        except Exception as reason:
            raise BadInput(f"the system cannot be sent to a process ({describe_error(reason)})") from reason
        self.stop()
        self.has_answered = False
        self._process, self._connection, self._arena = begin_process()
        with contextlib.suppress(OSError):  # of a process that has gone, which the next lines find out
            self._connection.send_bytes(setting)
        try:
            kind, content = self._receive(BUILD_SECONDS)
        except TimeoutError:
            raise BadInput(f"the system was not built within {BUILD_SECONDS:g} s") from None
        except RemoteError as died:
            raise BadInput(f"the system cannot be built: {died}") from None
        if kind != "ready":
            self.stop()
            text = content.decode()
            raise BadInput(text if kind == "refused" else f"the system cannot be built: {text}")
        told: dict[str, Any] = json.loads(content)
        return told

    def call(self, inputs: Sequence[Any], seconds: float) -> Sequence[Any]:
        if self._process is None or self._process.poll() is not None:
            try:
                self.start()
            except BadInput as refused:
                raise RemoteError(str(refused)) from refused
        assert self._connection is not None
        assert self._arena is not None
        buffers: list[pickle.PickleBuffer] = []
        data = pickle.dumps(list(inputs), protocol=5, buffer_callback=buffers.append)
        with contextlib.suppress(OSError):  # of a process that has gone, which the next line finds out
            self._connection.send((data, self._arena.put(buffers)))
        kind, content = self._receive(seconds)
        if self._takes_too_much():
            self.stop()  # it leaks: begin anew
        self.has_answered |= kind == "answers"
        return unpack_answers(kind, content)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def stop(self) -> None:
        """End the process and let go of what was shared with it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        for shared in (self._connection, self._arena):
            if shared is not None:
                shared.close()
        self._process = self._connection = self._arena = None

    def _receive(self, seconds: float) -> tuple[str, bytes]:
        """What the process says next; it is ended when that takes too long, or too much memory."""
        connection, process = self._connection, self._process
        assert connection is not None
        assert process is not None
        until = time.monotonic() + seconds
        try:
            while not connection.poll(max(0.0, min(LOOK_SECONDS, until - time.monotonic()))):
                if time.monotonic() >= until:
                    self.stop()
                    raise TimeoutError
                if self._takes_too_much():
                    self.stop()
                    raise RemoteError(f"the system took more than {100 * MEMORY_SHARE:.0f} % of the memory")
            kind, _, content = connection.recv_bytes(MOST_BYTES).partition(b" ")
            return kind.decode(), content
        except (EOFError, OSError) as gone:
            if isinstance(gone, TimeoutError):
                raise
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1)
            code = process.returncode
            self.stop()
            raise RemoteError(f"the system's process died (exit code {code})") from gone

    def _takes_too_much(self) -> bool:
        pages = 0 if self._process is None else _pages_of(self._process.pid)
        return pages > 0 and pages > MEMORY_SHARE * os.sysconf("SC_PHYS_PAGES")


def _pages_of(process: int) -> int:
    """Pages in use; 0 where that cannot be known."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        pages: int = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        return pages
    return 0
