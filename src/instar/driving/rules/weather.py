"""Weather and time of day: "it rains heavily", "night falls", "it gets dark"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from instar.driving.rules.clauses import Clause, added, does
from instar.driving.rules.comparisons import as_word, compared, where_does
from instar.driving.rules.english import finite, gerunds
from instar.driving.rules.grammar import Found, Objection, Parser, Phrase, alt, opt, seq, to
from instar.driving.rules.ontology import Element, Ontology
from instar.driving.rules.things import Mention, Things, described

__all__ = ["weather_and_time"]

_FALL = ["fall", "start", "begin", "set in", "come", "come down", "come up", "start falling", "roll in"]
_STOP = ["stop", "clear up", "lift", "clear", "end", "cease"]
_BE = ["be", "become", "get", "turn", "grow", "turn into", "change to", "change into", "turn to"]
_HARDER = {"harder": "more", "more heavily": "more", "more strongly": "more", "more": "more", "even harder": "more",
           "even more heavily": "more", "even more": "more", "less heavily": "less", "less": "less", "more lightly": "less"}  # fmt: skip


def weather_and_time(ontology: Ontology, words: Things) -> list[Parser]:
    """Clauses that only weather and time of day can be spoken of with."""
    environment = [element for element in ontology.elements.values() if element.is_environment]
    if not environment:
        return []
    it = Phrase("it")
    outside = to(lambda mention: _outside(ontology, mention), words.one)
    clauses = [
        to(lambda what, _: added([what], None), outside, does(_FALL)),
        to(lambda what, _: (Clause("remove", what),), outside, does(_STOP)),
        to(lambda it, _, what: added([what], None), it, does(_BE), outside),
        to(lambda it, _, how: added([_described(environment, how)], None), it, does(_BE), words.adjectives),
        to(lambda it, _, word: compared([_it(it)], word), it, does(["get", "become", "grow", "be"]), Phrase("darker")),
        to(lambda what, word: compared([what], as_word(word, "more")), outside, where_does(["increase", "intensify"])),
    ]  # fmt: skip
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
        Phrase(*forms),
        to(
            lambda _, verb: verb,
            Phrase(
                "is", "'s", "was", "starts", "begins", "starts to", "begins to", "started", "began", "has started",
                "is starting to", "keeps", "continues to",
            ),
            Phrase(*forms),
        ),
    )  # fmt: skip
    adverb = Phrase(*adverbs)

    def weather(verb: Found, how: Found | None) -> tuple[Clause, ...]:
        properties = dict([forms[verb.phrase], *([adverbs[how.phrase]] if how is not None else [])])
        return added([Mention(element.name, verb.at, verb.at, properties)], None)

    def harder(it: Found, verb: Found, how: Found) -> tuple[Clause, ...]:
        mention = Mention(element.name, verb.at, it.at, dict([forms[verb.phrase]]))
        return compared([mention], Found(_HARDER[how.phrase], how.at))

    return [
        to(lambda _, verb, how: weather(verb, how), it, happens, opt(adverb)),
        to(lambda _, how, verb: weather(verb, how), seq(it, opt(Phrase("is"))), adverb, Phrase(*forms)),
        to(lambda _, verb, how: weather(verb, how), Phrase("make it", "let it"), Phrase(*verbs), opt(adverb)),
        to(harder, it, happens, Phrase(*_HARDER)),
    ]


def _outside(ontology: Ontology, mention: Mention) -> Mention:
    if mention.is_pronoun or not ontology.elements[mention.element].is_environment:
        raise Objection(mention.at, "only weather and time of day can do that")
    return mention


def _it(word: Found) -> Mention:
    return Mention("", word.at, word.at, article=word.phrase)


def _described(environment: Sequence[Element], adjectives: Sequence[Found]) -> Mention:
    """What "it" is when it is foggy or dark."""
    objection: Any = None
    for element in environment:
        try:
            properties = described(element, {}, adjectives)
        except Objection as error:
            objection = objection or error
        else:
            return Mention(element.name, adjectives[0].at, adjectives[0].at, properties)
    raise Objection(objection.at, "it cannot be said of weather or time of day")
