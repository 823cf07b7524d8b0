"""How many insertions, by which way of placing them, and where to move those that were violated."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from instar.core.errors import BadInput
from instar.core.relation import Draw, Drawn, Relation
from instar.core.scene import Observation
from instar.core.search import Search, fitting
from instar.core.verdict import Status, Verdict
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.changes import Insertion

__all__ = ["guided", "random", "relocation", "way_of"]

Rounds = Generator[Sequence[Drawn], Sequence[Verdict], None]
Point = tuple[float, float]


def guided(*, per_object: int = 10) -> Search:
    """Close to what was found: so many insertions for every found object."""
    return _placed("guided", per_object)


def random(*, per_object: int = 10) -> Search:
    """Anywhere in the picture: the baseline that `guided` is measured against."""
    return _placed("random", per_object)


def relocation(*, per_object: int = 10, goal: Sequence[float] | None = None) -> Search:
    """Guided, and what is violated moves on toward the centroid of all found objects (MetaOD).

    `goal` is another place to move to, as shares of width and height.
    """
    if goal is not None and not (len(goal) == 2 and all(0 <= share <= 1 for share in goal)):
        raise BadInput(f"relocation: goal is {goal!r}; it must be two numbers between 0 and 1")
    begin = _placed("guided", per_object)

    def search(relation: Relation, source: Observation, rng: np.random.Generator) -> Rounds:
        end = _centroid(source.answer) if goal is None else _point(goal, source.input.shape)
        searching = begin(relation, source, rng)
        verdicts: Sequence[Verdict] | None = None
        while True:
            try:
                batch = searching.send(verdicts) if verdicts is not None else next(searching)
            except StopIteration:
                return
            verdicts = yield batch
            walks = [
                _Walk(change, end)
                for change, verdict in zip(batch, verdicts)
                if verdict.status is Status.VIOLATED and isinstance(change, Insertion)
            ]
            yield from _walk_on(walks, partial(_is_free, relation, source))

    return fitting(partial(way_of, "guided"), search)


def _walk_on(walks: Sequence[_Walk], is_free: Callable[[Insertion], bool]) -> Rounds:
    """Move all of them, step by step, until each has come as far as it can."""
    while True:
        steps = [(walk, step) for walk in walks if (step := walk.next_free(is_free)) is not None]
        if not steps:
            return
        verdicts = yield [step for _, step in steps]
        for (walk, _), verdict in zip(steps, verdicts):
            walk.tell(violated=verdict.status is Status.VIOLATED)


@dataclass(eq=False)
class _Walk:
    """One violated insertion on its way to the goal: halving between the last success and what failed.

    Shares are of the way from the start (0) to the goal (1).
    """

    start: Insertion
    goal: Point
    reached: float = 0.0
    tried: float = 1.0
    failed: float | None = None

    def next_free(self, is_free: Callable[[Insertion], bool]) -> Insertion | None:
        """The next step that overlaps nothing, None at the end; one that does fails without a question."""
        while not self._ended():
            step = self._at(self.tried)
            if is_free(step):
                return step
            self.tell(violated=False)
        return None

    def tell(self, *, violated: bool) -> None:
        if violated:
            self.reached = self.tried
            self.tried = 1.0 if self.failed is None else (self.tried + self.failed) / 2
        else:
            self.failed = self.tried
            self.tried = (self.reached + self.tried) / 2

    def _ended(self) -> bool:
        """Closer than a sixth of the object's diagonal to the goal, the last success or the start."""
        near = math.hypot(self.start.width, self.start.height) / 6
        length = math.dist(_centre(self.start), self.goal)
        if (1 - self.reached) * length < near:
            return True
        return (self.tried - self.reached) * length < near or self.tried * length < near

    def _at(self, share: float) -> Insertion:
        (x, y), (to_x, to_y) = _centre(self.start), self.goal
        dx, dy = round(share * (to_x - x)), round(share * (to_y - y))
        return replace(
            self.start,
            x=self.start.x + dx,
            y=self.start.y + dy,
            start=(self.start.x, self.start.y),
            travelled=round(share, 4),
        )


def _placed(way: str, per_object: int) -> Search:
    if per_object < 1:
        raise BadInput(f"{way}: per_object is {per_object}; it must be at least 1")

    def search(relation: Relation, source: Observation, rng: np.random.Generator) -> Rounds:
        draw = way_of(way, relation)
        found = len(source.answer.confident())
        tried: set[Drawn] = set()
        for _ in range(max(1, per_object * (found > 0))):  # in portions: a small budget needs few of them
            drawn = dict.fromkeys(draw(source, rng) for _ in range(max(1, found)))
            new = [change for change in drawn if change not in tried]  # the same again would tell no more
            tried.update(new)
            if new:
                yield new

    return fitting(partial(way_of, way), search)


def way_of(way: str, relation: Relation) -> Draw:
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


def _point(goal: Sequence[float], shape: tuple[int, ...]) -> Point:
    return goal[0] * shape[1], goal[1] * shape[0]


def _centre(change: Insertion) -> Point:
    return change.x + change.width / 2, change.y + change.height / 2
