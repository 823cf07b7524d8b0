"""A table of a study, the same for people and for files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Table"]


@dataclass(frozen=True, slots=True)
class Table:
    """A title, rows of text of which the first are headings, and a sentence on what they say."""

    name: str
    title: str
    rows: Sequence[Sequence[str]]
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"title": self.title, "rows": [list(row) for row in self.rows], "note": self.note}
