"""What a campaign leaves behind: one record per case, and the totals of the run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from instar.core.change import Change
from instar.core.verdict import Verdict

if TYPE_CHECKING:
    from instar.core.marks import Panel


@dataclass(frozen=True, slots=True)
class Record:
    """One case: a change of one source and what came of it.

    `role` is "null" for the change that measures false alarms; those are no cases. `source` is the
    scene's id, or `scene#part` where a scene is several questions. `ordinal` counts the changes of one
    search from 0. `change` is None when the system failed on the source already. `queries` are the
    questions this case needed, its checks included.
    """

    case: str
    scene: str
    source: str
    relation: str
    ordinal: int
    change: Change | None
    verdict: Verdict
    role: Literal["case", "null"] = "case"
    queries: int = 0
    naturalness: float | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A question that was asked of an unchanged scene, with the content hash of its input."""

    id: str
    scene: str
    digest: str


@dataclass(frozen=True, slots=True)
class Empty:
    """A source on which the system found nothing."""

    source: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A scene that could not be read, and why."""

    scene: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class KeptPixels:
    """A picture that a change needs, under its content hash."""

    digest: str
    pixels: Any


@dataclass(frozen=True, slots=True, eq=False)
class KeptPanels:
    """The pictures of a case that was violated; `exact` where nobody else could make them again."""

    case: str
    panels: Sequence[Panel]
    exact: bool


@dataclass(frozen=True, slots=True)
class Repeat:
    """A source that was asked again just as it is: whether the answer was the same to the last bit, and
    whether it contradicts the first.
    """

    identical: bool
    contradicts: bool


@dataclass(frozen=True, slots=True)
class Totals:
    """The account of a whole run.

    `queries` are the questions the plan needed, cached or not; `asked` those that were sent now.
    `scenes` are those whose source was asked. `finished` is False when time, a failure or an
    interrupt ended it; a budget that was used up is a regular end. `yields` are relations whose search looks
    for failures, so that no rate follows from it. `isolated` is False for a user's system that shared the
    process. `repeats` are sources that were asked again just as they are; of them so many got another answer,
    and so many one that contradicts the first. `pictures_left_out` are findings without kept
    pictures, since the limit of disk space was reached. `referees` are those that were asked for what is
    there, each with the reason why it could not be ("" where it could); `referee_queries` is how often.
    `empty` are sources on which nothing was found. `remark` is what a reader must know of the system first.
    """

    run: str
    system: str
    seed: int
    scenes: int
    queries: int
    asked: int
    seconds: float
    price_per_query: float = 0.0
    skipped: Sequence[Skipped] = field(default_factory=tuple)
    finished: bool = True
    task: str = ""
    yields: Sequence[str] = ()
    isolated: bool = True
    repeats: int = 0
    differing: int = 0
    contradicting: int = 0
    pictures_left_out: int = 0
    referees: Mapping[str, str] = field(default_factory=dict)
    referee_queries: int = 0
    empty: int = 0
    remark: str = ""


def case_id(system: str, relation: str, source: str, ordinal: int, change: Change | None) -> str:
    """The name of a case: 16 hexadecimal digits that any run of the same plan gives it again."""
    recipe = [system, relation, source, ordinal, change.to_json() if change else None]
    text = json.dumps(recipe, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
