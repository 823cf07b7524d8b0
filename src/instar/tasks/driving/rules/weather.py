"""Weather and time of day: "it rains heavily", "night falls", "it gets dark"."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import permutations

from instar.tasks.driving.rules.clauses import Clause, added, does, done, replaced
from instar.tasks.driving.rules.comparisons import as_word, compared, where_does
from instar.tasks.driving.rules.english import finite, gerunds
from instar.tasks.driving.rules.grammar import (
    Found,
    Objection,
    Parser,
    alt,
    named,
    only,
    opt,
    phrase,
    seq,
    skip,
    to,
)
from instar.tasks.driving.rules.ontology import Element, Ontology
from instar.tasks.driving.rules.things import Mention, Things, described
from instar.tasks.driving.rules.vocabulary import IF as said
from instar.tasks.driving.rules.vocabulary import invert

__all__ = ["outside", "weather_and_time"]

HARDER = invert(said["harder"])


def outside(ontology: Ontology, words: Things) -> Parser:
    """Weather or time of day; its values are tuples of mentions, for "a rainy night" is both."""
    environment = [element for element in ontology.elements.values() if element.is_environment]
    names = {element.name for element in environment}
    one = to(lambda what: (what,), only(lambda mention: mention.element in names, words.one))
    return named(alt(one, *_both(environment, words)))


def _both(environment: Sequence[Element], words: Things) -> Iterator[Parser]:
    """Adjectives of one, the noun of another: "a foggy night", but not "a rainy day", which is weather."""
    for first, second in permutations(environment, 2):
        nouns = {
            noun: {name: value}
            for name, values in second.properties.items()
            for value, said in values.items()
            for noun in said.nouns
            if noun not in first.heads
        }

        both = partial(_two, first, second, nouns)
        yield to(
            both, skip(opt(phrase("a", "an", "the"))), only(_fits(first), words.adjectives), phrase(*nouns)
        )


def _two(
    first: Element, second: Element, nouns: Mapping[str, Mapping[str, str]], how: Sequence[Found], noun: Found
) -> tuple[Mention, Mention]:
    at = how[0].at
    return (
        Mention(first.name, at, at, described(first, {}, how)),
        Mention(second.name, noun.at, at, nouns[noun.phrase]),
    )


def _fits(element: Element) -> Callable[[Sequence[Found]], bool]:
    return lambda adjectives: all(element.said_by(word.phrase) for word in adjectives)


def weather_and_time(ontology: Ontology, words: Things) -> list[Parser]:
    """Clauses that only weather and time of day can be spoken of with."""
    environment = [element for element in ontology.elements.values() if element.is_environment]
    if not environment:
        return []
    it, there = phrase("it"), skip(alt(phrase("it"), words.area))
    made = done(["change", "turn", "switch", "convert"])
    what = outside(ontology, words)
    one = to(lambda mentions: mentions[0], only(lambda mentions: len(mentions) == 1, what))
    clauses = [
        to(lambda what: added(what, None), what, does(said["fall"])),
        to(lambda one: (Clause("remove", one),), one, does(said["stop"])),
        to(lambda what: added(what, None), there, does(said["be_outside"]), what),
        to(lambda what: added(what, None), there, made, skip(phrase("to", "into")), what),
        to(
            lambda old, new: replaced([old], new),
            there,
            does(["change", "turn", "switch", "go"]),
            skip(phrase("from")),
            one,
            skip(phrase("to", "into")),
            one,
        ),
        to(
            lambda what: added(what, None),
            skip(words.ego),
            does(["drive", "travel", "be"]),
            skip(phrase(*said["during"])),
            what,
        ),
        to(
            lambda how: added([_described(environment, how)], None),
            there,
            does(said["be_outside"]),
            words.adjectives,
        ),
        to(
            lambda it, word: compared([_it(it)], word),
            it,
            does(["get", "become", "grow", "be"]),
            phrase("darker"),
        ),
        to(
            lambda one, word: compared([one], as_word(word, "more")),
            one,
            where_does(["increase", "intensify"]),
        ),
    ]
    for element in environment:
        clauses += _raining(element, it)
    return clauses


def _raining(element: Element, it: Parser) -> list[Parser]:
    """ "It rains", "it starts to snow lightly", "make it rain", for every verb of the element."""
    verbs = {
        verb: (name, value)
        for name, values in element.properties.items()
        for value, words in values.items()
        for verb in words.verbs
    }
    if not verbs:
        return []
    adverbs = {
        adverb: (name, value)
        for name, values in element.properties.items()
        for value, words in values.items()
        for adverb in words.adverbs
    }
    forms = {form: said for verb, said in verbs.items() for form in [*finite([verb]), *gerunds([verb])]}
    happens = alt(
        phrase(*forms),
        to(
            lambda verb: verb,
            skip(phrase(*said["is_doing"])),
            phrase(*forms),
        ),
    )
    adverb = phrase(*adverbs)

    def weather(verb: Found, how: Found | None) -> tuple[Clause, ...]:
        properties = dict([forms[verb.phrase], *([adverbs[how.phrase]] if how is not None else [])])
        return added([Mention(element.name, verb.at, verb.at, properties)], None)

    def harder(it: Found, verb: Found, how: Found) -> tuple[Clause, ...]:
        mention = Mention(element.name, verb.at, it.at, dict([forms[verb.phrase]]))
        return compared([mention], Found(HARDER[how.phrase], how.at))

    def stopped(it: Found, verb: Found) -> tuple[Clause, ...]:
        return (Clause("remove", Mention(element.name, verb.at, it.at, dict([forms[verb.phrase]]))),)

    return [
        to(weather, skip(it), happens, opt(adverb)),
        to(lambda how, verb: weather(verb, how), skip(seq(it, opt(phrase("is")))), adverb, phrase(*forms)),
        to(weather, skip(phrase("make it", "let it")), phrase(*verbs), opt(adverb)),
        to(harder, it, happens, phrase(*HARDER)),
        to(stopped, it, skip(phrase("stops", "stopped", "has stopped")), phrase(*gerunds(verbs))),
    ]


def _it(word: Found) -> Mention:
    return Mention("", word.at, word.at, article=word.phrase)


def _described(environment: Sequence[Element], adjectives: Sequence[Found]) -> Mention:
    """What "it" is when it is foggy or dark."""
    for element in environment:
        if all(element.said_by(adjective.phrase) for adjective in adjectives):
            first = adjectives[0].at
            return Mention(element.name, first, first, described(element, {}, adjectives))
    raise Objection(adjectives[0].at, "that is said of neither weather nor time of day")
