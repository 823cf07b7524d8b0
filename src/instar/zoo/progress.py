"""How far a download is, for the person waiting."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias

__all__ = ["Progress", "show_progress"]

Progress: TypeAlias = Callable[[str, float], AbstractContextManager[Callable[[float], None]]]
"""Called with what is fetched and its megabytes; the context gives a function to tell megabytes so far."""


@contextmanager
def show_progress(what: str, megabytes: float) -> Iterator[Callable[[float], None]]:
    """A bar on standard error where that is a terminal, elsewhere one plain line."""
    if not sys.stderr.isatty():
        print(f"fetching {what}, {megabytes:.1f} MB", file=sys.stderr, flush=True)  # noqa: T201  # its purpose
        yield lambda done: None
        return

    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    size = TextColumn("{task.completed:.1f} of {task.total:.1f} MB")
    columns = (TextColumn("fetching {task.description}"), BarColumn(), size, TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(what, total=megabytes)
        yield lambda done: bars.update(bar, completed=min(done, megabytes))
        bars.update(bar, completed=megabytes)
