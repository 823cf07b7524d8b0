"""Reading a rule: every word is used, or the rule is refused with the word."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from functools import cache

from instar.tasks.driving.rules.clauses import Clause
from instar.tasks.driving.rules.conditions import conditions, premises
from instar.tasks.driving.rules.expectations import expectations
from instar.tasks.driving.rules.expected import Expected
from instar.tasks.driving.rules.grammar import (
    Found,
    Objection,
    Parser,
    Text,
    alt,
    many,
    opt,
    phrase,
    quietly,
    seq,
    skip,
    to,
    vocabulary,
)
from instar.tasks.driving.rules.kinds import alike, known_kind, most_alike
from instar.tasks.driving.rules.model import Block, Condition, Rule
from instar.tasks.driving.rules.ontology import Ontology, usual_ontology
from instar.tasks.driving.rules.refusal import RefusedRule
from instar.tasks.driving.rules.resolve import resolve
from instar.tasks.driving.rules.vocabulary import listed
from instar.tasks.driving.rules.words import Token, tokenize

__all__ = ["Language", "read_rule", "usual_language"]

_IF = listed(
    "if, when, whenever, once, as soon as, every time, each time, in case, in the event that, provided that, "
    "provided, assuming that, assuming, given that, supposing that, supposing, suppose that, suppose, while, "
    "after"
)
_BOUNDS = ("more", "less", "greater", "fewer", "higher", "lower", "equal")  # "10 km/h or more"
_Said = tuple[tuple[Clause, ...], Expected]


class Language:
    """The rule language over one ontology: its grammar and the words it knows.

    As in the `paper`, an unknown noun may stand for the known one that is most similar.
    """

    def __init__(self, ontology: Ontology, *, paper: bool = False) -> None:
        self.ontology, self.paper = ontology, paper
        self._grammar = _rule(conditions(ontology), premises(ontology), expectations(ontology))
        self._vocabulary = vocabulary(self._grammar)

    def read(self, sentence: str) -> Rule:
        """The rule that a sentence says, or `RefusedRule` with the word that stands in the way."""
        text = Text(self._known(tokenize(sentence)))
        readings: list[Rule] = []
        objections: list[Objection] = []
        for blocks, end in self._grammar(text, 0):
            if end < len(text.words):
                text.missed(end, ["if"])
                continue
            try:
                rule = _resolved(self.ontology, blocks)
            except Objection as objection:
                objections.append(objection)
            else:
                if rule not in readings:
                    readings.append(rule)
        if len(readings) == 1:
            return readings[0]
        if readings:
            raise RefusedRule(
                f"the rule can be read in {len(readings)} ways", word=text.words[0].text, column=1
            )
        if objections:
            raise _refusal(sentence, text, objections[0])
        if text.objected is not None and text.objected[0] >= text.furthest:
            raise _refusal(sentence, text, text.objected[1])
        raise _misplaced(sentence, text)

    def _known(self, words: tuple[Token, ...]) -> tuple[Token, ...]:
        """The words, with nouns that are kinds of something known in its place; others are refused."""
        known: list[Token] = []
        at = 0
        while at < len(words):
            word = words[at]
            if word.plain in self._vocabulary or word.plain[0].isdigit():
                known.append(word)
                at += 1
                continue
            kind = known_kind(self.ontology, words[at:], self._vocabulary) or self._similar(word)
            if kind is None:
                spelt = difflib.get_close_matches(word.plain, sorted(self._vocabulary), n=3, cutoff=0.7)
                near = list(dict.fromkeys([*spelt, *alike(self.ontology, word.plain)]))[:3]
                raise RefusedRule(
                    f"{word.text!r} is not known", word=word.text, column=word.column, suggestions=near
                )
            known.append(kind[0])
            at += kind[1]
        return tuple(known)

    def _similar(self, word: Token) -> tuple[Token, int] | None:
        found = most_alike(self.ontology, word.plain) if self.paper else None
        return None if found is None else (Token(word.text, found[0], word.column), 1)

    def guessed(self, sentence: str) -> list[tuple[str, str, float]]:
        """The words of a sentence that were taken for the most similar known one, which, and how similar."""
        found = []
        words = tokenize(sentence)
        for at, word in enumerate(words):
            if word.plain in self._vocabulary or not word.plain.isalpha():
                continue
            if known_kind(self.ontology, words[at:], self._vocabulary) is None:
                similar = most_alike(self.ontology, word.plain)
                found += [(word.text, *similar)] if similar is not None else []
        return found


@cache
def usual_language() -> Language:
    """The language over instar's own ontology."""
    return Language(usual_ontology())


def read_rule(sentence: str, *, language: Language | None = None) -> Rule:
    """The rule that a sentence says.

    >>> rule = read_rule("If: a pedestrian appears on the roadside, Then: the ego-vehicle should slow down.")
    >>> rule.blocks[0].conditions[0].op, rule.blocks[0].expectation.direction
    ('add', 'decrease')
    """
    return (language or usual_language()).read(sentence)


def _rule(condition: Parser, premise: Parser, expectation: Parser) -> Parser:
    """Blocks: "If: ..., Then: ...", "If ..., ...", "... if ...", "At night ...", "... at night"."""
    expectation = _one(expectation)
    colon = opt(phrase(":", ","))
    begin = seq(
        opt(phrase("and", "also", "furthermore", "moreover", "further", "additionally")), opt(phrase(","))
    )
    when = seq(phrase(*_IF), colon)
    when_so = to(lambda clauses: clauses, skip(when), condition)
    then = seq(phrase("then"), colon)
    between = alt(seq(opt(phrase(",", ".", ";")), then), phrase(",", ":"), seq())
    end = opt(alt(seq(phrase(".", ";"), opt(phrase("."))), phrase(",")))
    block = alt(
        to(lambda cs, e: (cs, e), skip(begin), alt(when_so, premise), skip(between), expectation, skip(end)),
        to(
            lambda e, cs: (cs, e),
            skip(begin),
            skip(opt(then)),
            expectation,
            skip(opt(phrase(","))),
            alt(when_so, quietly(premise)),
            skip(end),
        ),
    )
    return to(lambda first, rest: (first, *rest), block, many(block))


def _one(expectation: Parser) -> Parser:
    """A single expectation; a second one is named as what is wrong."""

    def refuse(word: Found) -> None:
        raise Objection(word.at, f"{word.phrase!r} brings a second expectation: write a second rule for it")

    return alt(expectation, to(refuse, skip(expectation), phrase("and", "or", "but"), skip(expectation)))


def _resolved(ontology: Ontology, said: Sequence[_Said]) -> Rule:
    blocks: list[Block] = []
    earlier: list[Condition] = []
    for number, (clauses, expected) in enumerate(said, start=1):
        here: list[Condition] = []
        for clause in clauses:
            here.append(resolve(ontology, clause, [*earlier, *here], earlier))
        blocks.append(Block(tuple(here), expected.in_block(number)))
        earlier += here
    return Rule(tuple(blocks))


def _refusal(sentence: str, text: Text, objection: Objection) -> RefusedRule:
    word = text.words[objection.at]
    return RefusedRule(
        objection.why, word=word.text, column=word.column, suggestions=_nearest(word.plain, objection.known)
    )


def _misplaced(sentence: str, text: Text) -> RefusedRule:
    """The refusal for the first word that no reading got past, or for a sentence that ends too soon."""
    for word, following in zip(text.words[: text.furthest + 1], text.words[1:]):
        if word.plain in ("or", "but") and following.plain not in _BOUNDS:
            why = f"{word.text!r} gives alternatives or exceptions, and a rule has none: write two rules"
            return RefusedRule(why, word=word.text, column=word.column)
    if all(word.plain in ".,;:" for word in text.words[text.furthest :]):
        missing = _missing(text)
        return RefusedRule(
            f"the rule ends too soon{missing}",
            word="",
            column=len(sentence) + 1,
            suggestions=_nearest("", text.wanted),
        )
    word = text.words[text.furthest]
    return RefusedRule(
        f"{word.text!r} is not understood here",
        word=word.text,
        column=word.column,
        suggestions=_nearest(word.plain, text.wanted),
    )


def _missing(text: Text) -> str:
    words = {word.plain for word in text.words}
    if not words & {phrase.split()[0] for phrase in _IF}:
        return ": there is no If"
    return "" if "then" in words else ": there is no Then"


def _nearest(word: str, known: Iterator[str] | Sequence[str] | set[str]) -> list[str]:
    """The known words nearest to this one, or all of them where they are few."""
    choices = sorted(set(known))
    near = difflib.get_close_matches(word, choices, n=3, cutoff=0.6)
    return near or (choices if len(choices) <= 6 else [])
