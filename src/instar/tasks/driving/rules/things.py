"""Noun phrases and places: "two black cars", "he", "on the left of the road"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from instar.tasks.driving.rules.english import NUMBERS, plural
from instar.tasks.driving.rules.grammar import (
    Found,
    Objection,
    Parser,
    alt,
    many,
    named,
    number,
    opt,
    phrase,
    seq,
    skip,
    to,
)
from instar.tasks.driving.rules.ontology import Element, Ontology
from instar.tasks.driving.rules.vocabulary import THINGS, invert, listed

__all__ = ["COMPARATIVES", "INTENSITIES", "PEOPLE", "Mention", "Place", "Things", "described", "things"]

COMPARATIVES = invert(THINGS["comparatives"])
INTENSITIES, PEOPLE = THINGS["intensities"], THINGS["people"]
_AMOUNTS, _PRONOUNS = THINGS["amounts"], THINGS["pronouns"]
_POSITIONS, _FROM_EGO = invert(THINGS["positions"]), invert(THINGS["from_ego"])


@dataclass(frozen=True, slots=True)
class Mention:
    """Something that is spoken of; a pronoun has no element until it is known what it refers to.

    `at` is the word of its noun, `first` the word it begins with. `article` is how it was introduced.
    """

    element: str
    at: int
    first: int
    properties: Mapping[str, str] = field(default_factory=dict)
    count: int | None = None
    article: str = ""
    comparative: Found | None = None
    plural: bool = False

    @property
    def is_pronoun(self) -> bool:
        return not self.element

    @property
    def is_none(self) -> bool:
        return self.article == "no"


@dataclass(frozen=True, slots=True)
class Place:
    """Where: a position relative to road, scene, ego-vehicle or something that is mentioned."""

    position: str | None
    reference: str | Mention
    at: int


@dataclass(frozen=True, slots=True)
class Things:
    """The parsers of noun phrases over one ontology.

    `one` reads a mention, `several` a tuple of them joined by "and", `new` what takes the place of
    something, `adjectives` a bare list of them ("red"), `ego` the ego-vehicle, `place` a place,
    `to_place` and `from_place` those behind "to" and "from", `area` the road or the scene.
    """

    one: Parser
    several: Parser
    adjectives: Parser
    ego: Parser
    area: Parser
    place: Parser
    to_place: Parser
    from_place: Parser


def things(ontology: Ontology) -> Things:
    """The noun phrases of an ontology."""
    nouns = _nouns(ontology)
    noun = phrase(*nouns)
    adjective = phrase(
        *(
            adjective
            for element in ontology.elements.values()
            for values in element.properties.values()
            for value in values.values()
            for adjective in value.adjectives
        )
    )
    pronoun = to(lambda word: Mention("", word.at, word.at, article=word.phrase), phrase(*_PRONOUNS))
    compared = phrase(*(word for word in COMPARATIVES if word not in _AMOUNTS))
    described = to(
        lambda article, comparative, adjectives, noun: _mention(
            ontology, nouns, article, comparative, adjectives, noun
        ),
        opt(_article()),
        skip(opt(phrase("other"))),
        opt(compared),
        many(adjective),
        noun,
    )
    one = named(alt(described, pronoun))
    conjunction = alt(phrase("and"), seq(phrase(","), phrase("and")), phrase(",", "as well as"))
    several = named(to(lambda first, rest: (first, *(m for _, m in rest)), one, many(seq(conjunction, one))))
    ego, area = _ego(ontology), _area(ontology)
    reference = alt(ego, area, to(_no_negative, one))
    place = named(_place(reference))
    return Things(
        one,
        several,
        named(
            to(
                lambda first, rest: (first, *(a for _, a in rest)),
                adjective,
                many(seq(opt(phrase("and")), adjective)),
            )
        ),
        ego,
        area,
        place,
        named(alt(place, to(lambda word, what: Place("on", what, word.at), phrase("to"), reference))),
        named(
            alt(place, to(lambda word, what: Place(None, what, word.at), phrase("from", "off"), reference))
        ),
    )


@dataclass(frozen=True, slots=True)
class _Noun:
    element: Element
    properties: Mapping[str, str]
    plural: bool
    needs_adjective: bool = False


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
        for name, values in element.properties.items():
            for value, words in values.items():
                for word in words.nouns:
                    enter(word, element, {name: value})
        for word in element.heads:
            enter(word, element, {}, head=True)
    for meanings in nouns.values():
        meanings.sort(key=lambda meaning: meaning.needs_adjective)
    return nouns


def _article() -> Parser:
    """The count that an article gives, and how it introduces: (Found, count)."""
    one = phrase(
        *listed("a, an, another, a single, one, exactly one, some, one more, a new, an additional, an extra")
    )
    open_ = phrase(
        *listed(
            "the, some, several, multiple, a group of, all, all the, all of the, every, each, any, these, "
            "those, this, that, no, more, fewer, less, our, my, your"
        )
    )
    words = phrase(*(word for word in NUMBERS if word != "one" and not word.startswith("a ")))
    the = opt(phrase("the", "these", "those"))
    return alt(
        to(lambda word: (word, 1 if word.phrase != "some" else None), one),
        to(lambda word: (word, None), open_),
        to(lambda word: (word, NUMBERS[word.phrase]), skip(the), words),
        to(lambda number: (Found(f"{number.value:g}", number.at), number.value), skip(the), number()),
    )


def _mention(
    ontology: Ontology,
    nouns: Mapping[str, Sequence[_Noun]],
    article: tuple[Found, float | None] | None,
    comparative: Found | None,
    adjectives: Sequence[Found],
    noun: Found,
) -> Mention:
    meaning, properties = _fitting(nouns[noun.phrase], adjectives, noun)
    word, count = article if article is not None else (None, None)
    introduced = word.phrase if word is not None else ""
    if count is not None and not (float(count).is_integer() and count > 0):
        raise Objection(word.at if word else noun.at, f"{introduced} is no number of things")
    if meaning.element.is_environment:
        if count is not None and introduced not in ("a", "an"):
            raise Objection(word.at if word else noun.at, f"{meaning.element.name} cannot be counted")
        count = None
    elif count is None and not meaning.plural and introduced not in ("no", "every", "each", "all", "any"):
        count = 1
    if word is not None and introduced in _AMOUNTS:
        comparative, introduced, count = word, "", None
    if comparative is not None:
        _check_comparative(meaning.element, comparative)
    first = min([noun.at, *(a.at for a in adjectives), *([word.at] if word else [])])
    return Mention(
        meaning.element.name,
        noun.at,
        first,
        properties,
        None if count is None else int(count),
        introduced,
        comparative,
        meaning.plural,
    )


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
            raise Objection(adjective.at, f"a {element.name} cannot be {adjective.phrase!r}", known)
        name, value = said
        if properties.get(name) == value:
            continue  # a dark night
        if name in result:
            raise Objection(adjective.at, f"{adjective.phrase!r} is a second {name} of the {element.name}")
        result[name] = value
    return result


def _check_comparative(element: Element, word: Found) -> None:
    is_intensity = word.phrase in INTENSITIES or word.phrase in ("more", "less")
    is_count = word.phrase in _AMOUNTS
    if element.is_environment and not is_intensity:
        raise Objection(word.at, f"{element.name} cannot be {word.phrase!r}", INTENSITIES)
    if not element.is_environment and is_intensity and not is_count:
        raise Objection(word.at, f"a {element.name} cannot be {word.phrase!r}", ("closer", "larger", "more"))


def _no_negative(mention: Mention) -> Mention:
    if mention.is_none:
        raise Objection(mention.first, "a place is relative to something that is there")
    if mention.comparative is not None:
        raise Objection(mention.comparative.at, "only what is added can be compared")
    return mention


def _ego(ontology: Ontology) -> Parser:
    words = ontology.references["ego-vehicle"]
    return named(
        to(
            lambda *_: "ego-vehicle",
            alt(
                seq(opt(phrase("the", "our", "my", "your", "this", "an", "a")), phrase(*words)),
                seq(phrase("our", "my", "your", "our own", "my own", "your own"), phrase("car", "vehicle")),
                phrase("us", "me", "you", "we"),
            ),
        )
    )


def _area(ontology: Ontology) -> Parser:
    """The road or the scene."""
    article = opt(phrase("the", "this", "our", "a"))

    def of(name: str) -> Parser:
        return to(lambda *_: name, article, phrase(*ontology.references[name]))

    return named(alt(of("road"), of("scene")))


def _place(reference: Parser) -> Parser:
    return alt(
        to(lambda word, what: Place(_POSITIONS[word.phrase], what, word.at), phrase(*_POSITIONS), reference),
        to(lambda word: Place(_FROM_EGO[word.phrase], "ego-vehicle", word.at), phrase(*_FROM_EGO)),
    )
