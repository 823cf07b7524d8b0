"""When a run counts as failed by conditions such as "rate>0.05"."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from instar.core.errors import BadInput, UnknownName
from instar.report.groups import Group
from instar.report.known import Against
from instar.report.summary import Summary

OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
NAMES = (
    "rate", "headline_rate", "headline", "violated", "held", "inapplicable", "failed", "unstable",
    "unstable_share", "unconfirmed", "distinct", "distinct_real", "groups", "scenes_violated",
    "false_alarm_rate", "new", "fixed",
)  # fmt: skip


RATES = ("rate", "headline_rate")


@dataclass(frozen=True, slots=True)
class FailCondition:
    """A number of the summary, compared with a bound."""

    name: str
    how: str
    bound: float

    def met(self, numbers: Mapping[str, float | None]) -> bool:
        """Whether the run fails by it; a number that there is not (nothing was judged) meets nothing."""
        value = numbers[self.name]
        if value is None and self.name in RATES and numbers["violated"]:
            raise BadInput(
                f"--fail-on {self}: there is no rate, since the search looks for failures; "
                'say "headline>0" or "distinct>0"'
            )
        return value is not None and OPERATORS[self.how](value, self.bound)

    def __str__(self) -> str:
        return f"{self.name}{self.how}{self.bound:g}"


def read_condition(text: str) -> FailCondition:
    """A condition as it is written.

    >>> read_condition("rate > 5%")
    FailCondition(name='rate', how='>', bound=0.05)
    """
    found = re.fullmatch(r"\s*([a-z_]+)\s*(>=|<=|==|!=|>|<)\s*([0-9.]+(?:e-?[0-9]+)?)\s*(%?)\s*", text)
    if found is None:
        raise BadInput(f'--fail-on {text!r} is not of the form "rate>0.05"')
    name, how, number, share = found.groups()
    if name not in NAMES:
        raise BadInput(f"--fail-on {text!r}: {UnknownName('number', name, NAMES)}")
    try:
        return FailCondition(name, how, float(number) / (100 if share else 1))
    except ValueError:
        raise BadInput(f"--fail-on {text!r}: {number!r} is no number") from None


def numbers_of(summary: Summary, groups: Sequence[Group], against: Against | None) -> dict[str, float | None]:
    """What conditions may speak of; `new` and `fixed` only where there is a baseline."""
    return summary.numbers() | {
        "groups": len(groups),
        "new": None if against is None else len(against.new),
        "fixed": None if against is None else len(against.fixed),
    }
