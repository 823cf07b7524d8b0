"""Processes for what takes longer than a page may, and what is kept of what was made.

Processes leave the processor to whoever asks for a page, end with the workbench however it ends, and are
replaced when one of them is lost: it may have been killed, or have had no memory.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Workers(Executor):
    """A pool of processes that mends itself. What a lost process was doing ends with a BrokenExecutor."""

    def __init__(self, number: int = 2) -> None:
        self._number, self._lock = number, threading.Lock()
        self._pool = self._new()

    def submit(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        with self._lock:
            try:
                return self._pool.submit(work, *args, **kwargs)
            except BrokenExecutor:
                self._pool = self._new()
                return self._pool.submit(work, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._pool.shutdown(wait, cancel_futures=cancel_futures)

    def _new(self) -> ProcessPoolExecutor:
        spawning = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self._number, mp_context=spawning, initializer=_begin)


class Recent(Generic[T]):
    """The last so many values, by key; safe between threads."""

    def __init__(self, most: int) -> None:
        self._most, self._values = most, OrderedDict[Hashable, T]()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Hashable, value: T) -> list[T]:
        """Keep it; what had to go."""
        with self._lock:
            self._values[key] = value
            return [self._values.popitem(last=False)[1] for _ in range(len(self._values) - self._most)]

    def values(self) -> list[T]:
        with self._lock:
            return list(self._values.values())


class Results(Generic[T]):
    """What workers made, each once; begun again where a process was lost."""

    def __init__(self, workers: Executor, most: int) -> None:
        self._workers, self._made = workers, Recent[Future[T]](most)

    def get(self, key: Hashable, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future = self._made.get(key)
        if future is None or (future.done() and isinstance(future.exception(), BrokenExecutor)):
            future = self._workers.submit(work, *args, **kwargs)
            self._made.put(key, future)
        return future


def _begin() -> None:
    if hasattr(os, "nice"):
        os.nice(10)
    threading.Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    """A process that waits for work would wait for ever if the workbench was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)
