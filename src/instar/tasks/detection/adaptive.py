"""A search that spends its questions where new failures are.

Before it begins it draws many close insertions for every scene. In each round it asks those that promise
most: an insertion promises what the objects within its reach promise together, and an object promises more
the closer its score is to where it would count as lost, or, for a weak box, as new. What a round teaches
changes that. Scores that fell show which objects are fragile, and which kinds of insertion (what is pasted,
how large, on which side) make scores fall. Objects that have failed, or that null changes break too, promise
nothing any more, and every try near an object takes some of the hope in it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from instar.core.change import Inapplicable
from instar.core.errors import BadInput
from instar.core.relation import Draw, Drawn, Relation
from instar.core.scene import Observation
from instar.core.search import SearchAcross, across_scenes, fitting
from instar.core.verdict import Verdict
from instar.imaging.geometry import Boxes, areas
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.changes import Insertion
from instar.tasks.detection.searches import way_of

__all__ = ["adaptive"]

Floats = npt.NDArray[np.float64]

WAY = "close"
PROPOSALS = 200  # drawn for every scene
REACH = 0.04  # of the diagonal: the gap over which an insertion's effect falls to 1 / e
BRITTLE = 0.2  # of a score: the slack at which an object promises half of what one without any does
BAND = 0.1  # the usual hysteresis: how far below the confidence an object counts as lost
CHECKS = 3  # questions that a finding costs beyond its insertion
FICKLE = 6.0  # tries that a finding that did not recur counts for
PATIENCE = 2.0  # tries near an object after which half of the hope in it is gone
PRIOR = 20.0  # tries that a kind of insertion needs before what it did counts for half
SIZES = (0.1, 0.3, 1.0)  # of the anchor's area: what is small, middling, large and huge


def adaptive(*, per_object: int = 10, rounds: int | None = None, at_once: int = 16) -> SearchAcross:
    """Across scenes, where the weakest objects are and what earlier rounds taught; no object twice.

    It asks `at_once` insertions in a round, and ends after so many `rounds` or after `per_object` insertions
    for every found object.
    """
    for name, value in (("per_object", per_object), ("rounds", rounds), ("at_once", at_once)):
        if value is not None and value < 1:
            raise BadInput(f"adaptive: {name} is {value}; it must be at least 1")

    def search(
        relation: Relation, sources: Sequence[Observation], rng: np.random.Generator
    ) -> Generator[Sequence[tuple[Observation, Drawn]], Sequence[Verdict], None]:
        draw = way_of(WAY, relation)
        scenes, hopeless = [], []
        for source in sources:
            scene = _Scene.of(source, draw, rng)
            if isinstance(scene, Inapplicable):
                hopeless.append((source, scene))
            else:
                scenes.append(scene)
        if hopeless:
            yield hopeless
        left = per_object * sum(scene.found for scene in scenes)
        lore = _Lore()
        for _ in range(rounds or left):
            chosen = list(_best(scenes, lore, min(at_once, left)))
            if not chosen:
                return
            verdicts = yield [(scene.source, scene.proposals[i]) for scene, i in chosen]
            for (scene, i), verdict in zip(chosen, verdicts):
                lore.learn(scene.features[i], scene.learn(i, verdict))
            left -= len(chosen)

    return across_scenes(fitting(lambda relation: way_of(WAY, relation), search))


@dataclass(eq=False)
class _Scene:
    """The proposals for one scene and the hope in its objects.

    Subjects are all boxes of the source's answer, the weak ones too. `reach` is `(proposals, subjects)`: how
    much of an insertion's effect gets to a box. `slack` is `(subjects,)`: how far its score is from where it
    would be accused; `tries` how much has been tried near it.
    """

    source: Observation
    proposals: Sequence[Insertion]
    features: Sequence[tuple[str, ...]]
    reach: Floats
    slack: Floats
    tries: Floats
    near: Floats
    accused: Floats
    asked: npt.NDArray[np.bool_]
    known: set[tuple[str, str]] = field(default_factory=set)  # findings that were made
    repeated: int = 0  # insertions that found nothing but these

    @classmethod
    def of(cls, source: Observation, draw: Draw, rng: np.random.Generator) -> _Scene | Inapplicable:
        first = draw(source, rng)
        if isinstance(first, Inapplicable):
            return first
        drawn = [first, *(draw(source, rng) for _ in range(PROPOSALS - 1))]
        proposals = [one for one in dict.fromkeys(drawn) if isinstance(one, Insertion)]
        answer: Detections = source.answer
        boxes = np.array([one.box for one in proposals], np.float32)
        height, width = source.input.shape[:2]
        gaps = _gaps(boxes, answer.boxes) / math.hypot(height, width)
        found = answer.scores >= answer.confidence
        slack = np.where(
            found, answer.scores - (answer.confidence - BAND), answer.confidence + BAND - answer.scores
        )
        features = [_features(one, answer) for one in proposals]
        tries, near, accused = np.zeros((3, len(answer)), np.float64)
        unasked = np.zeros(len(proposals), np.bool_)
        return cls(source, proposals, features, np.exp(-gaps / REACH), slack, tries, near, accused, unasked)

    @property
    def found(self) -> int:
        answer: Detections = self.source.answer
        return int((answer.scores >= answer.confidence).sum())

    def promise(self, lore: _Lore) -> Floats:
        """`(proposals,)`: what each may still break; what was asked promises nothing."""
        # A long tail: brittle objects come first, but those are also the fickle ones of a jittery system.
        hope = 1 / (1 + (self.slack / BRITTLE) ** 2) / (1 + self.tries / PATIENCE)
        lifts = np.array([lore.lift(features) for features in self.features])
        return np.where(self.asked, 0.0, self.reach @ hope * lifts / self._price())

    def _price(self) -> Floats:
        """`(proposals,)`: the questions that each will probably cost, its checks included.

        What was accused before is accused again by most that comes close to it.
        """
        again = np.max(self.reach * np.minimum(1.0, self.accused / (1 + self.near)), axis=1, initial=0.0)
        repeated = self.repeated / max(1, int(self.asked.sum()))
        return np.asarray((1 + CHECKS * again) * (1 + CHECKS * repeated) ** 2)

    def take(self, i: int) -> None:
        self.asked[i] = True
        self.tries += self.reach[i]
        self.near += self.reach[i]

    def learn(self, i: int, verdict: Verdict) -> float:
        """Take a verdict to heart; how much harm the insertion did, 0 to 1."""
        answer: Detections = self.source.answer
        harm = 0.0
        for subject, score in verdict.evidence.get("weakened", {}).items():
            k = int(subject)
            harm = max(harm, 1 - score / float(answer.scores[k]))
            # A fall of one insertion is half of the way to a fall of the next.
            reached = score - (answer.confidence - BAND)
            self.slack[k] = min(self.slack[k], (self.slack[k] + max(reached, 0.0)) / 2)
        struck = verdict.evidence.get("struck", ())
        broken = [finding.key for finding in verdict.findings]
        if broken and self.known.issuperset(broken):
            self.repeated += 1
        self.known.update(broken)
        broken += [(one["kind"], one["subject"]) for one in struck if one["by"].startswith("null")]
        for _, subject in broken:
            self.slack[list(self._boxes_of(subject))] = np.inf
        for one in struck:  # what did not recur is fickle: it costs as many questions as what counts
            self.tries[list(self._boxes_of(one["subject"]))] += FICKLE
        for subject in {*(f.subject for f in verdict.findings), *(one["subject"] for one in struck)}:
            self.accused[list(self._boxes_of(subject))] += 1
        return 1.0 if verdict.findings else 0.0 if struck else harm

    def _boxes_of(self, subject: str) -> Iterator[int]:
        """The boxes of the source's answer that a finding is about: an object, or what a new one was."""
        kind, _, name = subject.partition(" ")
        if kind == "object":
            yield int(name)
            return
        answer: Detections = self.source.answer
        weak = answer.scores < answer.confidence
        yield from (k for k in np.flatnonzero(weak).tolist() if answer.labels[k] == name)


@dataclass(eq=False)
class _Lore:
    """How much harm each kind of insertion did, over all scenes."""

    harm: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    tries: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def learn(self, features: tuple[str, ...], harm: float) -> None:
        for feature in ("", *features):
            self.harm[feature] += harm
            self.tries[feature] += 1

    def lift(self, features: tuple[str, ...]) -> float:
        """How many times the usual harm such an insertion does; 1 where little is known."""
        usual = (self.harm[""] + 1) / (self.tries[""] + PRIOR)
        return math.prod(
            (self.harm[feature] + PRIOR * usual) / (self.tries[feature] + PRIOR) / usual
            for feature in features
        )


def _best(scenes: Sequence[_Scene], lore: _Lore, most: int) -> Iterator[tuple[_Scene, int]]:
    """The most promising proposals, one after the other: each makes those that resemble it promise less."""
    promises = [scene.promise(lore) for scene in scenes]
    best = np.array([promise.max(initial=0.0) for promise in promises])
    for _ in range(most):
        if not len(best) or best.max() <= 0:
            return
        s = int(best.argmax())
        scene, i = scenes[s], int(promises[s].argmax())
        scene.take(i)
        yield scene, i
        promises[s] = scene.promise(lore)
        best[s] = promises[s].max()


def _gaps(boxes: Boxes, others: Boxes) -> Floats:
    """`float (len(boxes), len(others))`: the larger of the gaps along both axes, in pixels; 0 in touch."""
    a, b = boxes[:, None].astype(np.float64), others[None].astype(np.float64)
    apart = np.maximum(a[..., :2] - b[..., 2:], b[..., :2] - a[..., 2:])
    return np.asarray(np.maximum(apart.max(axis=-1), 0.0))


def _features(change: Insertion, answer: Detections) -> tuple[str, ...]:
    """What is pasted, how large beside its anchor, and on which side of it."""
    if change.anchor is None:
        return (change.label,)
    anchor = answer.boxes[change.anchor]
    size = int(np.digitize(change.width * change.height / float(areas(anchor[None])[0]), SIZES))
    dx = change.x + change.width / 2 - float(anchor[0] + anchor[2]) / 2
    dy = change.y + change.height / 2 - float(anchor[1] + anchor[3]) / 2
    side = ("right" if dx > 0 else "left") if abs(dx) >= abs(dy) else ("below" if dy > 0 else "above")
    return (change.label, f"size {size}", side)
