"""Relations: which change is fair, and what must then hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from instar.core.change import Change, Inapplicable, Value, plain, wrap
from instar.core.errors import BadInput, UnknownName, WrongKind
from instar.core.scene import Observation, Scene
from instar.core.task import TASKS, Task, find_task
from instar.core.verdict import Verdict

STEPS = 200  # of a severity: finer ones are not looked for


class Workspace(Protocol):
    """What a relation may use while it prepares for a campaign (see `Relation.prepare`)."""

    @property
    def folder(self) -> Any:
        """A `pathlib.Path` that is kept as long as the run, to keep what was prepared."""

    def progress(self, what: str, total: int | None) -> Any:
        """A context manager giving `advance(n=1)`; shows a progress bar where there is a terminal."""

    def say(self, line: str) -> None:
        """Tell whoever started the run something about what was prepared."""

    def rehearse(self, relation: Relation, search: Any) -> Sequence[Any] | None:
        """The records of a relation on some scenes before the campaign; None where nobody can be asked."""


Drawn = Change | Inapplicable
Draw = Callable[[Observation, np.random.Generator], Any]
Prepare = Callable[[Sequence[Scene], Workspace], "Relation"]


@dataclass(frozen=True)
class Range:
    """How strong a change may be and still be fair, from `low` to `high`, and in what it is measured.

    The change is the number itself, or what `at(source, level)` makes of it. `low` is the least severity,
    also where the numbers go down, such as a gain from 0.9 to 0.5: shrinking ends there.
    """

    low: float
    high: float
    unit: str = ""
    at: Callable[[Observation, float], Any] | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low != self.high):
            raise BadInput(f"Range: {self.low} to {self.high} is no range; give two different numbers")

    def change(self, source: Observation, level: float) -> Drawn:
        """The change of that severity."""
        return Value(level, self.unit) if self.at is None else wrap(self.at(source, level))

    def weaker(self, source: Observation, change: Change) -> list[Change]:
        """Changes from the least severity up to just below this one's, evenly."""
        level = self.level_of(source, change)
        if level is None:
            raise BadInput("it cannot shrink: no number of this change is its severity")
        levels = [self.low + (level - self.low) * step / STEPS for step in range(STEPS)]
        line = [self.change(source, one) for one in levels]
        return [one for one in dict.fromkeys(line) if isinstance(one, Change) and one != change]

    def level_of(self, source: Observation, change: Change) -> float | None:
        """The severity of a change: the one of its numbers from which it is made again, if there is one."""
        if isinstance(change, Value):
            numbers = [change.value]
        else:
            numbers = [getattr(change, one.name) for one in fields(change)]
        for number in numbers:
            is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
            if is_number and self.change(source, number) == change:
                return float(number)
        return None


@dataclass(frozen=True, eq=False)
class Relation:
    """Which change is fair and what must then hold; plain functions, only `draw` random.

    - `name`, and the `task` by its name or as a `Task`.
    - `apply(picture, change)` makes the follow-up: a picture, `Moved` when the frame moves, `Variant` for
      another system, another question, or a tuple of these; or it says `Inapplicable`. Pure.
    - `draw(source, rng)` chooses a change, any JSON value or a `Change`. It sees the source's answer. A
      relation with one possible change has no draw; one with a `severity` draws from its range.
    - `expect(source, follow_ups, change)` judges where something else than "the same answer" is wanted.
      Answers of follow-ups are in the source's frame. Pure.

    The core does the rest. These are for relations that need more:

    - `prepare(scenes, workspace)` gives the relation to use, with what it had to collect from the scenes.
    - `pixels(change)` gives the pictures that a change needs, by content hash; they are kept in the run.
    - `ways` are other ways of drawing, by name, that a search may choose from.
    - `fair(source, change)` says why a change that was drawn for another system's answer is not fair with
      this one's, or gives None.
    - `smaller(source, change)` yields simpler changes, best first, for shrinking; also lines of changes,
      the simplest first, where a quantity can be less and less.
    - `placebo(source, change)` is a change that only looks like it, recorded as evidence.
    - `naturalness(source, follow_up, change)` is 1 for a picture that looks untouched, 0 for one that
      nobody would believe.
    - `expense` is how many questions the work on a change is worth, for searches that weigh it.
    """

    name: str
    task: Task | str
    apply: Callable[[Any, Any], Any]
    draw: Draw | None = None
    expect: Callable[[Observation, Sequence[Observation], Any], Verdict] | None = None
    severity: Range | None = None
    prepare: Prepare | None = None
    pixels: Callable[[Any], Mapping[str, npt.NDArray[np.uint8]]] | None = None
    ways: Mapping[str, Draw] = field(default_factory=dict)
    fair: Callable[[Observation, Any], Inapplicable | None] | None = None
    smaller: Callable[[Observation, Any], Iterable[Any]] | None = None
    placebo: Callable[[Observation, Any], Any] | None = None
    naturalness: Callable[[Observation, Any, Any], float] | None = None
    expense: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise BadInput(f"a relation needs a name, not {self.name!r}")
        if isinstance(self.task, str) and ":" not in self.task and self.task not in TASKS:
            raise UnknownName("task", self.task, TASKS)
        if not callable(self.apply):
            raise BadInput(f"relation {self.name!r}: apply is {self.apply!r}; it must be a function")

    @property
    def is_foreign(self) -> bool:
        """Whether it is a user's own, so that its follow-ups cannot be made again where its code is not."""
        module = getattr(self.apply, "__module__", None) or ""
        return module.split(".")[0] != "instar"

    @cached_property
    def resolved_task(self) -> Task:
        """The task itself, also where it was given by name."""
        return find_task(self.task)

    def drawn(self, source: Observation, rng: np.random.Generator, *, way: str | None = None) -> Drawn:
        """A change, by the usual way or the named one."""
        draw = self.draw if way is None else self.ways[way]
        if draw is not None:
            return wrap(draw(source, rng))
        if self.severity is not None:
            low, high = sorted((self.severity.low, self.severity.high))
            return self.severity.change(source, float(rng.uniform(low, high)))
        return Value(None, self.name)

    def lesser(self, source: Observation, change: Change) -> Iterable[Change | Sequence[Change]]:
        """Simpler changes for shrinking; one with only a severity gets less and less of it."""
        if self.smaller is not None:
            for one in self.smaller(source, plain(change)):
                yield [_change(c) for c in one] if isinstance(one, (list, tuple)) else _change(one)
        elif self.severity is not None:
            yield self.severity.weaker(source, change)


def _change(drawn: Any) -> Change:
    change = wrap(drawn)
    if isinstance(change, Inapplicable):
        raise WrongKind("smaller() yields changes, not Inapplicable")
    return change
