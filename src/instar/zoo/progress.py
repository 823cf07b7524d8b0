"""How far a download is, in the look of all long work (`instar.core.progress`)."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias

from instar.core.progress import pace, show_progress

__all__ = ["Progress", "show_download"]

Progress: TypeAlias = Callable[[str, float], AbstractContextManager[Callable[[float], None]]]
"""Called with what is fetched and its megabytes; the context gives a function to tell megabytes so far."""


@contextmanager
def show_download(what: str, megabytes: float) -> Iterator[Callable[[float], None]]:
    """A bar on standard error where that is a terminal, elsewhere a plain line at once and now and then."""
    if not sys.stderr.isatty():
        print(f"fetching {what}, {megabytes:.1f} MB", file=sys.stderr, flush=True)  # noqa: T201  # its purpose
    began = time.monotonic()
    with show_progress(f"fetching {what}") as tell:

        def told(done: float) -> None:
            done = min(float(done), megabytes)
            tell(done, megabytes, pace(done, megabytes, "MB", time.monotonic() - began))

        yield told
