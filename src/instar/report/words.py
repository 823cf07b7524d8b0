"""Numbers as reports write them."""

from __future__ import annotations

import shlex

__all__ = ["counted", "interval_words", "percent", "replay_command"]


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number of things.

    >>> counted(1, "scene"), counted(1200, "query", "queries")
    ('1 scene', '1,200 queries')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def interval_words(ends: tuple[float, float] | None) -> str:
    return "-" if ends is None else f"{100 * ends[0]:.1f} to {100 * ends[1]:.1f} %"


def replay_command(run: str, case: str) -> str:
    """How a case is seen again."""
    return f"instar replay {shlex.quote(run)} {case}"
