"""Tasks: what kind of answer is given, said once for all relations and systems.

A task knows how a scene becomes questions, how an answer is read, seen from another frame, compared and
drawn, and which changes must not matter. With that the core does for every relation, built in or a user's
own, what makes a finding believable: null changes, repetition, false alarms, pictures, replay, shrinking.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from instar.core.change import Change, Inapplicable
from instar.core.errors import BadInput, UnknownName
from instar.core.frame import Frame, Moved
from instar.core.scene import Image, Observation, Scene
from instar.core.verdict import Finding, Verdict

if TYPE_CHECKING:
    from instar.core.marks import Panel

TASKS = ("classification", "detection", "driving", "interpretation", "text")
"""The tasks that come with instar, each a package `instar.tasks.NAME` with a `task` module."""

Question: TypeAlias = tuple[str, Callable[[Image], Any]]
"""The name of a question within its scene ("" where it is the only one), and how its input is made."""

Questions: TypeAlias = Generator[Any, Any, "Sequence[Question] | Inapplicable"]
"""Yields inputs that have to be answered before it is known what to ask, is sent the answers, and returns
the questions of a scene, or why there are none.
"""


class Null(Change, ABC):
    """A change that must not matter."""

    @abstractmethod
    def apply(self, picture: Image) -> Image | Moved:
        """The changed picture, or `Moved` where the frame moves."""

    def ask(self, question: Any) -> Any:
        """The changed question, where it is more than the picture that changes; else None."""
        return None


@dataclass(frozen=True, eq=False)
class Nulls:
    """The changes that must not matter to a task.

    - `fresh(source, rng)` draws the one that measures false alarms;
    - `strikers(source)` strike out every finding that they show too; both are None where nothing can be
      struck out, since a reaction is demanded and not sameness;
    - `conditions` are those under which a finding must recur when the follow-up is asked again;
    - `with_source`: amounts are compared, so the source is asked again under each condition as well.
    """

    fresh: Callable[[Observation, np.random.Generator], Null] | None
    strikers: Callable[[Observation], Sequence[Null]] | None
    conditions: tuple[Null, ...]
    with_source: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Opinion:
    """What another system answers to a source and to a follow-up, both in the source's frame.

    `labels` maps its labels to those of the system under test. `knows` are all labels that it can give; None
    where it does not say.
    """

    referee: str
    before: Any
    after: Any
    labels: Mapping[str, str] = field(default_factory=dict)
    knows: Collection[str] | None = None


def ask_picture(scene: Scene) -> Questions:
    """The usual question: the picture itself."""
    return [("", _itself)]
    yield  # a generator that asks nothing first


def _itself(image: Image) -> Any:
    return image


@dataclass(frozen=True, eq=False)
class Task:
    """What an answer is.

    - `read(input, answer)` turns any usual form of an answer into the task's own type, or raises ValueError
      or TypeError with the reason: that answer is then a failure of the system.
    - `compare(before, after)` judges two answers to the same question; findings name what differs.
    - `marks(observation)` is the picture with all that shows the answer, each mark named like the findings.
    - `carry(before, after, frame)` gives both answers in the source's frame, with all that is not seen in
      both frames set aside. An answer without a place stays as it is.
    - `questions(scene)` is what a scene is asked.
    - `nulls` are the changes that must not matter; without them nothing is struck out and nothing repeated.
    - `picture(input)` and `with_picture(input, picture)` are for inputs that are more than a picture, and
      `move(input, frame)` for those of which more than the picture moves with the frame.
    - `is_empty(answer)` says whether an answer finds nothing, where one can: a system that hardly ever finds
      anything is most likely shown the wrong thing, and the run says so.
    - `verify(source, follow_up, finding, opinions)` says what is known about a finding, from what the scene
      knows or from the opinions of other systems: "real", "was false", "slipped", "other label",
      "now right", "unfair" where the change is to blame, "disputed" where those who were asked cannot tell,
      or "unknown" where there is nobody to ask.
    - `name_finding(finding, opinions)` is the finding told by what those systems call it, such as a text that
      one of them has read.
    """

    name: str
    read: Callable[[Any, Any], Any]
    compare: Callable[[Observation, Observation], Verdict]
    marks: Callable[[Observation], Panel]
    carry: Callable[[Any, Any, Frame], tuple[Any, Any]] = lambda before, after, frame: (before, after)
    questions: Callable[[Scene], Questions] = ask_picture
    nulls: Nulls | None = None
    picture: Callable[[Any], Image] = _itself
    with_picture: Callable[[Any, Image], Any] = lambda question, picture: picture
    move: Callable[[Any, Frame], Any] = lambda question, frame: question
    verify: Callable[[Observation, Observation, Finding, Sequence[Opinion]], str] = lambda *case: "unknown"
    name_finding: Callable[[Finding, Sequence[Opinion]], Finding] = lambda finding, opinions: finding
    is_empty: Callable[[Any], bool] | None = None


def find_task(task: Task | str) -> Task:
    """The task of that name: one of instar's, or a user's own as `module:attr`."""
    if isinstance(task, Task):
        return task
    module, _, name = task.partition(":")
    if not name:
        if task not in TASKS:
            raise UnknownName("task", task, TASKS)
        module, name = f"instar.tasks.{task}.task", "TASK"
    found = getattr(import_module(module), name, None)
    if not isinstance(found, Task):
        raise BadInput(f"task {task!r} is no instar.Task")
    return found
