"""What an If half says: changes, before it is known what their pronouns and comparatives refer to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from instar.tasks.driving.rules.grammar import Found, Objection, Unfit
from instar.tasks.driving.rules.things import VAGUE, Mention, Place


@dataclass(frozen=True, slots=True)
class Clause:
    """One change; `op` is add, remove, replace, or compare (an earlier change again, altered).

    `new` is what takes the place of the thing: a mention, or adjectives ("the light turns red"); `old` what
    it was before, where that is said.
    """

    op: str
    thing: Mention
    place: Place | None = None
    new: Mention | tuple[Found, ...] | None = None
    comparative: Found | None = None
    old: Mention | tuple[Found, ...] | None = None


Clauses = tuple[Clause, ...]


def added(who: Sequence[Mention], where: Place | None = None, near: Found | None = None) -> Clauses:
    _must_exist(who)
    for mention in who:
        if mention.article in ("all", "all the", "all of the", "every", "each"):
            raise Objection(mention.first, "how many are added is not said")
        is_moved = where is not None and where.metres is not None
        if mention.is_pronoun and near is None and not is_moved:
            raise Objection(
                mention.at, f"what {mention.article!r} refers to is there already; say how it changes"
            )
    return tuple(Clause("add", mention, where, comparative=near or mention.comparative) for mention in who)


def removed(who: Sequence[Mention], where: Place | None = None) -> Clauses:
    _must_exist(who)
    _must_tell_which(who)
    return tuple(Clause("remove", _plain(mention), where) for mention in who)


def absent(who: Sequence[Mention], where: Place | None = None) -> Clauses:
    """Where there is not a car, all are removed, not one."""
    return removed([replace(m, count=None) if m.article in ("a", "an", "any") else m for m in who], where)


def neither_there(one: Mention, other: Mention, where: Place | None = None) -> Clauses:
    both = removed([replace(mention, count=None) for mention in (one, other)], where)
    is_one = (one.element, one.properties) == (other.element, other.properties)  # in two words
    return both[:1] if is_one else both


def present(who: Sequence[Mention], where: Place | None = None, near: Found | None = None) -> Clauses:
    """What is there is added; where there are none, all are removed."""
    if all(mention.is_none for mention in who):
        if near is not None:
            raise Objection(near.at, "only what is added can be compared")
        return tuple(Clause("remove", _plain(mention), where) for mention in who)
    return added(who, where, near)


def replaced(
    who: Sequence[Mention],
    new: Mention | tuple[Found, ...],
    where: Place | None = None,
    old: Mention | tuple[Found, ...] | None = None,
) -> Clauses:
    _must_exist(who)
    _must_tell_which(who)
    if isinstance(new, Mention):
        _must_exist([new])
        _plain(new)
    return tuple(Clause("replace", _plain(mention), where, new, old=old) for mention in who)


def instead(who: Sequence[Mention], new: Sequence[Mention]) -> Clauses:
    return tuple(clause for one in new for clause in replaced(who, one))


def air_replaced(air: Mention, new: Mention) -> Clauses:
    return replaced([air], new)


def outside_replaced(air: Mention, new: Sequence[Mention]) -> Clauses:
    if len(new) > 1:
        raise Unfit
    return replaced([air], new[0])


def ended(air: Mention) -> Clauses:
    return (Clause("remove", air),)


def compared(who: Sequence[Mention], word: Found, way: str = "") -> Clauses:
    """`way` is the comparative that a verb stands for: to approach is to get closer."""
    word = Found(way or word.phrase, word.at)
    for mention in who:
        if mention.is_none:
            raise Objection(mention.first, "what does not happen is no change")
        if mention.comparative is not None:
            raise Objection(word.at, f"{word.phrase!r} is a second comparison")
    return tuple(Clause("compare", mention, comparative=word) for mention in who)


def parked(who: Sequence[Mention], where: Place | None = None) -> Clauses:
    """A parked car, in other words."""
    for mention in who:
        if mention.element != "vehicle":
            raise Objection(mention.at, "only vehicles are parked")
    state = {"state": "parked"}
    return added([replace(m, properties={**m.properties, **state}) for m in who], where)


def crossed(who: Sequence[Mention], where: Place) -> Clauses:
    """Whoever crosses at a crosswalk is on it, and does not wait beside it."""
    return added(who, replace(where, position="on") if where.position == "at" else where)


def reached(who: Sequence[Mention], word: Found, where: Place | None = None) -> Clauses:
    """ "At a red light": it is ahead."""
    if where is not None and not where.ahead:
        raise Unfit
    return added(who, where or Place("in front of", "ego-vehicle", word.at, ahead=True))


def led(who: Mention, where: Place | None = None) -> Clauses:
    """The lead vehicle is ahead of us, in our lane."""
    if where is None:
        return reached([who], Found("", who.first))
    lane = where.reference if isinstance(where.reference, Mention) else None
    is_ours = lane is not None and lane.element == "lane" and lane.properties.get("position") == "own"
    if not (where.ahead or is_ours):
        raise Objection(where.at, "who leads is ahead")
    return added([who], where)


def came_towards(who: Sequence[Mention], word: Found) -> Clauses:
    """What comes from the front is ahead; a vehicle that does is oncoming."""
    heading = {"heading": "oncoming"}
    facing = [
        replace(m, properties={**m.properties, **heading}) if m.element == "vehicle" else m for m in who
    ]
    return added(facing, Place("in front of", "ego-vehicle", word.at, ahead=True))


def faded(who: Sequence[Mention], word: Found) -> Clauses:
    return replaced(who, (Found("faded", word.at),))


def worn(who: Sequence[Mention]) -> Clauses:
    """ "Faded markings": those that are there, so that no place is needed."""
    if any(mention.element != "line" or "state" not in mention.properties for mention in who):
        raise Unfit
    return added(who)


def at_both(first: Clauses, second: Clauses) -> Clauses:
    return (*first, *second)


def deny(word: Found) -> NoReturn:
    raise Objection(word.at, "what does not happen is no change; say what is added, removed or replaced")


def together(
    first: Clauses,
    rest: Sequence[Clauses],
    both: Found | None,
    during: Clauses | None,
    at_once: Found | None,
) -> Clauses:
    clauses = (*first, *(clause for more in rest for clause in more), *(during or ()))
    for word in (both, at_once):
        if word is not None and len(clauses) == 1:
            raise Objection(word.at, f"{word.phrase!r} needs two changes")
    return clauses


MEANINGS = (
    absent, added, air_replaced, at_both, came_towards, compared, crossed, deny, ended, faded, instead,
    led, neither_there, outside_replaced, parked, present, reached, removed, replaced, together, worn,
)  # fmt: skip


def _must_exist(mentions: Sequence[Mention]) -> None:
    for mention in mentions:
        if mention.is_none:
            raise Objection(mention.first, "what does not happen is no change")


def _must_tell_which(mentions: Sequence[Mention]) -> None:
    for mention in mentions:
        if mention.article in VAGUE:
            raise Objection(mention.first, f"which are meant by {mention.article!r} is not said")


def _plain(mention: Mention) -> Mention:
    if mention.still is not None:
        raise Objection(mention.still.at, "a picture does not tell who stands and who moves")
    if mention.comparative is not None:
        raise Objection(mention.comparative.at, "only what is added can be compared")
    return mention
