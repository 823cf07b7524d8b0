"""Known failures: a baseline against which only new ones count, and which tells what has been fixed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from instar.core.errors import BadInput
from instar.report.by_scene import ByScene
from instar.report.keys import FailureKey

__all__ = ["Against", "compare_with_known", "read_known", "render_known"]

TITLE = "instar known failures"


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


def read_known(text: str, *, name: str) -> frozenset[FailureKey]:
    """The failures in a baseline; `name` is the file's, for complaints."""
    try:
        document = json.loads(text)
        failures = frozenset(
            FailureKey(**{field: str(one[field]) for field in FailureKey._fields})
            for one in document["failures"]
        )
    except (ValueError, TypeError, KeyError) as error:
        raise BadInput(
            f"{name} is no list of known failures ({type(error).__name__}: {error}); see instar known"
        ) from None
    return failures


def compare_with_known(found: ByScene, known: frozenset[FailureKey]) -> Against:
    """Which failures of a run are new, known or fixed."""
    now = found.keys()
    tried = {place for place, result in found.results.items() if result.judged}
    gone = known - now
    fixed = {key for key in gone if (key.relation, key.scene) in tried}
    return Against(
        new=tuple(sorted(now - known)),
        known=tuple(sorted(now & known)),
        fixed=tuple(sorted(fixed)),
        untried=tuple(sorted(gone - fixed)),
    )
