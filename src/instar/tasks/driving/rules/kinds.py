"""Nouns that the ontology does not have, but whose kind it has: a jeep is a car."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from instar.tasks.driving.rules.ontology import Element, Ontology
from instar.tasks.driving.rules.vocabulary import plural
from instar.tasks.driving.rules.wordnet import wordnet
from instar.tasks.driving.rules.words import Token

_NO_NOUNS = ("nobody", "none", "nothing", "everybody", "anybody", "everyone", "anyone")
"""What WordNet counts among the nouns, and sentences do not."""
_LONGEST = 3  # words in a noun, at most: "fire fighting vehicle"
_ALIKE = 0.75  # Wu-Palmer, at least


def known_kind(ontology: Ontology, words: Sequence[Token], vocabulary: Set[str]) -> tuple[Token, int] | None:
    """The first words as a noun that the ontology has, and how many they are.

    The nearest kind counts. The new word keeps the text and the column of the old ones. An unknown word in
    front of a noun that is known makes a kind of it where WordNet says so ("a pine tree"), but not of people,
    whom it describes ("an old man").
    """
    for length in range(min(_LONGEST, len(words)), 0, -1):
        noun = " ".join(word.plain for word in words[:length])
        if noun in _NO_NOUNS:
            continue
        last = words[length - 1].plain
        described = length > 1 and last in vocabulary
        found = [
            (steps, known)
            for element in ontology.elements.values()
            if all(wordnet().steps_up(noun, other) is None for other in element.unlike)
            if not described or (not element.person and last in _names(element))
            for kind, known in _kinds(element)
            for steps in [wordnet().steps_up(noun, kind)]
            if steps is not None
        ]
        if found:
            known = min(found)[1]
            known = plural(known) if noun not in wordnet().senses else known
            text = " ".join(word.text for word in words[:length])
            return Token(text, last if described else known, words[0].column), length
    return None


def alike(ontology: Ontology, noun: str) -> list[str]:
    """Known nouns that mean something similar (Wu-Palmer), most similar first."""
    scores = {
        known: wordnet().similarity(noun, kind)
        for element in ontology.elements.values()
        for kind, known in _kinds(element)
    }
    return sorted((known for known in scores if scores[known] >= _ALIKE), key=lambda known: -scores[known])


def most_alike(ontology: Ontology, noun: str) -> tuple[str, float] | None:
    """The known noun that is most similar (Wu-Palmer) and the score, as the paper matches words.

    >>> from instar.tasks.driving.rules.ontology import usual_ontology
    >>> most_alike(usual_ontology(), "banana")
    ('tree', 0.8)
    """
    scores: dict[str, float] = {}
    for element in ontology.elements.values():
        single = [name for name in element.synonyms if " " not in name]
        for name in single:
            score = wordnet().similarity(noun, name)
            scores[single[0]] = max(score, scores.get(single[0], 0.0))
    best = max(scores, key=lambda name: scores[name])
    return (best, round(scores[best], 4)) if scores[best] >= _ALIKE else None


def _names(element: Element) -> set[str]:
    """The single words that name the element, one or several of it."""
    nouns = [*element.synonyms, *(noun for _, _, words in element.values() for noun in words.nouns)]
    return {form for noun in nouns for form in (noun, plural(noun))}


def _kinds(element: Element) -> Iterator[tuple[str, str]]:
    """Each kind that is asked for, with a word of the ontology that stands for it."""
    nouns = [(element.kinds, element.synonyms), *((w.kinds, w.nouns) for _, _, w in element.values())]
    for kinds, names in nouns:
        single = [name for name in names if " " not in name]
        for kind in kinds if single else ():
            yield kind, single[0]
