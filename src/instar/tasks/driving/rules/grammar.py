"""Small parsers that are put together to larger ones, and try every way to read a sentence.

A parser is called with the text and a position, and yields each (value, next position) that it can
read there. What no way could get past is remembered, so that a refusal can name the word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from instar.tasks.driving.rules.words import Token

__all__ = [
    "Found", "Numeral", "Objection", "Parser", "Text", "alt", "many", "named", "number", "only", "opt",
    "phrase", "quietly", "seq", "skip", "to", "vocabulary",
]  # fmt: skip


Readings = Iterator[tuple[Any, int]]


@dataclass(frozen=True, slots=True, eq=False)
class Parser:
    """Reads a piece of a text in one or more ways; `parts` are the parsers it is made of.

    The value of one that is `skipped` is left out of a sequence.
    """

    read: Callable[[Text, int], Readings]
    parts: tuple[Parser, ...] = ()
    phrases: tuple[str, ...] = ()
    skipped: bool = False

    def __call__(self, text: Text, at: int) -> Readings:
        return self.read(text, at)


class Objection(Exception):
    """Raised while a meaning is made: these words can be read, but make no sense at the word `at`."""

    def __init__(self, at: int, why: str, known: Iterable[str] = ()) -> None:
        super().__init__(why)
        self.at = at
        self.why = why
        self.known = tuple(known)


@dataclass(slots=True)
class Text:
    """The words of a sentence and how far anyone got in them."""

    words: tuple[Token, ...]
    furthest: int = 0
    wanted: set[str] = field(default_factory=set)
    objected: tuple[int, Objection] | None = None
    known: dict[tuple[int, int], list[tuple[Any, int]]] = field(default_factory=dict)

    def missed(self, at: int, wanted: Iterable[str]) -> None:
        """Note that one of `wanted` could have stood at `at`, but does not."""
        if at > self.furthest:
            self.furthest, self.wanted = at, set()
        if at == self.furthest:
            self.wanted.update(wanted)

    def object_to(self, objection: Objection, reached: int) -> None:
        """Keep the objection that was raised after the most words had been read."""
        if self.objected is None or reached > self.objected[0]:
            self.objected = (reached, objection)


@dataclass(frozen=True, slots=True)
class Found:
    """A phrase that was found, and at which word."""

    phrase: str
    at: int


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number, and at which word."""

    value: float
    at: int


def phrase(*phrases: str) -> Parser:
    """One of several phrases, word for word."""
    phrases = tuple(dict.fromkeys(phrases))
    by_first: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for one in sorted(phrases, key=lambda one: -len(one.split())):  # the longest is the likeliest
        words = tuple(one.split())
        by_first.setdefault(words[0], []).append((one, words))

    def read(text: Text, at: int) -> Readings:
        entries = by_first.get(text.words[at].plain, ()) if at < len(text.words) else ()
        if not entries:
            text.missed(at, by_first)
        for one, words in entries:
            for offset, word in enumerate(words):
                if at + offset >= len(text.words) or text.words[at + offset].plain != word:
                    text.missed(at + offset, [word])
                    break
            else:
                yield Found(one, at), at + len(words)

    return Parser(read, phrases=phrases)


def number() -> Parser:
    """A number in digits."""

    def read(text: Text, at: int) -> Readings:
        if at < len(text.words) and text.words[at].plain[0].isdigit():
            yield Numeral(float(text.words[at].plain), at), at + 1
        else:
            text.missed(at, ())

    return Parser(read)


def skip(part: Parser) -> Parser:
    """The part, whose value nobody needs: in a sequence it is left out."""
    return Parser(part.read, (part,), skipped=True)


def seq(*parts: Parser) -> Parser:
    """All of them, one after the other; the value is the tuple of theirs."""

    def read(text: Text, at: int, done: int = 0, values: tuple[Any, ...] = ()) -> Readings:
        if done == len(parts):
            yield values, at
            return
        part = parts[done]
        for value, after in part.read(text, at):
            yield from read(text, after, done + 1, values if part.skipped else (*values, value))

    return Parser(read, parts)


def alt(*parts: Parser) -> Parser:
    """Any of them, in every way each can be read."""

    def read(text: Text, at: int) -> Readings:
        for part in parts:
            yield from part.read(text, at)

    return Parser(read, parts)


def opt(part: Parser) -> Parser:
    """The part, or None where it is not."""

    def read(text: Text, at: int) -> Readings:
        yield from part.read(text, at)
        yield None, at

    return Parser(read, (part,))


def many(part: Parser) -> Parser:
    """The part any number of times, the most first, also none; the value is a tuple."""

    def read(text: Text, at: int) -> Readings:
        for value, after in part.read(text, at):
            for values, end in read(text, after):
                yield (value, *values), end
        yield (), at

    return Parser(read, (part,))


def to(meaning: Callable[..., Any], *parts: Parser) -> Parser:
    """All of them in order, and what `meaning` makes of their values; it may raise `Objection`."""
    whole = seq(*parts)

    def read(text: Text, at: int) -> Readings:
        for values, after in whole.read(text, at):
            try:
                meant = meaning(*values)
            except Objection as objection:
                text.object_to(objection, after)
                continue
            yield meant, after

    return Parser(read, (whole,))


def only(fits: Callable[[Any], bool], part: Parser) -> Parser:
    """The part where its value fits; elsewhere this way of reading is none, which nobody objects to."""

    def read(text: Text, at: int) -> Readings:
        return ((value, after) for value, after in part.read(text, at) if fits(value))

    return Parser(read, (part,))


def quietly(part: Parser) -> Parser:
    """The part; where it cannot be read nobody hears how far it got, for something else was meant there."""

    def read(text: Text, at: int) -> Readings:
        before = text.furthest, set(text.wanted), text.objected
        readings = list(part.read(text, at))
        if not readings:
            text.furthest, text.wanted, text.objected = before
        yield from readings

    return Parser(read, (part,))


def named(part: Parser) -> Parser:
    """The same parser, which reads each place of a text only once, however many ways lead there."""

    def read(text: Text, at: int) -> Readings:
        key = (id(part), at)
        if key not in text.known:
            # Two ways to the same meaning are one; without this the ways would multiply.
            text.known[key] = []
            for reading in part.read(text, at):
                if reading not in text.known[key]:
                    text.known[key].append(reading)
        yield from text.known[key]

    return Parser(read, (part,))


def vocabulary(parser: Parser) -> set[str]:
    """Every word that the parser knows."""
    words: set[str] = set()
    seen: set[int] = set()
    todo = [parser]
    while todo:
        part = todo.pop()
        if id(part) not in seen:  # parts are shared by many
            seen.add(id(part))
            todo += part.parts
            words.update(word for one in part.phrases for word in one.split())
    return words
