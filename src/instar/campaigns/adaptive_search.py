"""A search over all relations, severities and scenes at once, which learns what breaks this system.

Two things are learned from the margins that verdicts tell. Each subject of a scene (an object, a word) has a
*strength*: how far from failing it usually stays. Each kind of change, a relation at a severity, has a
*harm*: by how much it usually lowers margins. The chance that a change breaks a subject follows from both.
Each round asks the changes that should break most subjects for what they cost. A subject that failed, or that
null changes break too, is worth nothing any more; one that only slipped below the line still is.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from instar.core.options import require_whole_number
from instar.core.recipe import recorded
from instar.core.relation import Drawn, Relation
from instar.core.scene import Observation
from instar.core.search import Arm, SearchAcross, across_scenes
from instar.core.verdict import Status, Verdict

_Floats = npt.NDArray[np.float64]

STRENGTH = 0.35  # of a subject of which nothing is known
SUBJECTS = 2.0  # so many are expected in a scene of which nothing is known
HARM = 0.15  # of the strongest change, of which nothing is known
SPREAD = 0.15  # of margins about what strength and harm say
PRIOR = 8.0  # observations after which the harm of a change counts for half
DEPTH = 0.1  # by how much a margin is to be missed: less is a slip
CHECKS = 3.0  # questions that a finding costs beyond its change


@recorded
def adaptive(*, levels: int = 4, draws: int = 5, at_once: int = 64) -> SearchAcross:
    """Across scenes, relations and severities: what is weak, by what does harm; no object twice.

    A relation with a severity is tried at so many `levels` of its range on each scene, one that draws its
    changes with so many `draws`; `at_once` changes are asked in a round, each of another scene.
    """
    for name, value in (("levels", levels), ("draws", draws), ("at_once", at_once)):
        require_whole_number("adaptive", name, value, least=1)

    @across_scenes
    def search(
        arms: Sequence[Arm], rng: np.random.Generator
    ) -> Generator[Sequence[tuple[Arm, Drawn | Callable[[], Drawn]]], Sequence[Verdict], None]:
        kinds = _kinds([arm.relation for arm in arms], levels, draws)
        table = _Table(arms, kinds)
        while chosen := table.choose(at_once, rng):
            seeds = rng.integers(2**63, size=len(chosen))
            verdicts = yield [
                (table.arms[scene, kind], kinds[kind].change(table.arms[scene, kind].source, int(seed)))
                for (scene, kind), seed in zip(chosen, seeds)
            ]
            for (scene, kind), verdict in zip(chosen, verdicts):
                table.learn(scene, kind, verdict)

    return search


@dataclass(frozen=True, slots=True)
class _Kind:
    """A relation at one severity, or its nth draw; `share` is how far up its range it is."""

    relation: Relation
    share: float
    level: float | None = None
    tries: int = 1

    def change(self, source: Observation, seed: int) -> Drawn | Callable[[], Drawn]:
        if self.level is not None and self.relation.severity is not None:
            return self.relation.severity.change(source, self.level)
        return partial(self.relation.drawn, source, np.random.default_rng(seed))


def _kinds(relations: Sequence[Relation], levels: int, draws: int) -> list[_Kind]:
    kinds = []
    for relation in {id(one): one for one in relations}.values():
        severity = relation.severity
        if severity is not None and relation.draw is None:
            for n in range(1, levels + 1):
                level = severity.low + (severity.high - severity.low) * n / levels
                kinds.append(_Kind(relation, n / levels, float(level)))
        else:
            kinds.append(_Kind(relation, 0.5, tries=1 if relation.draw is None else draws))
    return kinds


@dataclass(eq=False)
class _Table:
    """What is known about all scenes (rows) and kinds of change (columns).

    `scene`, `total`, `seen` and `alive` have an entry for each subject: its scene, the sum and number of its
    observed strengths, and whether it is still worth a question.
    """

    given: Sequence[Arm]
    kinds: Sequence[_Kind]
    arms: dict[tuple[int, int], Arm] = field(init=False, default_factory=dict)
    columns: dict[int, list[int]] = field(init=False, default_factory=dict)  # by relation
    left: npt.NDArray[np.intp] = field(init=False)
    harm: _Floats = field(init=False)
    weight: _Floats = field(init=False)
    usual: _Floats = field(init=False)
    expense: _Floats = field(init=False)
    numbers: dict[tuple[int, str], int] = field(init=False, default_factory=dict)
    scene: list[int] = field(init=False, default_factory=list)
    total: list[float] = field(init=False, default_factory=list)
    seen: list[float] = field(init=False, default_factory=list)
    alive: list[bool] = field(init=False, default_factory=list)
    visited: set[int] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        scenes: dict[str, int] = {}
        for column, kind in enumerate(self.kinds):
            self.columns.setdefault(id(kind.relation), []).append(column)
        for arm in self.given:
            row = scenes.setdefault(arm.source.id, len(scenes))
            self.arms |= {(row, column): arm for column in self.columns[id(arm.relation)]}
        self.left = np.zeros((len(scenes), len(self.kinds)), np.intp)
        for row, column in self.arms:
            self.left[row, column] = self.kinds[column].tries
        self.expense = np.array([kind.relation.expense for kind in self.kinds])
        self.usual = np.array([HARM * kind.share for kind in self.kinds])
        self.harm, self.weight = self.usual * PRIOR, np.full(len(self.kinds), PRIOR)

    def choose(self, most: int, rng: np.random.Generator) -> list[tuple[int, int]]:
        """The best kind of change for each of the scenes where it promises most."""
        gains = np.where(self.left > 0, self._gains(rng), 0.0)
        best = gains.argmax(axis=1)
        worth = gains[np.arange(len(gains)), best]
        order = np.argsort(-worth, kind="stable")[:most]
        return [(int(row), int(best[row])) for row in order if worth[row] > 0]

    def _gains(self, rng: np.random.Generator) -> _Floats:
        """`(scenes, kinds)`: how many subjects a change should break, for each question it will cost.

        The harm is drawn from what it may be, scene by scene (Thompson's rule): so the little known is tried.
        """
        doubt = rng.normal(0, SPREAD, self.left.shape) / np.sqrt(self.weight / PRIOR)
        harm = self.harm / self.weight + doubt
        broken = SUBJECTS * ndtr((harm - STRENGTH - DEPTH) / SPREAD)
        broken[sorted(self.visited)] = 0
        if self.scene:
            scene, alive, seen = np.array(self.scene), np.array(self.alive), np.array(self.seen)
            strength = (np.array(self.total) + STRENGTH) / (seen + 1)
            spread = SPREAD * np.sqrt(1 + 1 / (seen + 1))
            chance = ndtr((harm[scene] - strength[:, None] - DEPTH) / spread[:, None]) * alive[:, None]
            np.add.at(broken, scene, chance)
        return np.asarray(broken / (self.expense + CHECKS * np.minimum(broken, 1)))

    def learn(self, row: int, column: int, verdict: Verdict) -> None:
        """Take in what a verdict says about the strength of subjects and the harm of the change."""
        self.left[row, column] -= 1
        judged = verdict.status in (Status.HELD, Status.VIOLATED)
        if not (judged or verdict.margins):
            if verdict.status is Status.INAPPLICABLE:  # nor will it be at another severity
                self.left[row, self.columns[id(self.kinds[column].relation)]] = 0
            return
        self.visited.add(row)
        harm = self.harm[column] / self.weight[column]
        for subject, margin in (verdict.margins or {"": verdict.margin}).items():
            i = self._number(row, subject)
            strength = (self.total[i] + STRENGTH) / (self.seen[i] + 1)
            self.harm[column] += strength - margin
            self.weight[column] += 1
            self.total[i] += margin + harm
            self.seen[i] += 1
        done = [finding.subject for finding in verdict.findings if finding.known != "slipped"]
        done += [one["subject"] for one in verdict.evidence.get("struck", ())]
        for subject in done:
            self.alive[self._number(row, subject)] = False

    def _number(self, row: int, subject: str) -> int:
        if (row, subject) not in self.numbers:
            self.numbers[row, subject] = len(self.scene)
            self.scene.append(row)
            self.total.append(0.0)
            self.seen.append(0.0)
            self.alive.append(True)
        return self.numbers[row, subject]
