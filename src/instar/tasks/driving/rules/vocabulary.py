"""The words of the rule language, read from `vocabulary.toml`, and how English words change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from instar.user_file import load_resource

_Meaning = TypeVar("_Meaning")


def invert(table: Mapping[_Meaning, Iterable[str]]) -> dict[str, _Meaning]:
    """The meaning of each phrase, from the phrases of each meaning."""
    return {phrase: meaning for meaning, phrases in table.items() for phrase in phrases}


def _lists(entry: Any) -> Any:
    """Phrases are written with commas between them, so that a table of words stays readable."""
    if isinstance(entry, str):
        return [phrase.strip() for phrase in entry.split(",")]
    return {key: _lists(value) for key, value in entry.items()}


TABLES: Mapping[str, Mapping[str, Any]] = _lists(
    load_resource("instar.tasks.driving.rules", "vocabulary.toml")
)
IF, THEN, THINGS, _ENGLISH = (TABLES[name] for name in ("if", "then", "things", "english"))

_ONES = dict(enumerate(_ENGLISH["ones"], start=1))
_TENS = dict(enumerate(_ENGLISH["tens"], start=2))
NUMBERS = (
    {word: number for number, word in _ONES.items()}
    | {word: 10 * ten for ten, word in _TENS.items()}
    | {f"{ten} {_ONES[one]}": 10 * tens + one for tens, ten in _TENS.items() for one in range(1, 10)}
    | {"hundred": 100, "one hundred": 100, "a hundred": 100}
)
"""Numbers in words, up to a hundred."""

_PLURALS: dict[str, str] = {one: many for one, (many,) in _ENGLISH["plurals"].items()}
_IRREGULAR: dict[str, tuple[str, str]] = _ENGLISH["irregular"]  # base: past, participle


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
    return _add_s(noun, ("s", "x", "ch", "sh"))


def a_or_an(noun: str) -> str:
    """A noun with its article, by its first letter.

    >>> a_or_an("animal"), a_or_an("tree")
    ('an animal', 'a tree')
    """
    return ("an " if noun[0] in "aeiou" else "a ") + noun


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
    forms = [
        form for verb in verbs for form in (verb, _change_first(verb, _third), _change_first(verb, _past))
    ]
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


def _add_s(word: str, hissing: tuple[str, ...]) -> str:
    if word.endswith(hissing):
        return word + "es"
    return word[:-1] + "ies" if _ends_in_y(word) else word + "s"


def _ends_in_y(word: str) -> bool:
    return word.endswith("y") and word[-2] not in "aeiou"


def _third(verb: str) -> str:
    return {"be": "is", "have": "has"}.get(verb) or _add_s(verb, ("s", "x", "ch", "sh", "o"))


def _past(verb: str) -> str:
    return _IRREGULAR[verb][0] if verb in _IRREGULAR else _ed(verb)


def _participle(verb: str) -> str:
    return _IRREGULAR[verb][1] if verb in _IRREGULAR else _ed(verb)


def _ed(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    return verb[:-1] + "ied" if _ends_in_y(verb) else _doubled(verb) + "ed"


def _doubled(verb: str) -> str:
    return verb + verb[-1] if verb in _ENGLISH["doubled"] else verb


def _gerund(verb: str) -> str:
    if verb == "be":
        return "being"
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    return _doubled(verb) + "ing"
