"""A sentence as words, each with the column it stands in, and why one is refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from instar.core.errors import BadInput

_TOKEN = re.compile(
    r"""
    (?P<unit>km/hr|km/h|m/s|mi/h)
  | (?P<number>\d+(?:\.\d+)?(?!\.?\d))
  | (?P<negated>[^\W\d_]+)n['’]t\b
  | ['’](?P<short>s|re|ve|ll)\b
  | (?P<word>[^\W\d_]+)
  | (?P<mark>[%°,.:;])
  | (?P<space>\s+|(?<=[^\W_])[-‐‑–](?=[^\W_]))
    """,
    re.VERBOSE | re.IGNORECASE,
)
MOST_WORDS = 400
MOST_NUMBER = 1e9
_SHORT = {"s": "'s", "re": "are", "ve": "have", "ll": "will"}
_NEGATED = {"ca": "can", "wo": "will", "sha": "shall"}


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


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number, unit or mark: as it was written, as the grammar knows it, and where (from 1)."""

    text: str
    plain: str
    column: int

    def refuse(self, why: str, suggestions: Sequence[str] = ()) -> RefusedRule:
        """The refusal of a sentence because of this word."""
        return RefusedRule(why, word=self.text, column=self.column, suggestions=suggestions)


def tokenize(sentence: str) -> tuple[Token, ...]:
    """The words of a sentence; hyphens separate, "shouldn't" is two words.

    >>> [word.plain for word in tokenize("The ego-vehicle shouldn't brake, 10km/h.")]
    ['the', 'ego', 'vehicle', 'should', 'not', 'brake', ',', '10', 'km/h', '.']
    """
    words: list[Token] = []
    at = 0
    while at < len(sentence):
        token = _TOKEN.match(sentence, at)
        if token is None:
            word = re.split(r"[\s,.:;]", sentence[at:])[0]
            raise Token(word, word, at + 1).refuse(f"{word!r} cannot be read")
        words += _words(token)
        at = token.end()
        if len(words) > MOST_WORDS:
            raise words[-1].refuse(f"a rule has at most {MOST_WORDS} words: write several rules")
    return tuple(words)


def _words(token: re.Match[str]) -> list[Token]:
    column = token.start() + 1
    text = token[0]
    if token["space"]:
        return []
    if token["number"] and float(text) > MOST_NUMBER:
        raise Token(text, text, column).refuse(f"{text[:20]}... is too large a number")
    if token["negated"]:
        stem = token["negated"]
        plain = _NEGATED.get(stem.lower(), stem.lower())
        return [Token(stem, plain, column), Token(text[len(stem) :], "not", column + len(stem))]
    if token["short"]:
        return [Token(text, _SHORT[token["short"].lower()], column)]
    if text.lower() == "cannot":
        return [Token(text[:3], "can", column), Token(text[3:], "not", column + 3)]
    return [Token(text, text.lower(), column)]
