"""Evidence as reports understand it.

A relation may put any JSON into its evidence. Some keys mean something to whoever shows a case; under them,
what has another form than expected is passed over, as if it had not been said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_NUMBERS = frozenset((int, float))
"""As JSON is read, in which True is another type."""


def readable_evidence(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """The evidence without what nobody could read.

    >>> readable_evidence({"was": {"label": "dog", "score": 0.5}, "is": {"box": "left"}, "mine": None})
    {'was': {'label': 'dog', 'score': 0.5}, 'mine': None}
    """
    return {key: value for key, value in evidence.items() if key not in FORMS or FORMS[key](value)}


def _are_numbers(values: Sequence[Any]) -> bool:
    try:
        return _NUMBERS.issuperset(map(type, values)) and all(map(math.isfinite, values))
    except OverflowError:  # a whole number that no float can hold
        return False


def _is_number(value: Any) -> bool:
    return _are_numbers((value,))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and {str}.issuperset(map(type, value))


def _is_list_of(one: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, (list, tuple)) and all(map(one, value))


def _is_box(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 4 and _are_numbers(value)


def _are_boxes(value: Any) -> bool:
    """All at once: every violated case has those of its scene."""
    return (
        isinstance(value, (list, tuple))
        and all(isinstance(box, (list, tuple)) and len(box) == 4 for box in value)
        and _are_numbers([side for box in value for side in box])
    )


def _is_corner(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 2 and _are_numbers(value)


def _is_table_of(**forms: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Of a mapping: each of these keys may be missing."""
    return lambda value: (
        isinstance(value, dict)
        and all(form(value[key]) for key, form in forms.items() if value.get(key) is not None)
    )


_is_corners = _is_list_of(_is_corner)
_is_thing = _is_table_of(label=_is_text, score=_is_number, box=_is_box, corners=_is_corners)


def _is_told(value: Any) -> bool:
    """What there was or is: a thing, a place, or whatever a relation without objects compares."""
    if isinstance(value, dict):
        return _is_thing(value)
    return not isinstance(value, (list, tuple)) or _is_box(value) or _is_corners(value)


def _is_key(value: Any) -> bool:
    return _are_texts(value) and len(value) == 2


FORMS: Mapping[str, Callable[[Any], bool]] = {
    "was": _is_told,
    "is": _is_told,
    "cause": _is_table_of(what=_is_text, label=_is_text, by=_is_text, where=_is_text, words=_is_text),
    "harm": _is_text,
    "level": _is_number,
    "among": _are_texts,
    "places": _are_boxes,
    "placebo": lambda value: isinstance(value, Mapping) and _is_list_of(_is_key)(value.get("recurs")),
    "struck": _is_list_of(
        lambda one: isinstance(one, Mapping) and _is_text(one.get("kind")) and _is_text(one.get("subject"))
    ),
}
