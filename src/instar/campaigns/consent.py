"""Before pictures go to a service that is paid for: how many calls, the price, the host; the user decides."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TextIO

from instar.campaigns.plan import Plan
from instar.core.errors import BadInput
from instar.core.system import System

__all__ = ["calls_expected", "require_consent"]

CALLS = {"guided": 92, "random": 92, "relocation": 92, "listed": 16, "adaptive": 24}
"""About how many questions a search asks of a picture for one relation; `draws` and others ask twelve."""
USUAL_CALLS = 12
OF_A_PICTURE = 4  # the picture itself and changes that must do nothing


def calls_expected(plan: Plan, scenes: int) -> tuple[int, bool]:
    """How many questions a plan asks, and whether that is a limit or only an estimate."""
    if plan.limits.queries is not None:
        return plan.limits.queries, True
    searches = ["" if pair.search is None else pair.search.name for pair in plan.relations]
    return scenes * (OF_A_PICTURE + sum(CALLS.get(name, USUAL_CALLS) for name in searches)), False


def require_consent(
    planned: Sequence[tuple[Plan, System, int]],
    *,
    yes: bool,
    terminal: TextIO | None = None,
    answer: Callable[[], str] = input,
) -> None:
    """Tell what paid services will be asked for, and go on only with --yes or a yes at the terminal.

    `planned` are plans, their systems and the number of scenes of each.
    """
    told = [line for plan, system, scenes in planned for line in _lines(plan, system, scenes)]
    if not told:
        return
    shown = sys.stderr if terminal is None else terminal
    print("\n".join(told), file=shown)
    if yes:
        return
    if not (sys.stdin is not None and sys.stdin.isatty() and shown.isatty()):
        raise BadInput(f"{told[0]}; nothing was sent: say --yes to go on")
    print("Go on? [y/N] ", end="", file=shown, flush=True)
    if answer().strip().lower() not in ("y", "yes"):
        raise BadInput("nothing was sent")


def _lines(plan: Plan, system: System, scenes: int) -> list[str]:
    host = str(getattr(system, "sends_to", ""))
    if not (host and getattr(system, "paid", False)):
        return []
    calls, is_limit = calls_expected(plan, scenes)
    many = f"{'at most' if is_limit else 'about'} {calls:,} calls"
    if not is_limit:
        many += f" (about {round(calls / max(scenes, 1))} a picture; --budget N sets a limit)"
    each = plan.limits.price_per_query
    cost = (
        f"for {calls * each:,.2f} at {each:g} a call"
        if each
        else ("whose price is not known here (--set limits.price_per_query=0.001 shows the cost)")
    )
    return [f"{system.name} will be asked {many}, {cost}; pictures go to {host}"]
