"""A grammar written as text, which tries every way to read a sentence.

A rule has a name and the ways to read it, one on each line, or with | between them:

    name: part part? (part | part part)* -> meaning key=value

A part is another rule, a phrase ("a|an" is either), or the words of a list: `<fall>` out of the
vocabulary's table that the last [heading] names, `<then.fall>` out of any table, `<fall,rise>` out of both.
Verbs have forms: `does<fall>`. `?` makes a part optional, `*` repeats it, and behind `~` it is read quietly.
`digits` is a number in digits.

A meaning is a function. It is given the values of those parts that have the name of a parameter: a rule has
its own name, and any part may be named by `key=part`. The value of a phrase is `Found`. Without a meaning the
value is that of the last part; behind -> may also stand the name of a part, or a "constant".

A parser is called with the text and a position, and yields each (value, next position) that it can
read there. What no way could get past is remembered, so that a refusal can name the word.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from instar.tasks.driving.rules.vocabulary import finite, gerunds, participles
from instar.tasks.driving.rules.words import Token

Readings = Iterator[tuple[Any, int]]
Parser = Callable[["Text", int], Readings]
_FORMS: Mapping[str, Callable[[Sequence[str]], list[str]]] = {
    "finite": finite,
    "verb": lambda verbs: [*finite(verbs), *(f"be {gerund}" for gerund in gerunds(verbs))],
    "command": lambda verbs: [*verbs, *gerunds(verbs)],
    "gerund": gerunds,
    "participle": participles,
}
_PHRASES = {
    "does": """
        finite@ | "is|are|was|were|'s|starts|start|begins|begin" gerund@ | "has|have" participle@
        | "starts to|start to|begins to|begin to" @""",
    "done": "<english.be>? participle@",
}
"""Forms of more than a word; @ stands for the verbs."""
_TOKEN = re.compile(r'\w+=|\w*"[^"]+"|\w*<[^>]+>|\w+|[()|?*~]')


class Objection(Exception):
    """Raised while a meaning is made: these words can be read, but make no sense at the word `at`."""

    def __init__(self, at: int, why: str, known: Iterable[str] = ()) -> None:
        super().__init__(why)
        self.at = at
        self.why = why
        self.known = tuple(known)


class Unfit(Exception):
    """Raised by a meaning: this way of reading is none, which nobody objects to."""


@dataclass(slots=True)
class Text:
    """The words of a sentence and how far anyone got in them."""

    words: tuple[Token, ...]
    furthest: int = 0
    wanted: set[str] = field(default_factory=set)
    objected: tuple[int, Objection] | None = None
    known: dict[tuple[str, int], list[tuple[Any, int]]] = field(default_factory=dict)

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


class Grammar:
    """The rules of a text over tables of words; `vocabulary` is every word that they know."""

    def __init__(self, text: str, tables: Mapping[str, Any], meanings: Iterable[Callable[..., Any]]) -> None:
        self.vocabulary: set[str] = set()
        self._tables, self._meanings = tables, {meaning.__name__: meaning for meaning in meanings}
        self._rules: dict[str, Parser] = {"digits": _digits}
        self._table = name = ""
        ways: dict[str, list[Parser]] = {}
        for line in filter(None, (re.sub(r"^\s*#.*", "", line).rstrip() for line in text.splitlines())):
            if line.startswith("["):
                self._table = line.strip("[]")
                continue
            if not line.startswith(" "):
                name, _, line = line.partition(":")
            if line:
                parts, _, meaning = line.partition("->")
                way = self._ways(_TOKEN.findall(parts)[::-1], meaning.strip())
                ways.setdefault(name, []).append(way)
        self._rules |= {name: _once(name, _any(parsers)) for name, parsers in ways.items()}

    def read(self, rule: str, text: Text) -> Readings:
        """Every way to read the beginning of a text as that rule."""
        return self._rules[rule](text, 0)

    def _ways(self, tokens: list[str], meaning: str = "") -> Parser:
        """What stands up to the end or to a bracket; the tokens are taken from the end of the list."""
        ways: list[Parser] = []
        parts: list[tuple[str, Parser]] = []
        while True:
            token = tokens.pop() if tokens else ")"
            if token in "|)":
                made = self._meaning(meaning, [name for name, _ in parts])
                ways.append(_meant([part for _, part in parts], made))
                parts = []
                if token == ")":
                    return _any(ways)
                continue
            name = token
            if token.endswith("="):
                name, token = token[:-1], tokens.pop()
            is_quiet = token == "~"
            token = tokens.pop() if is_quiet else token
            part = self._ways(tokens) if token == "(" else self._part(token)
            part = _quietly(part) if is_quiet else part
            if tokens and tokens[-1] in "?*":
                part = (_optional if tokens.pop() == "?" else _many)(part)
            parts.append((name, part))

    def _part(self, token: str) -> Parser:
        written = re.fullmatch(r'(\w*)(["<](.+)[">])', token)
        if written is None:
            return lambda text, at: self._rules[token](text, at)
        form, verbs, said = written.groups()
        if form in _PHRASES:
            return self._ways(_TOKEN.findall(_PHRASES[form].replace("@", verbs))[::-1])
        lists = [said.split("|")] if verbs[0] == '"' else map(self._list, said.split(","))
        phrases = [phrase for one in lists for phrase in one]
        phrases = _FORMS[form](phrases) if form else phrases
        self.vocabulary.update(word for phrase in phrases for word in phrase.split())
        return _phrase(dict.fromkeys(phrases))

    def _list(self, name: str) -> list[str]:
        found: Any = self._tables
        for key in name.split(".") if "." in name else (self._table, name):
            found = found[key]
        return [w for words in found.values() for w in words] if isinstance(found, Mapping) else list(found)

    def _meaning(self, said: str, names: Sequence[str]) -> Callable[..., Any]:
        """What is made of the values of parts with these names."""
        if not said:
            return lambda *values: values[-1]
        if said.startswith('"'):
            return lambda *values: said.strip('"')
        name, *constants = said.split()
        if name in names:
            return lambda *values: values[names.index(name)]
        meaning = self._meanings[name]
        known = inspect.signature(meaning).parameters
        fixed: dict[str, Any] = dict(constant.split("=") for constant in constants)
        fixed = {key: int(value) if value[-1].isdigit() else value for key, value in fixed.items()}
        wanted = [(key, at) for at, key in enumerate(names) if key in known]
        return lambda *values: meaning(**fixed, **{key: values[at] for key, at in wanted})


def _phrase(phrases: Iterable[str]) -> Parser:
    """One of several phrases, word for word."""
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

    return read


def _digits(text: Text, at: int) -> Readings:
    if at < len(text.words) and text.words[at].plain[0].isdecimal():
        yield Numeral(float(text.words[at].plain), at), at + 1
    else:
        text.missed(at, ())


def _meant(parts: Sequence[Parser], meaning: Callable[..., Any]) -> Parser:
    """All of them in order, and what `meaning` makes of their values."""

    def read(text: Text, at: int, values: tuple[Any, ...] = ()) -> Readings:
        if len(values) < len(parts):
            for value, after in parts[len(values)](text, at):
                yield from read(text, after, (*values, value))
            return
        try:
            meant = meaning(*values)
        except Objection as objection:
            text.object_to(objection, at)
        except Unfit:
            pass
        else:
            yield meant, at

    return read


def _any(parts: Sequence[Parser]) -> Parser:
    """Any of them, in every way each can be read."""
    return lambda text, at: (reading for part in parts for reading in part(text, at))


def _optional(part: Parser) -> Parser:
    """The part, or None where it is not."""

    def read(text: Text, at: int) -> Readings:
        yield from part(text, at)
        yield None, at

    return read


def _many(part: Parser) -> Parser:
    """The part any number of times, the most first, also none; the value is a tuple."""

    def read(text: Text, at: int) -> Readings:
        for value, after in part(text, at):
            for values, end in read(text, after):
                yield (value, *values), end
        yield (), at

    return read


def _quietly(part: Parser) -> Parser:
    """The part; where it cannot be read nobody hears how far it got, for something else was meant there."""

    def read(text: Text, at: int) -> Readings:
        before = text.furthest, set(text.wanted), text.objected
        readings = list(part(text, at))
        if not readings:
            text.furthest, text.wanted, text.objected = before
        yield from readings

    return read


def _once(name: str, part: Parser) -> Parser:
    """The rule of that name, which reads each place of a text only once, however many ways lead there."""

    def read(text: Text, at: int) -> Readings:
        key = (name, at)
        if key not in text.known:
            # Two ways to the same meaning are one; without this the ways would multiply.
            text.known[key] = []
            for reading in part(text, at):
                if reading not in text.known[key]:
                    text.known[key].append(reading)
        yield from text.known[key]

    return read
