"""Changes: the whole recipe of a follow-up, as it is stored."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from instar.core.errors import BadInput, WrongKind


@dataclass(frozen=True)
class Change:
    """The whole recipe of a follow-up: subclass it as a frozen dataclass of JSON values.

    It is what gets stored, so everything random must be in it. Pixels that it needs are named by
    their content hash (see `Relation.pixels`). A change with a `box` (x1, y1, x2, y2 in the source) is
    outlined in pictures of its cases.
    """

    def to_json(self) -> dict[str, Any]:
        """The fields, and the path of the class under `type`."""
        cls = type(self)
        return {"type": f"{cls.__module__}:{cls.__qualname__}"} | {
            f.name: getattr(self, f.name) for f in dataclasses.fields(self)
        }


class Value(Change):
    """A change that is any JSON value: a severity, a name, or None where only one change is possible.

    `unit` says what the value is, for people; it makes no difference to the change.
    """

    def __init__(self, value: Any = None, unit: str = "") -> None:
        text = json.dumps(value, sort_keys=True, default=_number)
        # As it will be read back: what a relation is given now and in a replay must not differ.
        object.__setattr__(self, "value", json.loads(text))
        object.__setattr__(self, "unit", unit)
        object.__setattr__(self, "_text", text)

    value: Any
    unit: str
    _text: str

    def to_json(self) -> dict[str, Any]:
        return {"value": self.value} | ({"unit": self.unit} if self.unit else {})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return f"Value({self._text})"

    def __str__(self) -> str:
        if self.value is None:
            return self.unit or "changed"
        value = f"{self.value:.4g}" if isinstance(self.value, float) else str(self.value)
        return f"{value} ({self.unit})" if self.unit else value


@dataclass(frozen=True, slots=True)
class Inapplicable:
    """Why no fair change could be made. Counted by its reason: keep the wording constant."""

    reason: str


def wrap(drawn: Any) -> Change | Inapplicable:
    """What a relation drew, as something that can be stored."""
    if isinstance(drawn, (Change, Inapplicable)):
        return drawn
    try:
        return Value(drawn)
    except (TypeError, ValueError):
        raise WrongKind(f"draw gave {drawn!r}; a change is a JSON value or an instar.Change") from None


def plain(change: Change) -> Any:
    """The change as the relation's own functions take it."""
    return change.value if isinstance(change, Value) else change


def change_from_json(fields: Mapping[str, Any]) -> Change:
    """The change that `Change.to_json` wrote."""
    rest = dict(fields)
    if "type" not in rest:
        return Value(rest.get("value"), str(rest.get("unit", "")))
    cls = named_dataclass(rest.pop("type"))
    if not issubclass(cls, Change):
        raise BadInput(f"{cls.__qualname__} is not a Change")
    hints = {f.name for f in dataclasses.fields(cls)}
    # JSON has no tuples; a frozen recipe has no lists.
    try:
        return cls(**{k: _frozen(v) for k, v in rest.items() if k in hints})
    except (TypeError, ValueError) as error:
        raise BadInput(f"the run has a change that is no {cls.__qualname__}: {error}") from None


def named_dataclass(path: str) -> type[Any]:
    """The dataclass `module:qualname`, found without running anything new.

    A run file may come from somebody else, so only instar's own modules and those that the user has
    imported already are looked into.
    """
    module_name, _, qualname = path.partition(":")
    found: Any = sys.modules.get(module_name)
    if found is None and module_name.split(".")[0] == "instar":
        with contextlib.suppress(ImportError):
            found = import_module(module_name)
    for part in qualname.split("."):
        # Not getattr: a module may import things, or a class compute them, when asked for a name.
        found = getattr(found, "__dict__", {}).get(part)
    if not (isinstance(found, type) and dataclasses.is_dataclass(found)):
        raise BadInput(f"the run speaks of {path!r}, which is not loaded; import its module first")
    return found


def _number(value: Any) -> Any:
    """A NumPy number as a plain one."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__qualname__} is no JSON value")


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_frozen(v) for v in value)
    return value
