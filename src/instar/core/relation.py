"""Relations: which change is fair, and what must then hold."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.core.marks import Panel
from instar.core.scene import Image, Observation, Scene
from instar.core.verdict import Verdict

__all__ = [
    "Change",
    "Inapplicable",
    "Prepare",
    "Relation",
    "Workspace",
    "change_from_json",
    "named_dataclass",
]


@dataclass(frozen=True)
class Change:
    """The whole recipe of a follow-up: subclass it as a frozen dataclass of JSON values.

    It is what gets stored, so everything random must be in it. Pixels that it needs are named by
    their content hash (see `Relation.pixels`).
    """

    def to_json(self) -> dict[str, Any]:
        """The fields, and under `type` where the class is found again."""
        cls = type(self)
        return {"type": f"{cls.__module__}:{cls.__qualname__}"} | {
            f.name: getattr(self, f.name) for f in dataclasses.fields(self)
        }


@dataclass(frozen=True, slots=True)
class Inapplicable:
    """Why no fair change could be made. Counted by its reason: keep the wording constant."""

    reason: str


class Workspace(Protocol):
    """What a relation may use while it prepares for a campaign (see `Relation.prepare`)."""

    @property
    def folder(self) -> Any:
        """A `pathlib.Path` that is kept as long as the run, to keep what was prepared."""

    def progress(self, what: str, total: int | None) -> Any:
        """A context manager giving `advance(n=1)`; shows a progress bar where there is a terminal."""


Draw = Callable[[Observation, np.random.Generator], "Change | Inapplicable"]
Prepare = Callable[[Sequence[Scene], Workspace], "Relation"]


@dataclass(frozen=True)
class Relation:
    """Which change is fair and what must then hold; plain functions, only `draw` random.

    The first four are all that a relation needs:

    - `draw(source, rng)` chooses a change. It sees the source's answer.
    - `apply(input, change)` makes the follow-up or follow-ups, or says that the finished picture is
      no good. Pure.
    - `check(source, follow_ups, change)` compares the answers. Pure.

    The rest is optional:

    - `null(source, rng)` yields changes that must do nothing, through the same apply and check. The
      first one measures false alarms and is asked once per scene; all after it are asked only where
      something was found, and strike out every finding that they show too.
    - `again(source, change)` yields the same change under conditions that must not matter; a finding
      counts only if it recurs under each.
    - `placebo(source, change)` is a change that only looks like it, recorded as evidence.
    - `at(source, level)` is the change of a given severity, for sweeps and bisection.
    - `smaller(source, change)` yields simpler changes, best first, for shrinking; also lines of changes, the
      simplest first, where a quantity can be less and less.
    - `fair(source, change)` says why a change that was drawn for another system's answer is not fair with
      this one's, or gives None.
    - `ways` are other ways of drawing, by name, that a search may choose from.
    - `accept(input, answer)` turns what the system said into what `check` expects, or raises
      ValueError or TypeError with the reason: that answer is then a failure of the system.
    - `expand(scene, system)` yields (part, build) pairs, where a scene is more than one question or
      the input more than the picture; `build(image)` makes the input. Or it says why the scene is no
      question at all.
    - `pixels(change)` gives the pictures a change needs, by content hash; they are copied into the run.
    - `prepare(scenes, workspace)` gives the relation to use for these scenes, with whatever it had to
      collect from them first.
    - `naturalness(source, follow_up, change)` is 1 for a follow-up that looks untouched, 0 for one that
      nobody would believe.
    - `picture(source, follow_ups, change, verdict)` draws a case for a person to look at.
    - `panels(source, follow_ups, change, verdict)` gives the same as pictures and what is marked on them,
      the source first, for pages that draw it themselves.
    """

    name: str
    draw: Draw
    apply: Callable[[Any, Any], tuple[Any, ...] | Inapplicable]
    check: Callable[[Observation, Sequence[Observation], Any], Verdict]
    null: Callable[[Observation, np.random.Generator], Iterable[Change]] | None = None
    again: Callable[[Observation, Any], Iterable[Change]] | None = None
    placebo: Callable[[Observation, Any], Change] | None = None
    at: Callable[[Observation, float], Change | Inapplicable] | None = None
    smaller: Callable[[Observation, Any], Iterable[Change | Sequence[Change]]] | None = None
    fair: Callable[[Observation, Any], Inapplicable | None] | None = None
    ways: Mapping[str, Draw] = field(default_factory=dict)
    accept: Callable[[Any, Any], Any] | None = None
    expand: Callable[[Scene, Any], Iterable[tuple[str, Callable[[Image], Any]]] | Inapplicable] | None = None
    pixels: Callable[[Any], Mapping[str, npt.NDArray[np.uint8]]] | None = None
    prepare: Prepare | None = None
    naturalness: Callable[[Observation, Any, Any], float] | None = None
    picture: Callable[[Observation, Sequence[Observation], Any, Verdict], Image] | None = None
    panels: Callable[[Observation, Sequence[Observation], Any, Verdict], Sequence[Panel]] | None = None


def change_from_json(fields: Mapping[str, Any]) -> Change:
    """The change that `Change.to_json` wrote."""
    rest = dict(fields)
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


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_frozen(v) for v in value)
    return value
