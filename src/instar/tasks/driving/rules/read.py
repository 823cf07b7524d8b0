"""Reading a rule: every word is used, or the rule is refused with the word."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from instar.tasks.driving.rules import amounts, expected, then_half, things
from instar.tasks.driving.rules import clauses as if_half
from instar.tasks.driving.rules.clauses import Clauses
from instar.tasks.driving.rules.grammar import Found, Grammar, Objection, Text
from instar.tasks.driving.rules.kinds import alike, known_kind, most_alike
from instar.tasks.driving.rules.model import Block, Condition, Rule
from instar.tasks.driving.rules.ontology import Ontology, read_ontology, usual_ontology
from instar.tasks.driving.rules.resolve import as_worn, on_each_side, resolve
from instar.tasks.driving.rules.then_half import Fact, Then, compare_with, facts_of, in_block
from instar.tasks.driving.rules.things import Mention, Nouns
from instar.tasks.driving.rules.vocabulary import IF, TABLES
from instar.tasks.driving.rules.weather import Outside
from instar.tasks.driving.rules.words import RefusedRule, Token, tokenize

_MEANINGS: Sequence[Callable[..., Any]] = (
    *if_half.MEANINGS,
    *amounts.MEANINGS,
    *expected.MEANINGS,
    *then_half.MEANINGS,
    *things.MEANINGS,
)
_BOUNDS = ("more", "less", "greater", "fewer", "higher", "lower", "equal")  # "10 km/h or more"


class Language:
    """The rule language over one ontology: its grammar and the words it knows.

    As in the `paper`, an unknown noun may stand for the known one that is most similar.
    """

    def __init__(self, ontology: Ontology, *, paper: bool = False) -> None:
        self.ontology, self.paper = ontology, paper
        nouns, outside = Nouns(ontology), Outside(ontology)
        self._grammar = Grammar(
            files("instar.tasks.driving.rules").joinpath("grammar.txt").read_text(encoding="utf-8"),
            {**TABLES, "scene": {**nouns.words, **outside.words}},
            [block, given_that, nouns.mention, *outside.meanings, *_MEANINGS],
        )
        self._vocabulary = self._grammar.vocabulary

    def read(self, sentence: str) -> Rule:
        """The rule that a sentence says, or `RefusedRule` with the word that stands in the way."""
        text = Text(self._known(tokenize(sentence)))
        readings: list[Rule] = []
        objections: list[Objection] = []
        for blocks, end in self._grammar.read("rule", text):
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
            raise text.words[0].refuse(f"the rule can be read in {len(readings)} ways")
        if text.objected is not None and text.objected[0] >= text.furthest:
            objections.append(text.objected[1])
        if objections:
            word = text.words[objections[0].at]
            raise word.refuse(objections[0].why, _nearest(word.plain, objections[0].known))
        raise _misplaced(sentence, text)

    def _known(self, words: tuple[Token, ...]) -> tuple[Token, ...]:
        """The words, with nouns that are kinds of something known in its place; others are refused."""
        known: list[Token] = []
        at = 0
        while at < len(words):
            word = words[at]
            if word.plain in self._vocabulary or word.plain[0].isdecimal():
                known.append(word)
                at += 1
                continue
            kind = known_kind(self.ontology, words[at:], self._vocabulary) or self._similar(word)
            if kind is None:
                spelt = difflib.get_close_matches(word.plain, sorted(self._vocabulary), n=3, cutoff=0.7)
                near = list(dict.fromkeys([*spelt, *alike(self.ontology, word.plain)]))[:3]
                raise word.refuse(f"{word.text!r} is not known", near)
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


def open_language(ontology: Path | str | None, *, paper: bool = False) -> Language:
    """The language over the ontology in a user's file, or over instar's own."""
    if ontology is None:
        return Language(usual_ontology(), paper=True) if paper else usual_language()
    return Language(read_ontology(Path(ontology)), paper=paper)


def read_rule(sentence: str, *, language: Language | None = None) -> Rule:
    """The rule that a sentence says.

    >>> rule = read_rule("If: a pedestrian appears on the roadside, Then: the ego-vehicle should slow down.")
    >>> rule.blocks[0].conditions[0].op, rule.blocks[0].expectation.direction
    ('add', 'decrease')
    """
    return (language or usual_language()).read(sentence)


def block(
    clauses: Clauses, expected: Then, than: tuple[Found, Mention] | None = None, early: Fact | None = None
) -> tuple[Clauses, Then]:
    if than is not None and expected.than is not None:
        raise Objection(than[0].at, "'than' is said twice")
    facts = expected.facts if early is None else (early, *expected.facts)
    return clauses, dataclasses.replace(expected, than=than or expected.than, facts=facts)


def given_that(early: Fact, said: tuple[Clauses, Then]) -> tuple[Clauses, Then]:
    return block(*said, early=early)


def _resolved(ontology: Ontology, said: Sequence[tuple[Clauses, Then]]) -> Rule:
    blocks: list[Block] = []
    earlier: list[Condition] = []
    for number, (clauses, then) in enumerate(said, start=1):
        here: list[Condition] = []
        for clause in (one for both in clauses for one in on_each_side(both)):
            here.append(as_worn(resolve(ontology, clause, [*earlier, *here], earlier)))
        here = compare_with(here, then)
        here += facts_of(ontology, then, [*earlier, *here])
        blocks.append(Block(tuple(here), *in_block(then, number)))
        earlier += here
    return Rule(tuple(blocks))


def _misplaced(sentence: str, text: Text) -> RefusedRule:
    """The refusal for the first word that no reading got past, or for a sentence that ends too soon."""
    for word, following in zip(text.words[: text.furthest + 1], text.words[1:]):
        if word.plain in ("or", "but") and following.plain not in _BOUNDS:
            return word.refuse(
                f"{word.text!r} gives alternatives or exceptions, and a rule has none: write two rules"
            )
    if all(word.plain in ".,;:" for word in text.words[text.furthest :]):
        words = {word.plain for word in text.words}
        missing = "" if "then" in words else ": there is no Then"
        if not words & {phrase.split()[0] for phrase in IF["if"]}:
            missing = ": there is no If"
        end = Token("", "", len(sentence) + 1)
        return end.refuse(f"the rule ends too soon{missing}", _nearest("", text.wanted))
    word = text.words[text.furthest]
    return word.refuse(f"{word.text!r} is not understood here", _nearest(word.plain, text.wanted))


def _nearest(word: str, known: Iterable[str]) -> list[str]:
    """The known words nearest to this one, or all of them where they are few."""
    choices = sorted(set(known))
    near = difflib.get_close_matches(word, choices, n=3, cutoff=0.6)
    return near or (choices if len(choices) <= 6 else [])
