"""A search across scenes that spends its questions where new failures are likely.

First it draws many close insertions for every scene. In each round it asks those with the highest expected
gain. The gain of an insertion is that of all objects within its reach. An object is worth more the closer its
score is to where it would count as lost (or, for a weak box, as new). Each round teaches:

- scores that fell show which objects are fragile;
- they also show which insertions do harm: what is pasted, how large, on which side;
- objects that have failed, or that null changes break too, are worth nothing any more;
- every try near an object makes it worth less.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from instar.core.change import Inapplicable
from instar.core.options import require_whole_number
from instar.core.recipe import recorded
from instar.core.relation import Draw, Drawn, Relation
from instar.core.scene import Observation
from instar.core.search import SearchAcross, across_scenes, fitting
from instar.core.verdict import Verdict
from instar.imaging.geometry import Boxes, areas
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.changes import Insertion
from instar.tasks.detection.searches import find_way

__all__ = ["adaptive"]

_Floats = npt.NDArray[np.float64]

WAY = "close"
PROPOSALS = 200  # drawn for every scene
REACH = 0.04  # of the diagonal: the gap over which an insertion's effect falls to 1 / e
HALF_WORTH = 0.2  # of a score: an object with so much slack is worth half of one without any
HYSTERESIS = 0.1  # the usual one: how far below the confidence an object counts as lost
CHECKS = 3  # questions that a finding costs beyond its insertion
NOT_RECURRING = 6.0  # tries that a finding that did not recur counts for
HALF_TRIES = 2.0  # tries near an object after which it is worth half
PRIOR = 20.0  # tries after which the harm of a kind of insertion counts for half
SIZES = (0.1, 0.3, 1.0)  # of the anchor's area: the limits between small, middling, large and huge


@recorded
def adaptive(*, per_object: int = 10, rounds: int | None = None, at_once: int = 16) -> SearchAcross:
    """Across scenes: the most fragile objects first, and what earlier rounds taught; no object twice.

    It asks `at_once` insertions in a round. It ends after so many `rounds`, or after `per_object` insertions
    for every found object.
    """
    for name, value in (("per_object", per_object), ("rounds", rounds), ("at_once", at_once)):
        if value is not None:
            require_whole_number("adaptive", name, value, least=1)

    def search(
        relation: Relation, sources: Sequence[Observation], rng: np.random.Generator
    ) -> Generator[Sequence[tuple[Observation, Drawn]], Sequence[Verdict], None]:
        draw = find_way(WAY, relation)
        scenes, without_room = [], []
        for source in sources:
            scene = _SceneState.of(source, draw, rng)
            if isinstance(scene, Inapplicable):
                without_room.append((source, scene))
            else:
                scenes.append(scene)
        if without_room:
            yield without_room
        left = per_object * sum(scene.found for scene in scenes)
        harms = _HarmByKind()
        for _ in range(rounds or left):
            chosen = list(_choose(scenes, harms, min(at_once, left)))
            if not chosen:
                return
            verdicts = yield [(scene.source, scene.proposals[i]) for scene, i in chosen]
            for (scene, i), verdict in zip(chosen, verdicts):
                harms.learn(scene.kinds[i], scene.learn(i, verdict))
            left -= len(chosen)

    return across_scenes(fitting(lambda relation: find_way(WAY, relation), search))


@dataclass(eq=False)
class _SceneState:
    """The proposals for one scene, and what is known about its boxes (all of the answer, weak ones too).

    - `kinds`: what sort of insertion each proposal is;
    - `reach`, `(proposals, boxes)`: how much of an insertion's effect gets to a box;
    - `slack`, `(boxes,)`: how far a score is from where the box would be accused;
    - `tries`, `near`, `accused`, `(boxes,)`: how much was tried near a box, with and without penalties, and
      how often it was accused.
    """

    source: Observation
    proposals: Sequence[Insertion]
    kinds: Sequence[tuple[str, ...]]
    reach: _Floats
    slack: _Floats
    tries: _Floats
    near: _Floats
    accused: _Floats
    asked: npt.NDArray[np.bool_]
    known: set[tuple[str, str]] = field(default_factory=set)  # findings so far
    repeated: int = 0  # insertions that found only these

    @classmethod
    def of(cls, source: Observation, draw: Draw, rng: np.random.Generator) -> _SceneState | Inapplicable:
        first = draw(source, rng)
        if isinstance(first, Inapplicable):
            return first
        drawn = [first, *(draw(source, rng) for _ in range(PROPOSALS - 1))]
        proposals = [one for one in dict.fromkeys(drawn) if isinstance(one, Insertion)]
        answer: Detections = source.answer
        boxes = np.array([one.box for one in proposals], np.float32)
        height, width = source.input.shape[:2]
        gaps = _gaps(boxes, answer.boxes) / math.hypot(height, width)
        lost_below, new_above = answer.confidence - HYSTERESIS, answer.confidence + HYSTERESIS
        found = answer.scores >= answer.confidence
        slack = np.where(found, answer.scores - lost_below, new_above - answer.scores)
        kinds = [_kinds(one, answer) for one in proposals]
        tries, near, accused = np.zeros((3, len(answer)), np.float64)
        asked = np.zeros(len(proposals), np.bool_)
        return cls(source, proposals, kinds, np.exp(-gaps / REACH), slack, tries, near, accused, asked)

    @property
    def found(self) -> int:
        return len(self.source.answer.confident())

    def gains(self, harms: _HarmByKind) -> _Floats:
        """`(proposals,)`: what each may still break, for what it costs; 0 for what was asked."""
        # A long tail: fragile objects come first, but in a jittery system they are also the unstable ones.
        worth = 1 / (1 + (self.slack / HALF_WORTH) ** 2) / (1 + self.tries / HALF_TRIES)
        factors = np.array([harms.factor(kinds) for kinds in self.kinds])
        return np.where(self.asked, 0.0, self.reach @ worth * factors / self._costs())

    def _costs(self) -> _Floats:
        """`(proposals,)`: the questions that each will probably cost, its checks included.

        What was accused before is accused again by most that comes close to it.
        """
        again = np.max(self.reach * np.minimum(1.0, self.accused / (1 + self.near)), axis=1, initial=0.0)
        repeated = self.repeated / max(1, int(self.asked.sum()))
        return np.asarray((1 + CHECKS * again) * (1 + CHECKS * repeated) ** 2)

    def take(self, i: int) -> None:
        """Note that a proposal is asked."""
        self.asked[i] = True
        self.tries += self.reach[i]
        self.near += self.reach[i]

    def learn(self, i: int, verdict: Verdict) -> float:
        """Learn from a verdict; returns how much harm the insertion did, 0 to 1."""
        answer: Detections = self.source.answer
        harm = 0.0
        for subject, score in verdict.evidence.get("weakened", {}).items():
            k = int(subject)
            harm = max(harm, 1 - score / float(answer.scores[k]))
            # Another insertion may do as much again: count half of the fall.
            left = max(score - (answer.confidence - HYSTERESIS), 0.0)
            self.slack[k] = min(self.slack[k], (self.slack[k] + left) / 2)
        struck = verdict.evidence.get("struck", ())
        broken = [finding.key for finding in verdict.findings]
        if broken and self.known.issuperset(broken):
            self.repeated += 1
        self.known.update(broken)
        broken += [(one["kind"], one["subject"]) for one in struck if one["by"].startswith("null")]
        for _, subject in broken:
            self.slack[self._boxes_of(subject)] = np.inf
        for one in struck:  # a finding that is struck out costs as many questions as one that counts
            self.tries[self._boxes_of(one["subject"])] += NOT_RECURRING
        for subject in {*(f.subject for f in verdict.findings), *(one["subject"] for one in struck)}:
            self.accused[self._boxes_of(subject)] += 1
        return 1.0 if verdict.findings else 0.0 if struck else harm

    def _boxes_of(self, subject: str) -> list[int]:
        """The boxes of the source's answer that a finding is about: an object, or what a new one was."""
        kind, _, name = subject.partition(" ")
        if kind == "object":
            return [int(name)]
        answer: Detections = self.source.answer
        weak = np.flatnonzero(answer.scores < answer.confidence).tolist()
        return [k for k in weak if answer.labels[k] == name]


@dataclass(eq=False)
class _HarmByKind:
    """How much harm each kind of insertion did, over all scenes."""

    harm: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    tries: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def learn(self, kinds: tuple[str, ...], harm: float) -> None:
        for kind in ("", *kinds):
            self.harm[kind] += harm
            self.tries[kind] += 1

    def factor(self, kinds: tuple[str, ...]) -> float:
        """How many times the usual harm such an insertion does; 1 where little is known."""
        usual = (self.harm[""] + 1) / (self.tries[""] + PRIOR)
        return math.prod(
            (self.harm[kind] + PRIOR * usual) / (self.tries[kind] + PRIOR) / usual for kind in kinds
        )


def _choose(
    scenes: Sequence[_SceneState], harms: _HarmByKind, most: int
) -> Iterator[tuple[_SceneState, int]]:
    """The proposals with the highest gain, one after the other: each lowers that of its neighbours."""
    gains = [scene.gains(harms) for scene in scenes]
    best = np.array([gain.max(initial=0.0) for gain in gains])
    for _ in range(most):
        if not len(best) or best.max() <= 0:
            return
        s = int(best.argmax())
        scene, i = scenes[s], int(gains[s].argmax())
        scene.take(i)
        yield scene, i
        gains[s] = scene.gains(harms)
        best[s] = gains[s].max()


def _gaps(boxes: Boxes, others: Boxes) -> _Floats:
    """`float (len(boxes), len(others))`: the larger of the gaps along both axes, in pixels; 0 in touch."""
    a, b = boxes[:, None].astype(np.float64), others[None].astype(np.float64)
    apart = np.maximum(a[..., :2] - b[..., 2:], b[..., :2] - a[..., 2:])
    return np.asarray(np.maximum(apart.max(axis=-1), 0.0))


def _kinds(change: Insertion, answer: Detections) -> tuple[str, ...]:
    """What is pasted, how large beside its anchor, and on which side of it."""
    if change.anchor is None:
        return (change.label,)
    anchor = answer.boxes[change.anchor]
    size = int(np.digitize(change.width * change.height / float(areas(anchor[None])[0]), SIZES))
    dx = change.x + change.width / 2 - float(anchor[0] + anchor[2]) / 2
    dy = change.y + change.height / 2 - float(anchor[1] + anchor[3]) / 2
    side = ("right" if dx > 0 else "left") if abs(dx) >= abs(dy) else ("below" if dy > 0 else "above")
    return (change.label, f"size {size}", side)
