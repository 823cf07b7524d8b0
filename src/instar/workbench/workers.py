"""Processes for what takes longer than a page may.

They leave the processor to whoever asks for a page, end with the workbench however it ends, and are replaced
when one of them is lost: it may have been killed, or have had no memory.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Hashable, MutableMapping
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from typing import ParamSpec, TypeVar

__all__ = ["Workers", "kept_or_begun"]

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


def kept_or_begun(
    kept: MutableMapping[Hashable, Future[T]], key: Hashable, begin: Callable[[], Future[T]], *, most: int
) -> Future[T]:
    """The future under that key; begun now where there is none, or where its process was lost."""
    future = kept.get(key)
    if future is None or (future.done() and isinstance(future.exception(), BrokenExecutor)):
        if len(kept) >= most:
            kept.clear()
        future = kept[key] = begin()
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
