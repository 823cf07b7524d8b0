"""Noun phrases and places: "two black cars", "he", "on the left of the road"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from instar.tasks.driving.rules.grammar import Found, Numeral, Objection, Unfit
from instar.tasks.driving.rules.ontology import Element, Ontology
from instar.tasks.driving.rules.vocabulary import NUMBERS, THINGS, a_or_an, invert, plural

COMPARATIVES = invert(THINGS["comparatives"])
OURS = ("our", "my", "your", "its")
INTENSITIES, PEOPLE, VAGUE = (THINGS[name] for name in ("intensities", "people", "vague"))
_POSITIONS, _FROM_EGO = invert(THINGS["positions"]), invert(THINGS["from_ego"])


Metres = tuple[float, float | None]
_METRES = {"feet": 0.3048, "yards": 0.9144}


@dataclass(frozen=True, slots=True)
class Mention:
    """Something that is spoken of; a pronoun has no element until it is known what it refers to.

    `at` is the word of its noun, `first` the word it begins with. `article` is how it was introduced,
    "other" where that is said. `still` is the word that says that it does not move.
    """

    element: str
    at: int
    first: int
    properties: Mapping[str, str] = field(default_factory=dict)
    count: int | None = None
    article: str = ""
    comparative: Found | None = None
    still: Found | None = None

    @property
    def is_pronoun(self) -> bool:
        return not self.element

    @property
    def is_none(self) -> bool:
        return self.article == "no"


@dataclass(frozen=True, slots=True)
class Place:
    """Where: a position relative to road, scene, ego-vehicle or something that is mentioned.

    `metres` are the least and the most of them, where they are said. What is `ahead` may be anywhere
    before us; `also` is a second place that is the same: in the left lane, 20 m ahead.
    """

    position: str | None
    reference: str | Mention
    at: int
    metres: Metres | None = None
    ahead: bool = False
    also: Place | None = None


@dataclass(frozen=True, slots=True)
class _Noun:
    element: Element
    properties: Mapping[str, str]
    plural: bool
    needs_adjective: bool = False


class Nouns:
    """The nouns and adjectives of an ontology, and what they mean."""

    def __init__(self, ontology: Ontology) -> None:
        self._nouns = _nouns(ontology)
        self._places = {word for words in ontology.references.values() for word in words}
        words = [words for element in ontology.elements.values() for _, _, words in element.values()]
        self.words: Mapping[str, Iterable[str]] = {
            "nouns": list(self._nouns),
            "adjectives": [adjective for one in words for adjective in one.adjectives],
            "numbers": list(NUMBERS),
            "counts": [word for word in NUMBERS if word != "one" and not word.startswith("a ")],
            **ontology.references,
        }

    def mention(
        self,
        article: tuple[Found, float | None] | None,
        comparative: Found | None,
        adjectives: Sequence[Found],
        noun: Found,
        late: Found | None = None,
        other: Found | None = None,
        still: Found | None = None,
    ) -> Mention:
        adjectives = (*adjectives, late) if late is not None else adjectives
        if noun.phrase in self._places and not adjectives:
            raise Unfit  # "the road" is a place, and only a wet road a state of it
        meaning, properties = _fitting(self._nouns[noun.phrase], adjectives, noun)
        word, count = article if article is not None else (None, None)
        introduced = word.phrase if word is not None else ""
        if "position" in properties and " of " in noun.phrase:
            raise Unfit  # "the left side of the road" is a place of its own
        if meaning.element.name == "lane" and introduced in OURS:
            properties = {**properties, "position": "own"}
        if count is not None and not (float(count).is_integer() and count > 0):
            raise Objection(word.at if word else noun.at, f"{introduced} is no number of things")
        if meaning.element.is_environment:
            if count is not None and introduced not in ("a", "an"):
                raise Objection(word.at if word else noun.at, f"{meaning.element.name} cannot be counted")
            count = None
        elif count is None and introduced not in ("this", "that") and noun.phrase == plural(noun.phrase):
            pass  # "deer appear", "the deer": one or several, as it may be
        elif count is None and not meaning.plural and introduced not in ("no", "every", "each", "all", "any"):
            count = 1
        if word is not None and introduced in THINGS["amounts"]:
            comparative, introduced, count = word, "", None
        if comparative is not None:
            _check_comparative(meaning.element, comparative)
        return Mention(
            meaning.element.name,
            noun.at,
            min([noun.at, *(a.at for a in adjectives), *([word.at] if word else [])]),
            properties,
            None if count is None else int(count),
            introduced if other is None or introduced == "no" else "other",
            comparative,
            still,
        )


def _nouns(ontology: Ontology) -> dict[str, list[_Noun]]:
    """What each noun may name: the likeliest first."""
    nouns: dict[str, list[_Noun]] = {}

    def enter(word: str, element: Element, properties: Mapping[str, str], head: bool = False) -> None:
        for form, is_plural in ((word, False), (plural(word), True)):
            if element.is_environment and is_plural and not head and word != "weather condition":
                continue
            nouns.setdefault(form, []).append(_Noun(element, properties, is_plural, head))

    for element in ontology.elements.values():
        for word in element.synonyms:
            enter(word, element, {})
        for word, properties in element.named.items():
            enter(word, element, properties)
        for name, value, words in element.values():
            for word in words.nouns:
                enter(word, element, {name: value})
        for word in element.heads:
            enter(word, element, {}, head=True)
    for meanings in nouns.values():
        meanings.sort(key=lambda meaning: meaning.needs_adjective)
    return nouns


def _fitting(
    meanings: Sequence[_Noun], adjectives: Sequence[Found], noun: Found
) -> tuple[_Noun, Mapping[str, str]]:
    """The first meaning of the noun that can have all these adjectives."""
    if all(meaning.needs_adjective for meaning in meanings) and not adjectives:
        raise Objection(noun.at, f"{noun.phrase!r} says too little alone")
    for meaning in meanings:
        has_all = all(meaning.element.said_by(adjective.phrase) for adjective in adjectives)
        if has_all and (adjectives or not meaning.needs_adjective):
            return meaning, described(meaning.element, meaning.properties, adjectives)
    return meanings[0], described(meanings[0].element, meanings[0].properties, adjectives)


def described(element: Element, properties: Mapping[str, str], adjectives: Sequence[Found]) -> dict[str, str]:
    """The properties with what the adjectives add; each property can be given once."""
    result = dict(properties)
    for adjective in adjectives:
        said = element.said_by(adjective.phrase)
        known = [word for values in element.properties.values() for word in values]
        if said is None:
            raise Objection(adjective.at, f"{a_or_an(element.name)} cannot be {adjective.phrase!r}", known)
        name, value = said
        if properties.get(name) == value:
            continue  # a dark night
        if name in result:
            raise Objection(adjective.at, f"{adjective.phrase!r} is a second {name} of the {element.name}")
        result[name] = value
    return result


def _check_comparative(element: Element, word: Found) -> None:
    is_intensity = word.phrase in INTENSITIES or word.phrase in ("more", "less")
    if element.is_environment and not is_intensity:
        raise Objection(word.at, f"{element.name} cannot be {word.phrase!r}", INTENSITIES)
    if not element.is_environment and is_intensity and word.phrase not in THINGS["amounts"]:
        raise Objection(
            word.at, f"{a_or_an(element.name)} cannot be {word.phrase!r}", ("closer", "larger", "more")
        )


def pronoun(word: Found) -> Mention:
    return Mention("", word.at, word.at, article=word.phrase)


def article(word: Found, count: int | None = None) -> tuple[Found, int | None]:
    """How something is introduced, and how many that makes."""
    return word, count


def numbered(number: Numeral) -> tuple[Found, float]:
    return Found(f"{number.value:g}", number.at), number.value


def one_more(number: Numeral) -> tuple[Found, float]:
    return numbered(Numeral(number.value + 1, number.at))


def numeral(word: Found) -> Numeral:
    return Numeral(float(NUMBERS[word.phrase]), word.at)


def existing(one: Mention) -> Mention:
    if one.is_none:
        raise Objection(one.first, "a place is relative to something that is there")
    if one.comparative is not None:
        raise Objection(one.comparative.at, "only what is added can be compared")
    return one


def place(what: str | Mention, word: Found | None = None, position: str | None = None) -> Place:
    return Place(position, what, 0 if word is None else word.at)


def positioned(word: Found, what: str | Mention | None = None, metres: Metres | None = None) -> Place:
    """Where a preposition says, or as seen from the ego-vehicle; what is 20 m away is ahead."""
    if metres is not None and _POSITIONS.get(word.phrase, _FROM_EGO.get(word.phrase)) in (
        "left of",
        "right of",
    ):
        raise Objection(word.at, "how many metres to the side is not told; say how many ahead")
    if what is None:
        position = _FROM_EGO.get(word.phrase, "in front of")
        return Place(position, "ego-vehicle", word.at, metres, ahead=position == "in front of")
    return Place(_POSITIONS[word.phrase], what, word.at, metres)


def also_there(first: Place, second: Place) -> Place:
    return replace(first, also=second)


def length(number: Numeral, unit: Found) -> Metres:
    kinds = [name for name in _METRES if unit.phrase in THINGS[name]]
    metres = number.value * (_METRES[kinds[0]] if kinds else 1.0)
    return metres, metres


def metres(most: Metres | None = None, least: Metres | None = None, low: Numeral | None = None) -> Metres:
    """Within so many, more than so many, or between two of them."""
    if least is not None:
        return least[0], None
    assert most is not None, "within something"
    if low is not None and most[0] < low.value:
        raise Objection(low.at, "the first number is the smaller one")
    return (0.0 if low is None else low.value), most[1]


def several(first: Any, rest: Sequence[Any] = ()) -> tuple[Any, ...]:
    return (first, *rest)


MEANINGS = (
    also_there,
    article,
    existing,
    length,
    metres,
    numbered,
    numeral,
    one_more,
    place,
    positioned,
    pronoun,
    several,
)
