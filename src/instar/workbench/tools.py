"""What the workbench is given to work with, so that it need not know the command line or any task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from instar.core.scene import Image
from instar.report.case_view import CaseView

__all__ = ["Cases", "CatalogueOption", "Tools"]


class Cases(Protocol):
    """A run that is open: its cases with their pictures, made from the recipes; nothing is asked."""

    def show(self, case: str) -> CaseView: ...

    def drawing(self, case: str) -> Image | None:
        """The relation's own drawing of a case."""

    def answers(self, case: str) -> Sequence[str]:
        """What the system said to the source and to each follow-up, in words."""


@dataclass(frozen=True, slots=True)
class CatalogueOption:
    """What a campaign can be made of: a line about it, and the tasks it is for; none where it fits any.

    `numbers` may be given to a search; of each it says whether it is a list of them.
    `is_explained` says of a system that one of the interpreters explains it, or may.
    """

    what: str = ""
    tasks: Sequence[str] = ()
    numbers: Mapping[str, bool] = field(default_factory=dict)
    is_explained: bool = False

    def fits(self, other: CatalogueOption) -> bool:
        return not (self.tasks and other.tasks) or bool(set(self.tasks) & set(other.tasks))


@dataclass(frozen=True, slots=True, eq=False)
class Tools:
    """Functions and names from outside.

    `command` starts instar as a child process, to which arguments are added. `systems`, `relations` and
    `searches` can be ordered by name; the relation of driving rules is `rule`. `worlds` are drawn ones,
    `scenes` what else a campaign may look at.
    `read_rule` raises BadInput, with `details` where one word is to blame; `picture_rule` gives the source
    and what the rule makes of it, at once when `prepare_rules` was called before.
    """

    command: Sequence[str]
    opened: Callable[[Path], AbstractContextManager[Cases]]
    systems: Mapping[str, CatalogueOption]
    relations: Mapping[str, CatalogueOption]
    rule: CatalogueOption
    searches: Mapping[str, CatalogueOption]
    interpreters: Sequence[str]
    worlds: Sequence[str]
    scenes: Sequence[str]
    read_rule: Callable[[str], Mapping[str, Any]]
    picture_rule: Callable[[str], Sequence[Image]]
    prepare_rules: Callable[[], None]
