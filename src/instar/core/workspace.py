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

__all__ = ["Folder", "no_progress", "prepare_relation"]


class _Silent:
    def advance(self, n: int = 1) -> None:
        """Nobody is watching."""


@contextlib.contextmanager
def no_progress(what: str, total: int | None) -> Iterator[Any]:
    yield _Silent()


def _say_nothing(line: str) -> None:
    """Nobody is listening."""


def _ask_nobody(relation: Relation, search: Any) -> None:
    """There is no system."""


@dataclass(frozen=True)
class Folder:
    """A workspace (see `instar.core.relation.Workspace`): a folder, and whom to tell."""

    folder: Path
    progress: Callable[[str, int | None], Any] = no_progress
    say: Callable[[str], None] = _say_nothing
    rehearse: Callable[[Relation, Any], Sequence[Any] | None] = _ask_nobody


def prepare_relation(relation: Relation, scenes: Sequence[Scene], workspace: Folder) -> Relation:
    """The relation with whatever it has to collect from the scenes first, under the name it had."""
    if relation.prepare is None:
        return relation
    return dataclasses.replace(relation.prepare(scenes, workspace), name=relation.name)
