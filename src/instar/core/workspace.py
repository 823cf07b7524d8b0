"""Where relations keep what they prepare for a campaign."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from instar.core.relation import Relation
from instar.core.scene import Scene


class _Silent:
    def advance(self, n: int = 1) -> None:
        """Show nothing."""


@contextlib.contextmanager
def no_progress(what: str, total: int | None) -> Iterator[Any]:
    yield _Silent()


@dataclass(frozen=True)
class Folder:
    """A folder, and ways to show progress and say things (see `instar.core.relation.Workspace`)."""

    folder: Path
    progress: Callable[[str, int | None], Any] = no_progress
    say: Callable[[str], None] = lambda line: None
    rehearse: Callable[[Relation, Any], Sequence[Any] | None] = lambda relation, search: None


def prepare_relation(relation: Relation, scenes: Sequence[Scene], workspace: Folder) -> Relation:
    """The relation with whatever it has to collect from the scenes first, under the name it had."""
    if relation.prepare is None:
        return relation
    return dataclasses.replace(relation.prepare(scenes, workspace), name=relation.name)
