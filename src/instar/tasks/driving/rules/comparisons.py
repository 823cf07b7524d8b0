"""Changes of an earlier change: "he gets closer", "the rain becomes heavier", "the number of cars grows"."""

from __future__ import annotations

from collections.abc import Sequence

from instar.tasks.driving.rules.clauses import BE, Clause, does, verb_forms
from instar.tasks.driving.rules.english import participles
from instar.tasks.driving.rules.grammar import Found, Objection, Parser, alt, opt, phrase, seq, skip, to
from instar.tasks.driving.rules.things import COMPARATIVES, Mention, Things
from instar.tasks.driving.rules.vocabulary import IF as said

__all__ = ["closer", "comparing"]


def closer(words: Things) -> Parser:
    """ "(Even) closer (to the ego-vehicle)": the value is the comparative."""
    return to(
        lambda word: word,
        skip(opt(phrase("even", "still"))),
        phrase(*COMPARATIVES),
        skip(opt(seq(phrase("to", "from", "away from"), _own(words)))),
    )


def comparing(words: Things) -> list[Parser]:
    who, near = words.several, closer(words)
    own = skip(_own(words))
    return [
        to(compared, who, does(said["grow"]), near),
        to(compared, who, skip(phrase(*BE)), skip(phrase(*participles(said["bring"]))), near),
        to(compared, skip(opt(phrase("we", "you"))), skip(phrase(*said["bring"])), who, near),
        to(
            lambda who, word: compared(who, as_word(word, "closer")),
            who,
            where_does(said["approach"]),
            skip(opt(own)),
        ),
        to(
            lambda who, word: compared(who, as_word(word, "farther")),
            who,
            where_does(said["leave"]),
            skip(opt(seq(phrase("from"), own))),
        ),
        to(
            lambda word, who: compared(who, word),
            own,
            does(said["grow"]),
            _distance(),
            skip(phrase("to", "from")),
            who,
        ),
        to(lambda word, who: compared(who, as_word(word, "closer")), own, where_does(said["approach"]), who),
        *_numbers(words),
        *_distances(words),
    ]


def compared(who: Sequence[Mention], word: Found) -> tuple[Clause, ...]:
    for mention in who:
        if mention.is_none:
            raise Objection(mention.first, "what does not happen is no change")
        if mention.comparative is not None:
            raise Objection(word.at, f"{word.phrase!r} is a second comparison")
    return tuple(Clause("compare", mention, comparative=word) for mention in who)


def as_word(said: Found, comparative: str) -> Found:
    """The comparative that a verb stands for: to approach is to get closer."""
    return Found(comparative, said.at)


def where_does(verbs: Sequence[str]) -> Parser:
    """Like `does`, with the first word of the verb as its value."""
    return to(_first, verb_forms(verbs))


def _first(value: object) -> Found:
    while isinstance(value, tuple):
        value = value[-1]
    assert isinstance(value, Found)
    return value


def _own(words: Things) -> Parser:
    """The ego-vehicle, which here may be called the vehicle or the car."""
    return alt(words.ego, phrase("the vehicle", "the car"))


def _distance() -> Parser:
    return phrase(*(word for word, meaning in COMPARATIVES.items() if meaning in ("closer", "farther")))


def _numbers(words: Things) -> list[Parser]:
    number = skip(seq(opt(phrase("the")), phrase("number of", "amount of", "intensity of", "level of")))
    up, down = where_does(said["increase"]), where_does(said["shrink"])
    return [
        to(lambda who, word: compared(who, as_word(word, "more")), number, words.several, up),
        to(lambda who, word: compared(who, as_word(word, "less")), number, words.several, down),
    ]


def _distances(words: Things) -> list[Parser]:
    who, own = words.several, skip(_own(words))
    distance = skip(seq(opt(phrase("the")), phrase("distance")))
    to_who = alt(
        to(lambda who: who, skip(phrase("to", "from")), who, skip(opt(seq(phrase("from", "to"), own)))),
        to(lambda who: who, skip(phrase("between")), own, skip(phrase("and")), who),
        to(lambda who: (who,), skip(phrase("between")), words.one, skip(phrase("and")), own),
        to(lambda who: who, skip(phrase("from")), own, skip(phrase("to")), who),
    )
    return [
        to(
            lambda who, word: compared(who, as_word(word, "closer")),
            distance,
            to_who,
            where_does(said["shrink"]),
        ),
        to(
            lambda who, word: compared(who, as_word(word, "farther")),
            distance,
            to_who,
            where_does(said["increase"]),
        ),
    ]
