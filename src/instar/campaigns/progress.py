"""Progress of a campaign, shown like all long work (`instar.progress`)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from instar.core.system import Limits
from instar.engines.account import Tally
from instar.progress import pace, show_progress


@contextlib.contextmanager
def show_campaign(
    limits: Limits, *, what: str = "asking", quiet: bool = False
) -> Iterator[Callable[[Tally], None]]:
    """Progress of a campaign, told by its tallies; `quiet` says nothing unless there is a terminal."""
    seconds = 0.0
    with show_progress(what, quiet=quiet, clock=lambda: seconds) as tell:

        def watch(tally: Tally) -> None:
            nonlocal seconds
            seconds = tally.seconds
            done, total, _ = _how_far(tally, limits)
            tell(done, total, progress_line(tally, limits))

        yield watch


def progress_line(tally: Tally, limits: Limits) -> str:
    """How far, how fast, time left, failing cases so far and, for a priced system, money.

    >>> progress_line(Tally(64, 10, 90, 7, 150, 10.0, 0.15), Limits(queries=300, price_per_query=0.001))
    '150 of 300 queries, 15.0 queries/s, 10 s left, 7 failing, price 0.15'
    """
    done, total, unit = _how_far(tally, limits)
    parts = [pace(done, total, unit, tally.seconds), f"{tally.failing:,} failing"]
    if limits.price_per_query:
        parts.append(f"price {tally.price:,.2f}")
    if tally.actors:
        parts.append(tally.actors)
    return ", ".join(parts)


def _how_far(tally: Tally, limits: Limits) -> tuple[int, int, str]:
    """A budget is what ends a campaign, where there is one; otherwise the scenes do."""
    if limits.queries is not None:
        return tally.queries, limits.queries, "queries"
    return tally.scenes_done, tally.scenes, "scenes"
