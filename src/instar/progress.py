"""How far long work is, on standard error, in one look: what, how much, how fast, how long still.

On a terminal it is a bar that is redrawn; elsewhere a plain line now and then.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

BAR_SECONDS, LINE_SECONDS = 0.1, 10.0
"""How often a bar is redrawn, and a plain line written."""

Tell: TypeAlias = Callable[[float, "float | None", str], None]
"""Told how much is done, of how much, and that in words."""


@dataclass(frozen=True, slots=True)
class StepCounter:
    """What whoever does the work tells: so many more steps are done."""

    advance: Callable[..., None]


def pace(done: float, total: float | None, unit: str, seconds: float) -> str:
    """How much, how fast, and how long it will take still.

    >>> pace(150, 300, "queries", 10.0), pace(1.25, 66.0, "MB", 0.5)
    ('150 of 300 queries, 15.0 queries/s, 10 s left', '1.2 of 66.0 MB, 2.5 MB/s, 26 s left')
    """
    if done < 0.05:  # shown as 0, and too little to tell the time by
        done = 0
    amount = f"{_amount(done)} of {_amount(total)}" if total is not None else _amount(done)
    parts = [f"{amount} {unit}".rstrip()]
    if seconds > 0 and done:
        parts.append(f"{done / seconds:,.1f}{f' {unit}' if unit else ''}/s")
    if done and total is not None and (left := seconds * (total - done) / done) > 0:
        parts.append(f"{duration(left)} left")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(75.2)
    '1 min 15 s'
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


@contextlib.contextmanager
def show_progress(
    what: str, *, quiet: bool = False, clock: Callable[[], float] = time.monotonic
) -> Iterator[Tell]:
    """Show what is told in between; `quiet` says nothing unless there is a terminal."""
    if sys.stderr.isatty():
        with _bars() as bars:
            bar = bars.add_task("", total=None, line=what)
            every = _Pause(BAR_SECONDS, clock, since=-BAR_SECONDS)

            def redraw(done: float, total: float | None, line: str) -> None:
                if every.is_over():
                    bars.update(bar, completed=done, total=total, line=f"{what}: {line}")

            yield redraw
    elif quiet:
        yield lambda done, total, line: None
    else:
        every = _Pause(LINE_SECONDS, clock, since=clock())

        def write(done: float, total: float | None, line: str) -> None:
            if every.is_over():
                say(f"{what}: {line}")

        yield write


@contextlib.contextmanager
def show_steps(
    what: str,
    total: int | None,
    *,
    quiet: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[StepCounter]:
    """Progress of work whose steps are alike."""
    if not quiet and not sys.stderr.isatty():
        say(what if total is None else f"{what}, {total:,} {'step' if total == 1 else 'steps'}")
    began, done = clock(), 0
    with show_progress(what, quiet=quiet, clock=clock) as tell:

        def advance(n: int = 1) -> None:
            nonlocal done
            done += n
            tell(done, total, pace(done, total, "", clock() - began))

        yield StepCounter(advance)


@dataclass(eq=False)
class _Pause:
    seconds: float
    clock: Callable[[], float]
    since: float

    def is_over(self) -> bool:
        now = self.clock()
        if now - self.since < self.seconds:
            return False
        self.since = now
        return True


def _amount(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:,.1f}"


def _bars() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    # Names are shown as they are: in rich's own markup a bracket would mean something.
    columns: list[Any] = [BarColumn(bar_width=24), TextColumn("{task.fields[line]}", markup=False)]
    return Progress(*columns, console=Console(stderr=True), transient=True)


def say(line: str, *, quiet: bool = False) -> None:
    """Write a line on standard error, unless it is to be `quiet` there."""
    if not quiet:
        print(line, file=sys.stderr, flush=True)  # noqa: T201  # its purpose
