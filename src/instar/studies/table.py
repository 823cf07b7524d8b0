"""A table of a study, the same for people and for files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Table"]


@dataclass(frozen=True, slots=True)
class Table:
    """A title, rows of text of which the first are headings, and a sentence on what they say.

    `data` is the same with one number to a cell, for files, where the rows for people have more in one.
    """

    name: str
    title: str
    rows: Sequence[Sequence[str]]
    note: str = ""
    data: Sequence[Sequence[str]] = ()

    def to_json(self) -> dict[str, Any]:
        document = {"title": self.title, "rows": [list(row) for row in self.rows], "note": self.note}
        return document | {"data": [list(row) for row in self.data]} if self.data else document
