"""Threads that work for a campaign, and do not hold up its end."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

GRACE_SECONDS = 0.5  # for calls that are under way when the time is over


class Threads:
    """A few worker threads. Those that do not end by themselves are left behind: a
    call into a system that hangs must hold up neither the campaign nor the end of the process.
    """

    def __init__(self, count: int, name: str) -> None:
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._run, name=name, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def submit(self, function: Callable[..., None], *arguments: Any) -> None:
        self._work.put(partial(function, *arguments))

    def leave(self) -> None:
        """Drop what has not begun, and wait a little for what has."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._work.get_nowait()
        for _ in self._threads:
            self._work.put(None)
        until = time.monotonic() + GRACE_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _run(self) -> None:
        while (do := self._work.get()) is not None:
            do()
