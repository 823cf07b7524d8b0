"""What is said of weather and time of day: "it rains heavily", "a foggy night", "it gets dark"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations

from instar.tasks.driving.rules.clauses import Clause, Clauses, added, compared
from instar.tasks.driving.rules.grammar import Found, Objection, Unfit
from instar.tasks.driving.rules.ontology import Element, Ontology
from instar.tasks.driving.rules.things import Mention, Place, described
from instar.tasks.driving.rules.vocabulary import IF, finite, gerunds, invert

_HARDER = invert(IF["harder"])


class Outside:
    """The words for weather and time of an ontology, and what they mean."""

    def __init__(self, ontology: Ontology) -> None:
        self._elements = [element for element in ontology.elements.values() if element.is_environment]
        said = [(e, *one) for e in self._elements for one in e.values()]
        self._nouns = {
            (e.name, noun): {name: value} for e, name, value, words in said for noun in words.nouns
        }
        self._verbs = {
            form: (e.name, {name: value})
            for e, name, value, words in said
            for form in [*finite(words.verbs), *gerunds(words.verbs)]
        }
        self._adverbs = {
            (e.name, adverb): {name: value} for e, name, value, words in said for adverb in words.adverbs
        }
        self.words: Mapping[str, Iterable[str]] = {
            "outside": [noun for _, noun in self._nouns],
            "weather_forms": list(self._verbs),
            "weather_verbs": [verb for _, _, _, words in said for verb in words.verbs],
            "adverbs": [adverb for _, adverb in self._adverbs],
        }
        self.meanings = (
            self.air, self.weather_and_time, self.described_outside, self.rained, self.rained_harder,
            self.stopped_raining, self.shone, self.dawned, self.stopped_there,
        )  # fmt: skip

    def air(self, one: Mention) -> Mention:
        if all(element.name != one.element for element in self._elements):
            raise Unfit
        return one

    def weather_and_time(self, adjectives: Sequence[Found], noun: Found) -> tuple[Mention, Mention]:
        """Adjectives of one, the noun of another: "a foggy night"; not "a rainy day", which is weather."""
        at = adjectives[0].at
        for first, second in permutations(self._elements, 2):
            properties = self._nouns.get((second.name, noun.phrase))
            if properties and noun.phrase not in first.heads and _can_be(first, adjectives):
                return (
                    Mention(first.name, at, at, described(first, {}, adjectives)),
                    Mention(second.name, noun.at, at, properties),
                )
        raise Unfit

    def described_outside(self, outdoors: str | Found, adjectives: Sequence[Found]) -> Clauses:
        """What "it" is when it is foggy or dark; only the road itself is wet or icy."""
        at = adjectives[0].at
        if not isinstance(outdoors, Found) and any(one.phrase == "clear" for one in adjectives):
            raise Objection(at, "a clear road may be one without traffic; say 'the weather is clear'")
        of_road = [element for element in self._elements if element.classes]
        others = [element for element in self._elements if not element.classes]
        for element in [*of_road, *others] if outdoors == "road" else others:
            if _can_be(element, adjectives):
                return added([Mention(element.name, at, at, described(element, {}, adjectives))])
        for cut in range(1, len(adjectives)):  # dark and raining
            halves = (adjectives[:cut], adjectives[cut:])
            said = [(e, half) for half in halves for e in others if _can_be(e, half)]
            if outdoors != "road" and [half for _, half in said] == list(halves):
                return added([Mention(e.name, half[0].at, at, described(e, {}, half)) for e, half in said])
        raise Objection(at, "that is said of neither weather nor time of day")

    def rained(self, verb: Found, adverb: Found | None) -> Clauses:
        element, properties = self._verbs[verb.phrase]
        if adverb is not None:
            if (element, adverb.phrase) not in self._adverbs:
                raise Unfit
            properties = properties | self._adverbs[element, adverb.phrase]
        return added([Mention(element, verb.at, verb.at, properties)])

    def rained_harder(self, it: Found, verb: Found, word: Found) -> Clauses:
        element, properties = self._verbs[verb.phrase]
        return compared([Mention(element, verb.at, it.at, properties)], word, _HARDER[word.phrase])

    def shone(self, word: Found) -> Clauses:
        usual = next(e for e in self._elements if not e.classes and e.usual)
        return added([Mention(usual.name, word.at, word.at, usual.usual)])

    def dawned(self, word: Found) -> Clauses:
        name, day = next((name, said) for (name, noun), said in self._nouns.items() if noun == "daytime")
        return added([Mention(name, word.at, word.at, day)])

    def stopped_there(self, who: Sequence[Mention], where: Place | None) -> Clauses:
        """A car that has stopped is there; rain that has stopped is not."""
        if any(element.name == mention.element for element in self._elements for mention in who):
            raise Unfit
        return added(who, where)

    def stopped_raining(self, it: Found, verb: Found) -> Clauses:
        element, properties = self._verbs[verb.phrase]
        return (Clause("remove", Mention(element, verb.at, it.at, properties)),)


def _can_be(element: Element, adjectives: Sequence[Found]) -> bool:
    return all(element.said_by(adjective.phrase) for adjective in adjectives)
