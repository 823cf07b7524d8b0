"""What a command has to say, and how that becomes an exit status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ALL_HELD, VIOLATED, NOT_JUDGED = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """Text for a person, the same as a JSON document for a program, and the exit status."""

    text: str
    document: Mapping[str, Any]
    status: int = ALL_HELD
