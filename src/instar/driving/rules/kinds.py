"""Nouns that the ontology does not have, but whose kind it has: an ambulance is a car."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from instar.driving.rules.english import plural
from instar.driving.rules.ontology import Ontology
from instar.driving.rules.wordnet import wordnet
from instar.driving.rules.words import Word

__all__ = ["alike", "known_kind", "most_alike"]

_NO_NOUNS = ("nobody", "none", "nothing", "everybody", "anybody", "everyone", "anyone")
"""What WordNet counts among the nouns, and sentences do not."""
_LONGEST = 3
"""Words in a noun, at most: "fire fighting vehicle"."""


def known_kind(ontology: Ontology, words: Sequence[Word], vocabulary: Set[str]) -> tuple[Word, int] | None:
    """The first words as a noun that the ontology has, and how many they are.

    The nearest kind counts. The new word keeps the text and the column of the old ones. An unknown word in
    front of a noun that is known is no kind but a description, which nobody understood ("an old man").
    """
    for length in range(min(_LONGEST, len(words)), 0, -1):
        noun = " ".join(word.plain for word in words[:length])
        if noun in _NO_NOUNS:
            continue
        if length > 1 and words[length - 1].plain in vocabulary:
            continue
        found = [
            (steps, known)
            for kind, known in _kinds(ontology)
            for steps in [wordnet().steps_up(noun, kind)]
            if steps is not None
        ]
        if found:
            known = min(found)[1]
            is_plural = noun not in wordnet().senses
            text = " ".join(word.text for word in words[:length])
            return Word(text, plural(known) if is_plural else known, words[0].column), length
    return None


def alike(ontology: Ontology, noun: str, *, least: float = 0.75) -> list[str]:
    """Known nouns that mean something similar (Wu-Palmer), most similar first."""
    scores = {known: wordnet().similarity(noun, kind) for kind, known in _kinds(ontology)}
    return sorted((known for known in scores if scores[known] >= least), key=lambda known: -scores[known])


def most_alike(ontology: Ontology, noun: str, *, least: float = 0.75) -> tuple[str, float] | None:
    """The known noun that is most similar (Wu-Palmer) and the score, as the paper matches words.

    >>> from instar.driving.rules.ontology import usual_ontology
    >>> most_alike(usual_ontology(), "dog")
    ('pedestrian', 0.7857)
    """
    scores: dict[str, float] = {}
    for element in ontology.elements.values():
        single = [name for name in element.synonyms if " " not in name]
        for name in single:
            score = wordnet().similarity(noun, name)
            scores[single[0]] = max(score, scores.get(single[0], 0.0))
    best = max(scores, key=lambda name: scores[name])
    return (best, round(scores[best], 4)) if scores[best] >= least else None


def _kinds(ontology: Ontology) -> Iterator[tuple[str, str]]:
    """Each kind that is asked for, with a word of the ontology that stands for it."""
    for element in ontology.elements.values():
        nouns = [(element.kinds, element.synonyms)]
        nouns += [(v.kinds, v.nouns) for values in element.properties.values() for v in values.values()]
        for kinds, names in nouns:
            single = [name for name in names if " " not in name]
            for kind in kinds if single else ():
                yield kind, single[0]
