"""When a run counts as failed: by a baseline of known failures, and by conditions such as "rate>0.05"."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from instar.core.errors import BadInput, UnknownName
from instar.report.by_scene import ByScene, FailureKey
from instar.report.groups import Group
from instar.report.summary import Summary
from instar.user_file import read_json

__all__ = [
    "Against", "FailCondition", "compare_with_known", "numbers_of", "read_condition", "read_known",
    "render_known",
]  # fmt: skip

TITLE = "instar known failures"
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
class Against:
    """A run held against a baseline: `fixed` were tried again and are gone, `untried` were not tried."""

    new: tuple[FailureKey, ...]
    known: tuple[FailureKey, ...]
    fixed: tuple[FailureKey, ...]
    untried: tuple[FailureKey, ...]


def render_known(failures: Iterable[FailureKey], *, system: str) -> str:
    """The baseline as a file: one failure on each line, in an order that makes differences readable."""
    lines = ",\n".join(f"  {json.dumps(key._asdict())}" for key in sorted(set(failures)))
    head = f'{{"what": "{TITLE}", "system": {json.dumps(system)}, "failures": ['
    return f"{head}\n{lines}\n]}}\n" if lines else f"{head}]}}\n"


def read_known(path: Path) -> frozenset[FailureKey]:
    """The failures in the file of a baseline."""
    document = read_json(path, "list of known failures")
    failures = document.get("failures") if isinstance(document, dict) else None
    if not isinstance(failures, list) or not all(map(_is_key, failures)):
        raise BadInput(f"{path} is no list of known failures; instar known RUN writes one")
    return frozenset(FailureKey(**{field: one[field] for field in FailureKey._fields}) for one in failures)


def _is_key(one: Any) -> bool:
    return isinstance(one, dict) and all(isinstance(one.get(field), str) for field in FailureKey._fields)


def compare_with_known(found: ByScene, known: frozenset[FailureKey]) -> Against:
    """Which failures of a run are new, known or fixed."""
    now = found.keys()
    tried = {place for place, result in found.results.items() if result.judged}
    gone = known - now
    fixed = {key for key in gone if (key.relation, key.scene) in tried}
    return Against(*(tuple(sorted(keys)) for keys in (now - known, now & known, fixed, gone - fixed)))


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
