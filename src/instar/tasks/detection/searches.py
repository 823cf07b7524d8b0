"""Searches over one scene: how many insertions, how they are placed, and where failing ones are moved to."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from instar.core.errors import BadInput
from instar.core.options import require_whole_number
from instar.core.recipe import recorded
from instar.core.relation import Draw, Drawn, Relation
from instar.core.scene import Observation
from instar.core.search import Search, fitting, representative
from instar.core.verdict import Status, Verdict
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.changes import Insertion

Rounds = Generator[Sequence[Drawn], Sequence[Verdict], None]
Point = tuple[float, float]
TURNS = 16  # directions in which a free place is looked for


@recorded
def guided(*, per_object: int = 10) -> Search:
    """Insertions close to what was found, so many for every found object."""
    return _search_by("guided", per_object)


@recorded
def random(*, per_object: int = 10) -> Search:
    """Insertions anywhere in the picture: the baseline that `guided` is measured against."""
    return _search_by("random", per_object)


@recorded
def relocation(*, per_object: int = 10, goal: Sequence[float] | None = None) -> Search:
    """Guided insertions; failing ones are then moved toward the centroid of all found objects (MetaOD).

    Where the way is taken, the free place nearest to it is tried. `goal` is another place to move to, as
    shares of width and height.
    """
    if goal is not None and not (len(goal) == 2 and all(0 <= share <= 1 for share in goal)):
        raise BadInput(f"relocation: goal is {goal!r}; it must be two numbers between 0 and 1")
    insert = _search_by("guided", per_object)

    def search(relation: Relation, source: Observation, rng: np.random.Generator) -> Rounds:
        height, width = source.input.shape[:2]
        end = _centroid(source.answer) if goal is None else (goal[0] * width, goal[1] * height)
        inserting = insert(relation, source, rng)
        verdicts: Sequence[Verdict] | None = None
        while True:
            try:
                batch = inserting.send(verdicts) if verdicts is not None else next(inserting)
            except StopIteration:
                return
            verdicts = yield batch
            bisections = [
                _Bisection(change, end)
                for change, verdict in zip(batch, verdicts)
                if verdict.status is Status.VIOLATED and isinstance(change, Insertion)
            ]
            yield from _relocate(bisections, partial(_is_free, relation, source))

    return fitting(partial(find_way, "guided"), search)


def _relocate(bisections: Sequence[_Bisection], is_free: Callable[[Insertion], bool]) -> Rounds:
    """Move all of them, one step a round, until each has come as far as it can."""
    while True:
        steps = [(one, step) for one in bisections if (step := one.next_step(is_free)) is not None]
        if not steps:
            return
        verdicts = yield [step for _, step in steps]
        for (one, _), verdict in zip(steps, verdicts):
            one.learn(violated=verdict.status is Status.VIOLATED)


@dataclass(eq=False)
class _Bisection:
    """A failing insertion on its way to the goal, by halving between the last failure and what held.

    Shares are of the way from the start (0) to the goal (1): how much nearer to the goal a place is.
    """

    start: Insertion
    goal: Point
    fails: float = 0.0
    tried: float = 1.0
    holds: float | None = None

    def next_step(self, is_free: Callable[[Insertion], bool]) -> Insertion | None:
        """The next place to try, None at the end. Where none is free it counts as one that held."""
        while not self._ended():
            step = next(filter(is_free, self._places()), None)
            if step is not None:
                return step
            self.learn(violated=False)
        return None

    def _places(self) -> Iterator[Insertion]:
        """Places about the one to be tried, nearest first, that are nearer to the goal than the last failure.

        The centroid of few objects lies on one of them, and the straight way there leads into it: without
        looking beside the way hardly anything could be relocated.
        """
        (x, y), (to_x, to_y) = _centre(self.start), self.goal
        middle_x, middle_y = x + self.tried * (to_x - x), y + self.tried * (to_y - y)
        back = math.atan2(y - to_y, x - to_x)
        for ring in range(math.ceil(self._length * (1 - self.fails) / self._near) + 1):
            for turn in range(TURNS if ring else 1):
                angle = back + 2 * math.pi * turn / TURNS
                far = ring * self._near
                step = self._at(middle_x + far * math.cos(angle), middle_y + far * math.sin(angle))
                if step.travelled >= self.fails + self._near / self._length:
                    yield step

    def learn(self, *, violated: bool) -> None:
        if violated:
            self.fails = self.tried
            self.tried = 1.0 if self.holds is None else (self.tried + self.holds) / 2
        else:
            self.holds = self.tried
            self.tried = (self.fails + self.tried) / 2

    def _ended(self) -> bool:
        """Closer than a sixth of the object's diagonal to the goal, the last failure or the start."""
        near, length = self._near, self._length
        if (1 - self.fails) * length < near:
            return True
        return (self.tried - self.fails) * length < near or self.tried * length < near

    @property
    def _near(self) -> float:
        return math.hypot(self.start.width, self.start.height) / 6

    @property
    def _length(self) -> float:
        return math.dist(_centre(self.start), self.goal)

    def _at(self, x: float, y: float) -> Insertion:
        """The insertion with its centre there, and how much of the way that is."""
        from_x, from_y = _centre(self.start)
        left = math.dist((x, y), self.goal) / self._length
        return replace(
            self.start,
            x=self.start.x + round(x - from_x),
            y=self.start.y + round(y - from_y),
            start=(self.start.x, self.start.y),
            travelled=round(1 - left, 4),
        )


def _search_by(way: str, per_object: int) -> Search:
    require_whole_number(way, "per_object", per_object, least=1)

    @representative
    def search(relation: Relation, source: Observation, rng: np.random.Generator) -> Rounds:
        draw = find_way(way, relation)
        found = len(source.answer.confident())
        tried: set[Drawn] = set()
        for _ in range(max(1, per_object * (found > 0))):  # in rounds: a small budget needs only a few
            drawn = dict.fromkeys(draw(source, rng) for _ in range(max(1, found)))
            new = [change for change in drawn if change not in tried]
            tried.update(new)
            if new:
                yield new

    return fitting(partial(find_way, way), search)


def find_way(way: str, relation: Relation) -> Draw:
    """The relation's way of drawing by that name; BadInput where it has none."""
    if way not in relation.ways:
        raise BadInput(f"relation {relation.name!r} cannot be searched by {way!r}")
    return relation.ways[way]


def _is_free(relation: Relation, source: Observation, change: Insertion) -> bool:
    x1, y1, x2, y2 = change.box
    height, width = source.input.shape[:2]
    inside = x1 >= 0 and y1 >= 0 and x2 <= width and y2 <= height
    return inside and (relation.fair is None or relation.fair(source, change) is None)


def _centroid(answer: Detections) -> Point:
    """The mean of the centres of all found objects."""
    boxes = answer.confident().boxes
    if not len(boxes):
        return (0.0, 0.0)  # then nothing is inserted either
    x, y = ((boxes[:, :2] + boxes[:, 2:]) / 2).mean(axis=0).tolist()
    return x, y


def _centre(change: Insertion) -> Point:
    return change.x + change.width / 2, change.y + change.height / 2
