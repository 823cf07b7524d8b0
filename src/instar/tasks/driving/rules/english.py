"""How English words change: plurals of nouns, forms of verbs, numbers in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from instar.tasks.driving.rules.vocabulary import ENGLISH

__all__ = ["NUMBERS", "finite", "gerunds", "participles", "plural", "singulars"]

_ONES = dict(enumerate(ENGLISH["ones"], start=1))
_TENS = dict(enumerate(ENGLISH["tens"], start=2))
NUMBERS = (
    {word: number for number, word in _ONES.items()}
    | {word: 10 * ten for ten, word in _TENS.items()}
    | {f"{ten} {_ONES[one]}": 10 * tens + one for tens, ten in _TENS.items() for one in range(1, 10)}
    | {"hundred": 100, "one hundred": 100, "a hundred": 100}
)
"""Numbers in words, up to a hundred."""

_PLURALS: dict[str, str] = {one: many for one, (many,) in ENGLISH["plurals"].items()}
_IRREGULAR: dict[str, tuple[str, str]] = ENGLISH["irregular"]  # base: past, participle
_VOWELS = "aeiou"


def plural(noun: str) -> str:
    """The plural of a noun; of a phrase that has one inside, of its first noun.

    >>> plural("lorry"), plural("bus"), plural("passer by"), plural("side of the road")
    ('lorries', 'buses', 'passers by', 'sides of the road')
    """
    if noun in _PLURALS:
        return _PLURALS[noun]
    if " of " in noun:
        head, _, rest = noun.partition(" of ")
        return f"{plural(head)} of {rest}"
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in _VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


def singulars(noun: str) -> list[str]:
    """What the noun may be the plural of, likeliest first.

    >>> singulars("buses"), singulars("lorries"), singulars("people")
    (['buse', 'bus'], ['lorry', 'lorrie'], ['person'])
    """
    irregular = [one for one, many in _PLURALS.items() if many == noun]
    if not irregular and noun.endswith("men"):
        return [noun[:-3] + "man"]
    if irregular or not noun.endswith("s"):
        return irregular
    if noun.endswith("ies"):
        return [noun[:-3] + "y", noun[:-1]]
    return [noun[:-1], noun[:-2]] if noun.endswith("es") else [noun[:-1]]


def finite(verbs: Iterable[str]) -> list[str]:
    """appear, appears, appeared: as they stand behind their subject."""
    forms = [form for verb in verbs for form in (verb, _third(verb), _past(verb))]
    return [*forms, "are", "were", "'s"] if "be" in forms else forms


def participles(verbs: Iterable[str]) -> list[str]:
    """removed: as they stand behind "is" or "has been"."""
    return [_change_first(verb, _participle) for verb in verbs]


def gerunds(verbs: Iterable[str]) -> list[str]:
    """standing: as they stand behind "is"."""
    return [_change_first(verb, _gerund) for verb in verbs]


def _change_first(verb: str, change: Callable[[str], str]) -> str:
    first, _, rest = verb.partition(" ")
    return f"{change(first)} {rest}".strip()


def _third(verb: str) -> str:
    return _change_first(verb, lambda v: {"be": "is", "have": "has"}.get(v) or _es(v))


def _es(verb: str) -> str:
    if verb.endswith(("s", "x", "ch", "sh", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        return verb[:-1] + "ies"
    return verb + "s"


def _past(verb: str) -> str:
    return _change_first(verb, lambda v: _IRREGULAR[v][0] if v in _IRREGULAR else _ed(v))


def _participle(verb: str) -> str:
    return _IRREGULAR[verb][1] if verb in _IRREGULAR else _ed(verb)


def _ed(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        return verb[:-1] + "ied"
    if verb in ENGLISH["doubled"]:
        return verb + verb[-1] + "ed"
    return verb + "ed"


def _gerund(verb: str) -> str:
    if verb == "be":
        return "being"
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    if verb in ENGLISH["doubled"]:
        return verb + verb[-1] + "ing"
    return verb + "ing"
