"""Small parsers that are put together to larger ones, and try every way to read a sentence.

A parser is called with the text and a position, and yields each (value, next position) that it can
read there. What no way could get past is remembered, so that a refusal can name the word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from instar.tasks.driving.rules.words import Token

__all__ = [
    "Found",
    "Number",
    "Numeral",
    "Objection",
    "Parser",
    "Phrase",
    "Text",
    "alt",
    "many",
    "named",
    "only",
    "opt",
    "quietly",
    "seq",
    "skip",
    "to",
    "vocabulary",
]


class Parser(Protocol):
    """Anything that reads a piece of a text in one or more ways."""

    def __call__(self, text: Text, at: int) -> Iterator[tuple[Any, int]]: ...

    @property
    def parts(self) -> tuple[Parser, ...]:
        """What it is made of; a phrase has none."""


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


class Phrase:
    """One of several phrases, word for word."""

    parts: tuple[Parser, ...] = ()

    def __init__(self, *phrases: str) -> None:
        self.phrases = tuple(dict.fromkeys(phrases))
        self._by_first: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for phrase in self.phrases:
            words = tuple(phrase.split())
            self._by_first.setdefault(words[0], []).append((phrase, words))
        for entries in self._by_first.values():
            entries.sort(key=lambda entry: -len(entry[1]))  # the longest is the likeliest

    @property
    def vocabulary(self) -> set[str]:
        return {word for phrase in self.phrases for word in phrase.split()}

    def __call__(self, text: Text, at: int) -> Iterator[tuple[Found, int]]:
        if at >= len(text.words):
            text.missed(at, self._by_first)
            return
        entries = self._by_first.get(text.words[at].plain, ())
        if not entries:
            text.missed(at, self._by_first)
        for phrase, words in entries:
            for offset, word in enumerate(words):
                if at + offset >= len(text.words) or text.words[at + offset].plain != word:
                    text.missed(at + offset, [word])
                    break
            else:
                yield Found(phrase, at), at + len(words)


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number, and at which word."""

    value: float
    at: int


class Number:
    """A number in digits."""

    parts: tuple[Parser, ...] = ()

    def __call__(self, text: Text, at: int) -> Iterator[tuple[Numeral, int]]:
        if at < len(text.words) and text.words[at].plain[0].isdigit():
            yield Numeral(float(text.words[at].plain), at), at + 1
        else:
            text.missed(at, ())


@dataclass(frozen=True, eq=False)
class _Skip:
    parts: tuple[Parser, ...]

    def __call__(self, text: Text, at: int) -> Iterator[tuple[Any, int]]:
        return self.parts[0](text, at)


@dataclass(frozen=True, eq=False)
class _Seq:
    parts: tuple[Parser, ...]

    def __call__(self, text: Text, at: int) -> Iterator[tuple[Any, int]]:
        yield from self._from(0, (), text, at)

    def _from(self, part: int, values: tuple[Any, ...], text: Text, at: int) -> Iterator[tuple[Any, int]]:
        if part == len(self.parts):
            yield values, at
            return
        skipped = isinstance(self.parts[part], _Skip)
        for value, after in self.parts[part](text, at):
            yield from self._from(part + 1, values if skipped else (*values, value), text, after)


@dataclass(frozen=True, eq=False)
class _Alt:
    parts: tuple[Parser, ...]

    def __call__(self, text: Text, at: int) -> Iterator[tuple[Any, int]]:
        for part in self.parts:
            yield from part(text, at)


@dataclass(frozen=True, eq=False)
class _Opt:
    parts: tuple[Parser, ...]

    def __call__(self, text: Text, at: int) -> Iterator[tuple[Any, int]]:
        yield from self.parts[0](text, at)
        yield None, at


@dataclass(frozen=True, eq=False)
class _Many:
    """Any number of times, the most first."""

    parts: tuple[Parser, ...]

    def __call__(self, text: Text, at: int) -> Iterator[tuple[Any, int]]:
        for value, after in self.parts[0](text, at):
            for values, end in self(text, after):
                yield (value, *values), end
        yield (), at


@dataclass(frozen=True, eq=False)
class _To:
    parts: tuple[Parser, ...]
    meaning: Callable[..., Any]

    def __call__(self, text: Text, at: int) -> Iterator[tuple[Any, int]]:
        for values, after in self.parts[0](text, at):
            yield from self._meant(text, values, after)

    def _meant(self, text: Text, values: tuple[Any, ...], after: int) -> list[tuple[Any, int]]:
        try:
            return [(self.meaning(*values), after)]
        except Objection as objection:
            text.object_to(objection, after)
            return []


@dataclass(frozen=True, eq=False)
class _Only:
    parts: tuple[Parser, ...]
    fits: Callable[[Any], bool]

    def __call__(self, text: Text, at: int) -> Iterator[tuple[Any, int]]:
        return ((value, after) for value, after in self.parts[0](text, at) if self.fits(value))


@dataclass(frozen=True, eq=False)
class _Quietly:
    parts: tuple[Parser, ...]

    def __call__(self, text: Text, at: int) -> Iterator[tuple[Any, int]]:
        before = text.furthest, set(text.wanted), text.objected
        readings = list(self.parts[0](text, at))
        if not readings:
            text.furthest, text.wanted, text.objected = before
        yield from readings


@dataclass(frozen=True, eq=False)
class _Named:
    """Reads each place of a text only once, however many ways lead there."""

    parts: tuple[Parser, ...]

    def __call__(self, text: Text, at: int) -> Iterator[tuple[Any, int]]:
        key = (id(self), at)
        if key not in text.known:
            # Two ways to the same meaning are one; without this the ways would multiply.
            text.known[key] = []
            for reading in self.parts[0](text, at):
                if reading not in text.known[key]:
                    text.known[key].append(reading)
        yield from text.known[key]


def skip(part: Parser) -> Parser:
    """The part, whose value nobody needs: in a sequence it is left out."""
    return _Skip((part,))


def seq(*parts: Parser) -> Parser:
    """All of them, one after the other; the value is the tuple of theirs."""
    return _Seq(parts)


def alt(*parts: Parser) -> Parser:
    """Any of them, in every way each can be read."""
    return _Alt(parts)


def opt(part: Parser) -> Parser:
    """The part, or None where it is not."""
    return _Opt((part,))


def many(part: Parser) -> Parser:
    """The part any number of times, also none; the value is a tuple."""
    return _Many((part,))


def to(meaning: Callable[..., Any], *parts: Parser) -> Parser:
    """All of them in order, and what `meaning` makes of their values; it may raise `Objection`."""
    return _To((_Seq(parts),), meaning)


def only(fits: Callable[[Any], bool], part: Parser) -> Parser:
    """The part where its value fits; elsewhere this way of reading is none, which nobody objects to."""
    return _Only((part,), fits)


def quietly(part: Parser) -> Parser:
    """The part; where it cannot be read nobody hears how far it got, for something else was meant there."""
    return _Quietly((part,))


def named(part: Parser) -> Parser:
    """The same parser, remembering what it read in each place."""
    return _Named((part,))


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
            words |= part.vocabulary if isinstance(part, Phrase) else set()
    return words
