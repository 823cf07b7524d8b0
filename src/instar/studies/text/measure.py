"""The study of the stability paper over any systems: what was measured, and what follows from it.

Everything is made from records of finished campaigns. Whether a finding was believed plays no part in the
measures: they are averages over all follow-ups, as in the paper. The null changes of the same pictures are
measured alike, and a relation tells something only beyond them. Where the words of the pictures are known,
stability is that of words, and boxes on no text have no say in it; the paper's, of all boxes, is kept beside.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from instar.core.record import Record
from instar.stats.correlation import correlations
from instar.stats.exact_values import exact_value
from instar.stats.ranks import RankTest, friedman, nemenyi, vargha_delaney
from instar.studies.campaign import CaseCounts
from instar.tasks.text.accuracy import Hits
from instar.tasks.text.clarity import Look
from instar.tasks.text.measures import set_similarity, shooting_rate

RELATIONS = ("brightness-up", "brightness-down", "channel-switch", "perspective", "watermark", "masking")
NO_HITS = Hits(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What is right of the words of a scene: matched one to one (ICDAR 2015), and by words."""

    matched: Hits = NO_HITS
    by_words: Hits = NO_HITS

    def __add__(self, other: Accuracy) -> Accuracy:
        return Accuracy(self.matched + other.matched, self.by_words + other.by_words)


@dataclass(eq=False)
class RelationStability(CaseCounts):
    """One relation on one system: the stability of each follow-up by scene, and what was believed.

    `accuracy` is by scene, `headline` counts cases with a failure that counts, and `worth` what is known of
    the findings of all.
    """

    scenes: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    accuracy: dict[str, Accuracy] = field(default_factory=dict)
    headline: int = 0
    worth: Counter[str] = field(default_factory=Counter)

    def of_scenes(self) -> dict[str, Fraction]:
        """The average of each scene (Eq. 14), exactly: pictures that are equally stable must tie."""
        return {
            scene: sum(map(exact_value, values), Fraction(0)) / len(values)
            for scene, values in self.scenes.items()
            if values
        }


@dataclass(eq=False)
class LocatorStability:
    """One system: its relations, and its stability under null changes by scene.

    `sources` is how accurate it is on each scene as it is. `of_boxes` is the same with the paper's stability,
    where this one is that of words.
    """

    system: str
    relations: dict[str, RelationStability]
    null: dict[str, list[float]]
    levels: dict[float, dict[str, float]]
    sources: dict[str, Accuracy] = field(default_factory=dict)
    looks: dict[str, Look] = field(default_factory=dict)
    of_boxes: LocatorStability | None = None

    @property
    def paper(self) -> LocatorStability:
        """With stability as the paper measures it."""
        return self.of_boxes or self

    @property
    def null_stability(self) -> float:
        return set_similarity(self.null) if self.null else float("nan")

    def of_scenes(self, relation: str) -> dict[str, Fraction]:
        """The average of each scene (Eq. 14) under a relation."""
        found = self.relations.get(relation)
        return {} if found is None else found.of_scenes()

    def stability(self, relation: str) -> float:
        """Set similarity, shooting rate or success rate (Eqs. 15 and 16); NaN where nothing was measured."""
        found = self.relations.get(relation)
        if found is None or not found.scenes:
            return float("nan")
        if relation == "watermark":
            # Of all watermarks, not the average of the pictures' averages.
            return shooting_rate({scene: [bool(v) for v in vs] for scene, vs in found.scenes.items()})
        return set_similarity(found.scenes)


def measure_stability(
    system: str, records: Iterable[Record], *, measure: str = "stability"
) -> LocatorStability:
    """Count the records of one system's campaigns; `measure` may also be "word_stability"."""
    relations: dict[str, RelationStability] = {}
    null: dict[str, list[float]] = defaultdict(list)
    levels: dict[float, dict[str, float]] = defaultdict(dict)
    for record in records:
        evidence = record.verdict.evidence
        stability = evidence.get(measure)
        if record.role == "null":
            if stability is not None:
                null[record.scene].append(float(stability))
            continue
        found = relations.setdefault(record.relation, RelationStability())
        found.add(record)
        found.headline += bool(record.verdict.failures)
        found.worth.update(finding.known for finding in record.verdict.findings)
        if "accuracy" in evidence:
            hits = Accuracy(Hits(*evidence["accuracy"]), Hits(*evidence["word_accuracy"]))
            found.accuracy[record.scene] = found.accuracy.get(record.scene, Accuracy()) + hits
        if stability is None:
            continue
        found.scenes[record.scene].append(float(stability))
        if "level" in evidence:
            levels[float(evidence["level"])][record.scene] = float(stability)
    return LocatorStability(system, relations, dict(null), dict(levels))


def least_stable(systems: Sequence[LocatorStability], *, count: int = 10) -> dict[str, list[str]]:
    """Per relation the scenes with the lowest stability over all systems, lowest first (Table 5).

    Pictures that are perfectly stable are not among them. Of masking, which has one follow-up per picture and
    so hardly an order, all that the others have.
    """
    chosen: dict[str, list[str]] = {}
    for relation in RELATIONS:
        table, scenes = _common(systems, relation)
        if relation == "masking" and any(chosen.values()):
            union = {scene for others in chosen.values() for scene in others}
            chosen[relation] = [scene for scene in scenes if scene in union]
        else:
            lowest = sorted((sum(row), scene) for row, scene in zip(table, scenes) if sum(row) < len(row))
            chosen[relation] = [scene for _, scene in lowest[:count]]
    return chosen


def on_pictures(system: LocatorStability, chosen: Mapping[str, Sequence[str]]) -> LocatorStability:
    """The same on the pictures that were chosen for each relation alone (Table 6)."""
    relations = {}
    for name, found in system.relations.items():
        scenes = {scene: found.scenes[scene] for scene in chosen[name] if scene in found.scenes}
        accuracy = {scene: found.accuracy[scene] for scene in chosen[name] if scene in found.accuracy}
        relations[name] = RelationStability(scenes=scenes, accuracy=accuracy)
    every = {scene for scenes in chosen.values() for scene in scenes}
    sources = {scene: hits for scene, hits in system.sources.items() if scene in every}
    return LocatorStability(system.system, relations, {}, {}, sources)


@dataclass(frozen=True, slots=True, eq=False)
class LocatorComparison:
    """Whether the systems differ under one relation: Friedman's test, and for each pair (columns of the
    systems) Nemenyi's p and Vargha and Delaney's A. The tests are None for fewer than three systems.
    """

    friedman: RankTest | None
    nemenyi: npt.NDArray[np.float64] | None
    effect: npt.NDArray[np.float64]
    scenes: int


def compare_locators(systems: Sequence[LocatorStability], relation: str) -> LocatorComparison | None:
    """The systems on the scenes that all of them were measured on; None where there are too few."""
    table, scenes = _common(systems, relation)
    if len(scenes) < 2:
        return None
    columns = list(zip(*table))
    effect = np.array([[vargha_delaney(a, b) for b in columns] for a in columns])
    if len(systems) < 3:
        return LocatorComparison(None, None, effect, len(scenes))
    return LocatorComparison(friedman(table), nemenyi(table), effect, len(scenes))


def correlate_relations(system: LocatorStability) -> npt.NDArray[np.float64]:
    """`float64 (6, 6)`: Pearson's coefficient between the relations, over scenes (Fig. 12)."""
    scenes = sorted({scene for found in system.relations.values() for scene in found.scenes})
    columns = [column(system, relation, scenes) for relation in RELATIONS]
    return correlations(np.array(columns).T.reshape(-1, len(RELATIONS)))


def brightness_curve(system: LocatorStability) -> dict[float, float]:
    """Stability by grey levels added, in order (Fig. 13); 0 is no change at all."""
    return {level: float(np.mean(list(values.values()))) for level, values in sorted(system.levels.items())}


def breaking_points(system: LocatorStability) -> dict[str, tuple[float | None, float | None]]:
    """Per scene the first grey level, down and up, at which the boxes are no longer the same."""
    down: dict[str, float] = {}
    up: dict[str, float] = {}
    for level, values in sorted(system.levels.items(), key=lambda item: abs(item[0])):
        for scene, stability in values.items():
            if stability < 1 and level:
                (up if level > 0 else down).setdefault(scene, level)
    scenes = sorted({scene for values in system.levels.values() for scene in values})
    return {scene: (down.get(scene), up.get(scene)) for scene in scenes}


def _common(systems: Sequence[LocatorStability], relation: str) -> tuple[list[list[Fraction]], list[str]]:
    """Rows for the scenes that every system was measured on, with a column for each system, and those."""
    each = [system.of_scenes(relation) for system in systems]
    scenes = sorted(set.intersection(*map(set, each))) if each else []
    return [[one[scene] for one in each] for scene in scenes], scenes


def column(system: LocatorStability, relation: str, scenes: Sequence[str]) -> list[float]:
    """The stability of these scenes under a relation, NaN where it was not measured."""
    of_scenes = system.of_scenes(relation)
    return [float(of_scenes.get(scene, math.nan)) for scene in scenes]
