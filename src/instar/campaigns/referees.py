"""Who is asked what is there where the data does not say: referees that were named, or the task's own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from instar.campaigns.catalogue import catalogues
from instar.campaigns.plan import Plan, Use
from instar.campaigns.resolve import LazySystem, build_system, resolve_system
from instar.core.errors import BadInput
from instar.core.fingerprint import fingerprint_of
from instar.core.referees import Referee
from instar.core.system import System
from instar.user_file import read_user_file

NONE = "none"
USUAL_NUMBER = 4  # of the task's own; more say hardly anything new
_WEIGHTS = re.compile(r"\bweights=(\S+)")


def referee_uses(plan: Plan) -> list[Use]:
    """The referees that a plan names; none where it leaves them to the task."""
    names = [] if plan.referees in (None, NONE) else str(plan.referees).split(",")
    return [Use(name.strip()) for name in names if name.strip()]


def find_referees(plan: Plan, tasks: Sequence[str], system: System) -> list[Referee]:
    """Those that a plan names, or by default those of its task that the system is no relative of.

    Named ones are refused where they cannot be asked; the task's own are opened only when there is something
    to ask them, and left out where they cannot be.
    """
    file = plan.referee_labels
    labels = {} if file is None else read_user_file(Path(file), "table of labels", _label_table)
    uses = referee_uses(plan)
    if uses:
        named = [resolve_system(use, what="referee", tasks=tasks) for use in uses]
        for referee in named:
            if _are_relatives(system, referee):
                raise BadInput(f"referee {referee.name!r} is the system under test; name another one")
        return [Referee(referee, labels) for referee in named]
    if plan.referees == NONE or len(set(tasks)) != 1 or tasks[0] not in catalogues():
        return []
    names = [name for name in catalogues()[tasks[0]].referees if name != system.name]
    return [
        Referee(LazySystem(name, partial(_find_usual, name, system)), labels) for name in names[:USUAL_NUMBER]
    ]


def _find_usual(name: str, tested: System) -> System:
    system = build_system(Use(name), what="referee")
    if _are_relatives(tested, system):
        raise BadInput("it has the weights of the system under test")
    return system


def _are_relatives(one: System, other: System) -> bool:
    """Whether two systems are the same, or are made of the same weights."""
    prints = [fingerprint_of(one), fingerprint_of(other)]
    weights = [set(_WEIGHTS.findall(text)) for text in prints]
    return prints[0] == prints[1] or bool(weights[0] & weights[1])


def _label_table(content: Mapping[str, Any]) -> Mapping[str, str]:
    for label, own in content.items():
        if not isinstance(own, str):
            raise BadInput(f"{label} is {own!r}; it must be the system's name for it, as a text")
    return dict(content)
