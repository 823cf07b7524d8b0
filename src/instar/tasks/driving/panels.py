"""A case of a driving rule as panels: the road as it is and after each block, with speed and steering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from instar.core.marks import Dial, Panel
from instar.core.scene import Observation
from instar.core.verdict import Verdict
from instar.tasks.driving.answers import Control

__all__ = ["panels"]

FASTEST, WIDEST = 60.0, 30.0  # km/h and degrees that dials reach at least


def panels(
    source: Observation, follow_ups: Sequence[Observation], change: Any, verdict: Verdict
) -> list[Panel]:
    """The source and what each block made of it, on dials of one scale."""
    seen = [source, *follow_ups]
    answers: list[Control] = [one.answer for one in seen]
    fastest = max([FASTEST, *(abs(a.speed) for a in answers if a.speed is not None)])
    widest = max([WIDEST, *(abs(a.steering) for a in answers if a.steering is not None)])
    titles = [
        "before",
        *(f"after block {n}" if len(follow_ups) > 1 else "after" for n in range(1, len(seen))),
    ]
    return [
        Panel(title, one.input, dials=_dials(answer, fastest, widest))
        for title, one, answer in zip(titles, seen, answers)
    ]


def _dials(answer: Control, fastest: float, widest: float) -> tuple[Dial, ...]:
    dials = []
    if answer.speed is not None:
        dials.append(Dial("speed", answer.speed, "km/h", 0.0, fastest))
    if answer.steering is not None:
        dials.append(Dial("steering, + is left", answer.steering, "°", widest, -widest))
    return tuple(dials)
