"""Why a rule was not accepted: which word, where, and what would have been understood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from instar.core.errors import BadInput

__all__ = ["RefusedRule"]


class RefusedRule(BadInput):
    """A sentence that is not read, because a word of it would have to be ignored or guessed.

    `word` is as it was written, "" where the sentence ends too soon; `column` counts from 1.

    >>> print(RefusedRule("'dgo' is not known", word="dgo", column=7, suggestions=["dog"]))
    'dgo' is not known (column 7); did you mean 'dog'?
    """

    def __init__(self, why: str, *, word: str, column: int, suggestions: Sequence[str] = ()) -> None:
        hint = " or ".join(map(repr, suggestions))
        where = f"column {column}" if not word or repr(word) in why else f"at {word!r}, column {column}"
        super().__init__(f"{why} ({where})" + (f"; did you mean {hint}?" if hint else ""))
        self.word = word
        self.column = column
        self.suggestions = list(suggestions)

    @property
    def details(self) -> dict[str, Any]:
        """What a program wants to know besides the message."""
        return {"word": self.word, "column": self.column, "suggestions": self.suggestions}
