"""A sentence as words, each with the column it stands in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from instar.tasks.driving.rules.refusal import RefusedRule

__all__ = ["Token", "tokenize"]

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
_SHORT = {"s": "'s", "re": "are", "ve": "have", "ll": "will"}
_NEGATED = {"ca": "can", "wo": "will", "sha": "shall"}


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number, unit or mark: as it was written, as the grammar knows it, and where (from 1)."""

    text: str
    plain: str
    column: int


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
            raise RefusedRule(f"{word!r} cannot be read", word=word, column=at + 1)
        words += _words(token)
        at = token.end()
    return tuple(words)


def _words(token: re.Match[str]) -> list[Token]:
    column = token.start() + 1
    text = token[0]
    if token["space"]:
        return []
    if token["negated"]:
        stem = token["negated"]
        plain = _NEGATED.get(stem.lower(), stem.lower())
        return [Token(stem, plain, column), Token(text[len(stem) :], "not", column + len(stem))]
    if token["short"]:
        return [Token(text, _SHORT[token["short"].lower()], column)]
    if text.lower() == "cannot":
        return [Token(text[:3], "can", column), Token(text[3:], "not", column + 3)]
    return [Token(text, text.lower(), column)]
