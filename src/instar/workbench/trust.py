"""Whose code may be run: a run folder may come from anybody, and its plan may name anything."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path

from instar.campaigns.plan import code_named_by, make_plan, uses_of
from instar.core.errors import InstarError
from instar.user_file import parse_toml


class Trust:
    """What may be imported until the workbench ends: names given when it was started, and those agreed to.

    Campaigns that were started here name nothing else: they are ordered from what was offered.
    """

    def __init__(self, given: Iterable[str] = ()) -> None:
        self._given = frozenset(given)
        self._agreed: dict[Path, frozenset[str]] = {}
        self._lock = threading.Lock()

    def unknown(self, folder: Path) -> list[str]:
        """The code that the plan of a run names and nobody has vouched for; none where it may be run."""
        known = self._given | self._agreed.get(folder, frozenset())
        return [name for name in _code_of(folder) if name not in known]

    def flags(self, folder: Path) -> list[str]:
        """What a command needs to be told so that it may run the code of a trusted run."""
        return ["--trust"] if _code_of(folder) and not self.unknown(folder) else []

    def agree(self, folder: Path, names: Iterable[str]) -> None:
        """Let the run import these; should its plan name others later, that is asked again."""
        with self._lock:
            self._agreed[folder] = self._agreed.get(folder, frozenset()) | frozenset(names)


def _code_of(folder: Path) -> list[str]:
    try:
        plan = make_plan(parse_toml((folder / "plan.toml").read_text(encoding="utf-8")), complete=False)
    except (OSError, UnicodeDecodeError, InstarError):
        return []  # without a plan nothing is looked up, and nothing imported
    return list(dict.fromkeys(name for _, use in uses_of(plan) for name in code_named_by(use)))
