"""A change as it was said, before it is known what its pronouns and comparatives refer to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from instar.tasks.driving.rules.english import finite, gerunds, participles
from instar.tasks.driving.rules.grammar import Found, Objection, Parser, alt, opt, phrase, seq, skip
from instar.tasks.driving.rules.things import Mention, Place
from instar.tasks.driving.rules.vocabulary import listed

__all__ = ["BE", "Clause", "absent", "added", "does", "done", "present", "removed", "replaced", "verb_forms"]


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


BE = listed("is, are, was, were, 's, be, gets, get, got, has been, have been, is being, are being")


def does(verbs: Sequence[str]) -> Parser:
    """Stands, is standing, has stood, starts to stand; has no value."""
    return skip(verb_forms(verbs))


def verb_forms(verbs: Sequence[str]) -> Parser:
    """Like `does`, with a value."""
    return alt(
        phrase(*finite(verbs)),
        seq(
            phrase("is", "are", "was", "were", "'s", "starts", "start", "begins", "begin"),
            phrase(*gerunds(verbs)),
        ),
        seq(phrase("has", "have"), phrase(*participles(verbs))),
        seq(phrase("starts to", "start to", "begins to", "begin to"), phrase(*verbs)),
    )


def done(verbs: Sequence[str]) -> Parser:
    """Is removed, has been removed, removed; has no value."""
    return skip(seq(opt(phrase(*BE)), phrase(*participles(verbs))))


def added(
    mentions: Sequence[Mention], place: Place | None, comparative: Found | None = None
) -> tuple[Clause, ...]:
    _must_exist(mentions)
    for mention in mentions:
        if mention.article in ("all", "all the", "all of the", "every", "each"):
            raise Objection(mention.first, "how many are added is not said")
        if mention.is_pronoun and comparative is None:
            raise Objection(
                mention.at, f"what {mention.article!r} refers to is there already; say how it changes"
            )
    return tuple(
        Clause("add", mention, place, comparative=comparative or mention.comparative) for mention in mentions
    )


def removed(mentions: Sequence[Mention], place: Place | None) -> tuple[Clause, ...]:
    _must_exist(mentions)
    return tuple(Clause("remove", _plain(mention), place) for mention in mentions)


def absent(mentions: Sequence[Mention], place: Place | None) -> tuple[Clause, ...]:
    """Where there is not a car, all are removed, not one."""
    every = [replace(m, count=None) if m.article in ("a", "an", "any") else m for m in mentions]
    return removed(every, place)


def present(
    mentions: Sequence[Mention], place: Place | None, comparative: Found | None = None
) -> tuple[Clause, ...]:
    """What is there is added; where there are none, all are removed."""
    if all(mention.is_none for mention in mentions):
        if comparative is not None:
            raise Objection(comparative.at, "only what is added can be compared")
        return tuple(Clause("remove", _plain(mention), place) for mention in mentions)
    return added(mentions, place, comparative)


def replaced(
    mentions: Sequence[Mention], new: Mention | tuple[Found, ...], place: Place | None = None
) -> tuple[Clause, ...]:
    _must_exist(mentions)
    if isinstance(new, Mention):
        _must_exist([new])
        _plain(new)
    return tuple(Clause("replace", _plain(mention), place, new) for mention in mentions)


def _must_exist(mentions: Sequence[Mention]) -> None:
    for mention in mentions:
        if mention.is_none:
            raise Objection(mention.first, "what does not happen is no change")


def _plain(mention: Mention) -> Mention:
    if mention.comparative is not None:
        raise Objection(mention.comparative.at, "only what is added can be compared")
    return mention
