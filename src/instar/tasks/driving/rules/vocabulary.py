"""The words of the rule language, read from `vocabulary.toml`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from instar.core.toml_file import load_resource

__all__ = ["ENGLISH", "IF", "THEN", "THINGS", "invert", "listed", "ways"]

_Meaning = TypeVar("_Meaning")
WAYS = {"down": -1, "same": 0, "up": 1, "left": 1, "right": -1}


def listed(phrases: str) -> list[str]:
    """Phrases that are written with commas between them, so that a table of words stays readable."""
    return [phrase.strip() for phrase in phrases.split(",")]


def invert(table: Mapping[_Meaning, Iterable[str]]) -> dict[str, _Meaning]:
    """The meaning of each phrase, from the phrases of each meaning."""
    return {phrase: meaning for meaning, phrases in table.items() for phrase in phrases}


def ways(table: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """For each phrase -1 (down, right), 0 (the same) or 1 (up, left)."""
    return {phrase: WAYS[way] for phrase, way in invert(table).items()}


def _lists(entry: Any) -> Any:
    return listed(entry) if isinstance(entry, str) else {key: _lists(value) for key, value in entry.items()}


_TABLES: Mapping[str, Mapping[str, Any]] = _lists(
    load_resource("instar.tasks.driving.rules", "vocabulary.toml")
)
IF, THEN, THINGS, ENGLISH = (_TABLES[name] for name in ("if", "then", "things", "english"))
