"""How far long work is, on standard error: a bar on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from instar.engines.local import Tally
from instar.system import Limits

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["progress_line", "show_campaign", "show_steps"]

BAR_SECONDS, LINE_SECONDS = 0.1, 10.0
"""How often a bar is redrawn, and a plain line written."""


@dataclass(frozen=True, slots=True)
class Steps:
    """What whoever does the work tells: so many more steps are done."""

    advance: Callable[..., None]


@contextlib.contextmanager
def show_steps(what: str, total: int | None, *, quiet: bool = False) -> Iterator[Steps]:
    """Progress of work whose steps are alike; `quiet` says nothing unless there is a terminal."""
    if sys.stderr.isatty():
        with _bars("{task.description}") as bars:
            bar = bars.add_task(what, total=total)
            yield Steps(lambda n=1: bars.advance(bar, n))
        return
    if not quiet:
        _say(what if total is None else f"{what}, {total:,} step{'' if total == 1 else 's'}")
    yield Steps(lambda n=1: None)


@contextlib.contextmanager
def show_campaign(limits: Limits, *, quiet: bool = False) -> Iterator[Callable[[Tally], None]]:
    """Progress of a campaign, told by its tallies; `quiet` says nothing unless there is a terminal."""
    if sys.stderr.isatty():
        with _bars("{task.fields[line]}") as bars:
            bar = bars.add_task("", total=None, line="")

            def redraw(tally: Tally) -> None:
                done, total, _ = _how_far(tally, limits)
                bars.update(bar, completed=done, total=total, line=progress_line(tally, limits))

            yield _at_most_every(BAR_SECONDS, redraw)
    elif quiet:
        yield lambda tally: None
    else:
        yield _at_most_every(LINE_SECONDS, lambda tally: _say(progress_line(tally, limits)))


def progress_line(tally: Tally, limits: Limits) -> str:
    """Rate, time left, violations so far and, for a priced system, money.

    >>> progress_line(Tally(64, 10, 90, 7, 150, 10.0, 0.15), Limits(queries=300, price_per_query=0.001))
    '150 of 300 queries, 15.0 queries/s, 10 s left, 7 violated, price 0.15'
    """
    done, total, unit = _how_far(tally, limits)
    parts = [f"{done:,} of {total:,} {unit}"]
    if tally.seconds > 0:
        parts.append(f"{tally.queries / tally.seconds:.1f} queries/s")
    if done and (left := tally.seconds * (total - done) / done) > 0:
        parts.append(f"{_duration(left)} left")
    parts.append(f"{tally.violated:,} violated")
    if limits.price_per_query:
        parts.append(f"price {tally.price:,.2f}")
    return ", ".join(parts)


def _how_far(tally: Tally, limits: Limits) -> tuple[int, int, str]:
    """A budget is what ends a campaign, where there is one; otherwise the scenes do."""
    if limits.queries is not None:
        return tally.queries, limits.queries, "queries"
    return tally.scenes_done, tally.scenes, "scenes"


def _at_most_every(seconds: float, show: Callable[[Tally], None]) -> Callable[[Tally], None]:
    shown = 0.0

    def watch(tally: Tally) -> None:
        nonlocal shown
        if tally.seconds - shown >= seconds:
            shown = tally.seconds
            show(tally)

    return watch


def _bars(text: str) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns: list[Any] = [BarColumn(bar_width=24), TextColumn(text)]
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
