"""A campaign: scenes x relations x search x system, and the store that remembers it.

Where and how fast it runs is the business of `instar.engines`; what happens to a scene is told in
`instar.core.scene_run`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.core.marks import Panel
from instar.core.record import Record, Skipped, Source, Totals
from instar.core.referees import Referee
from instar.core.relation import Relation
from instar.core.scene import Scene
from instar.core.search import Search, SearchAcross, require_fit
from instar.core.system import Limits, Reply, System


class AnswerKey(NamedTuple):
    """What an answer is kept under: who was asked what, and which asking it was."""

    fingerprint: str
    input: str
    repeat: int


class Store(Protocol):
    """What a campaign needs to remember; everything given to it is safe once the call returns.

    `keep_records` is the exception: records follow from answers, so they may wait for the next
    `keep_answers` or `keep_totals`.
    """

    def answer(self, key: AnswerKey) -> Reply | None: ...

    def keep_answers(self, replies: Sequence[tuple[AnswerKey, Reply]]) -> list[Reply]:
        """Remember them, and give them back as they will be read later."""

    def forget_answers(self, keys: Sequence[AnswerKey]) -> None: ...

    def keep_records(self, records: Sequence[Record]) -> None: ...

    def keep_source(self, source: Source) -> None:
        """Raises SceneChanged when the same source was kept with another content."""

    def keep_skipped(self, skipped: Skipped) -> None: ...

    def keep_picture(self, digest: str, pixels: npt.NDArray[np.uint8]) -> None: ...

    def keep_panels(self, case: str, panels: Sequence[Panel], *, exact: bool) -> None:
        """The pictures of a finding, so that nobody has to make them again to look at it."""

    def keep_totals(self, totals: Totals) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """What is to be tested on what, how, and within which limits."""

    scenes: Sequence[Scene]
    relations: Sequence[tuple[Relation, Search | SearchAcross]]
    system: System
    seed: int = 0
    limits: Limits = field(default_factory=Limits)
    name: str = ""  # of the run, for the record
    referees: Sequence[Referee] = ()

    def __post_init__(self) -> None:
        _require_unique("relation", [relation.name for relation, _ in self.relations])
        _require_unique("scene", [scene.id for scene in self.scenes])
        for relation, search in self.relations:
            require_fit(search, relation)
        _require_unique("referee", [referee.name for referee in self.referees])
        if not self.relations:
            raise BadInput("no relation was given; name at least one")
        if not self.scenes:
            raise BadInput("there are no scenes to test on")
        # Not by the protocol, which is blind to what an object fetches from the one that it stands for.
        if not (isinstance(getattr(self.system, "name", None), str) and hasattr(self.system, "predict")):
            raise BadInput(f"{self.system!r} is no system: it needs a name and predict(inputs)")


def _require_unique(what: str, names: Sequence[Any]) -> None:
    seen: set[Any] = set()
    for name in names:
        if name in seen:
            raise BadInput(f"two {what}s are called {name!r}; give one another name")
        seen.add(name)
