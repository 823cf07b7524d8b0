"""The If half: "a pedestrian appears on the roadside", "the buildings are replaced with trees"."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from instar.tasks.driving.rules.clauses import (
    BE,
    Clause,
    absent,
    added,
    does,
    done,
    present,
    removed,
    replaced,
)
from instar.tasks.driving.rules.comparisons import closer, comparing
from instar.tasks.driving.rules.english import gerunds, participles
from instar.tasks.driving.rules.grammar import (
    Found,
    Objection,
    Parser,
    alt,
    many,
    named,
    opt,
    phrase,
    quietly,
    seq,
    skip,
    to,
)
from instar.tasks.driving.rules.ontology import Ontology
from instar.tasks.driving.rules.things import Mention, Place, Things, things
from instar.tasks.driving.rules.vocabulary import IF as said
from instar.tasks.driving.rules.vocabulary import listed
from instar.tasks.driving.rules.weather import outside, weather_and_time

__all__ = ["conditions", "premises"]


def premises(ontology: Ontology) -> Parser:
    """The If half as a phrase without a verb: "at night", "in case of heavy rain", "without lane lines"."""
    words = things(ontology)
    who, where = words.several, opt(words.place)
    return named(
        alt(
            to(present, skip(phrase(*said["with"])), who, where),
            to(absent, skip(phrase(*said["without"])), who, where),
            quietly(_during(ontology, words)),
        )
    )


def conditions(ontology: Ontology) -> Parser:
    """The parser of the If half; its values are tuples of `Clause`."""
    words = things(ontology)
    clause = named(
        alt(
            *_appearing(words),
            *_being(words),
            *_vanishing(words),
            *_replacing(words),
            *_commands(words),
            *comparing(words),
            *weather_and_time(ontology, words),
        )
    )
    conjunction = alt(
        phrase("and", "while", ","), seq(phrase(","), phrase("and", "while")), phrase("and also", "and then")
    )
    too = skip(opt(phrase("too", "as well", "also")))
    at_once = phrase("at the same time", "simultaneously", "at once", "together")
    during = opt(quietly(_during(ontology, words)))
    return named(
        to(_together, opt(phrase("both")), clause, many(seq(conjunction, clause)), during, too, opt(at_once))
    )


def _during(ontology: Ontology, words: Things) -> Parser:
    """The weather or time of day that something happens in."""
    return to(lambda what: added(what, None), skip(phrase(*said["during"])), outside(ontology, words))


def _together(
    both: Found | None,
    first: tuple[Clause, ...],
    rest: Sequence[tuple[object, tuple[Clause, ...]]],
    during: tuple[Clause, ...] | None,
    at_once: Found | None,
) -> tuple[Clause, ...]:
    clauses = (*first, *(clause for _, more in rest for clause in more), *(during or ()))
    for word in (both, at_once):
        if word is not None and len(clauses) == 1:
            raise Objection(word.at, f"{word.phrase!r} needs two changes")
    return clauses


def _appearing(words: Things) -> list[Parser]:
    happens = skip(seq(opt(phrase("also")), alt(does(said["appear"]), done([*said["add"], *said["seen"]]))))
    who, where = words.several, words.place
    area = alt(words.area, words.one)
    near = opt(closer(words))
    comma = skip(opt(phrase(",")))
    return [
        to(added, who, happens, opt(words.to_place), near),
        to(lambda who, near, where: added(who, where, near), who, happens, closer(words), where),
        to(added, who, where, happens),
        to(lambda who, area: added(who, Place("on", area, 0)), who, does(said["cross"]), area),
        to(added, who, does(said["cross"]), where),
        to(lambda where, who: added(who, where), where, comma, happens, who),
        to(lambda where, who: added(who, where), where, comma, who, happens),
        to(
            added,
            skip(alt(words.ego, phrase("the car", "the vehicle"))),
            does(said["see"]),
            who,
            skip(opt(phrase(*gerunds(said["appear"])))),
            opt(where),
        ),
        to(
            _deny,
            skip(who),
            skip(phrase(*listed("does, do, did, is, are, has, have"))),
            phrase("not", "never"),
            skip(_anything()),
        ),
    ]


def _anything() -> Parser:
    """Any verb of change, in the forms that stand behind "not"."""
    plain = [*said["appear"], *said["vanish"], *said["become"], *said["turn"], *said["cross"]]
    done_to = [*said["add"], *said["remove"], *said["replace"]]
    return phrase(*plain, *participles([*plain, *done_to]), *gerunds(plain))


def _deny(word: Found) -> None:
    raise Objection(word.at, "what does not happen is no change; say what is added, removed or replaced")


def _being(words: Things) -> list[Parser]:
    who, where = words.several, words.place
    be, there = skip(phrase(*BE)), skip(phrase("there"))
    doing = opt(phrase(*gerunds(said["appear"]), *participles([*said["add"], *said["seen"]]), *said["there"]))
    near = opt(closer(words))
    comma = skip(opt(phrase(",")))

    return [
        to(present, who, be, where),
        to(present, who, be, skip(phrase(*said["there"])), opt(where)),
        to(absent, who, be, skip(phrase("not")), skip(phrase(*said["there"])), opt(where)),
        to(absent, who, be, skip(phrase("not")), where),
        to(present, there, be, who, skip(doing), opt(where), near),
        to(absent, there, be, skip(phrase("not", "no longer")), who, opt(where)),
        to(
            lambda who: added(who, None),
            there,
            skip(phrase("appears", "appear", "comes", "emerges", "exists", "exist")),
            who,
        ),
        to(
            added,
            there,
            skip(phrase("appears", "appear", "emerges", "emerge", "exists", "exist", "stands", "stand")),
            who,
            where,
        ),
        to(lambda where, who: present(who, where), where, comma, there, be, who),
        to(lambda where, who: present(who, where), where, comma, be, who),
        to(lambda area, who: present(who, Place("on", area, 0)), words.area, does(said["have"]), who),
        to(present, skip(words.area), does(said["have"]), who, where),
        to(
            lambda new, old: tuple(c for one in new for c in replaced(old, one)),
            there,
            be,
            words.several,
            skip(phrase("instead of", "in place of", "rather than")),
            who,
        ),
    ]


def _vanishing(words: Things) -> list[Parser]:
    who, where = words.several, words.from_place
    gone = seq(phrase(*BE), phrase(*said["gone"]))
    happens = skip(alt(does(said["vanish"]), done(said["remove"]), gone))
    return [
        to(removed, who, happens, opt(where)),
        to(removed, who, words.place, happens),
        to(lambda who, area: removed(who, Place(None, area, 0)), who, does(said["depart"]), words.area),
    ]


def _new(words: Things) -> Parser:
    """What takes the place of something: a thing, or "a black one"."""
    article = opt(phrase("a", "an", "the"))
    return alt(words.one, to(lambda how: how, skip(article), words.adjectives, skip(phrase("one", "ones"))))


def _replacing(words: Things) -> list[Parser]:
    who, new, where = words.several, _new(words), opt(words.place)
    swaps = [
        to(_placed_replaced, who, where, done([verb]), skip(phrase(*prepositions)), new)
        for verb, prepositions in said["replace"].items()
    ]
    to_new = alt(new, words.adjectives)
    return [
        *swaps,
        to(_placed_replaced, who, where, does(said["become"]), new),
        to(_placed_replaced, who, where, does(said["turn"]), words.adjectives),
        to(replaced, who, done(["turn", "make", "paint"]), words.adjectives),
        to(_from_to, who, _changes(), skip(phrase("from")), to_new, skip(phrase("to", "into")), to_new),
        to(lambda new, old: replaced(old, new), new, does(said["take_over"]), who),
        to(lambda new, old: replaced(old, new), new, done(["substitute"]), skip(phrase("for")), who),
    ]


def _placed_replaced(
    who: Sequence[Mention], where: Place | None, new: Mention | tuple[Found, ...]
) -> tuple[Clause, ...]:
    return replaced(who, new, where)


def _changes() -> Parser:
    return skip(alt(does(["change", "turn", "switch", "go"]), done(["change", "turn", "switch"])))


def _from_to(
    who: Sequence[Mention], old: Mention | tuple[Found, ...], new: Mention | tuple[Found, ...]
) -> tuple[Clause, ...]:
    """ "The weather changes from sunny to rainy"."""
    return tuple(dataclasses.replace(clause, old=old) for clause in replaced(who, new))


def _commands(words: Things) -> list[Parser]:
    who, new, where = words.several, _new(words), opt(words.place)
    we = skip(opt(phrase(*listed("we, you, i, someone, please, let us, the tester, one"))))
    adds, removes = phrase(*_forms(said["add"])), phrase(*_forms(said["remove"]))
    swaps = [
        to(_placed_replaced, we, skip(phrase(*_forms([verb]))), who, where, skip(phrase(*prepositions)), new)
        for verb, prepositions in said["replace"].items()
        if verb != "substitute"
    ]
    return [
        to(added, we, skip(adds), who, opt(words.to_place)),
        to(removed, we, skip(removes), who, opt(words.from_place)),
        *swaps,
        to(
            lambda new, old: replaced(old, new),
            we,
            skip(phrase(*_forms(["substitute"]))),
            new,
            skip(phrase("for")),
            who,
        ),
        to(replaced, we, skip(phrase(*_forms(["make", "turn", "paint", "color"]))), who, words.adjectives),
    ]


def _forms(verbs: Sequence[str]) -> list[str]:
    """Add, adding: what a command may begin with."""
    return [*verbs, *gerunds(verbs)]
