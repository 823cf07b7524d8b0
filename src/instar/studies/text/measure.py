"""The study of the stability paper over any systems: what was measured, and what follows from it.

Everything is made from records of finished campaigns. Whether a finding was believed plays no part in the
measures: they are averages over all follow-ups, as in the paper. The null changes of the same pictures are
measured alike, and a relation tells something only beyond them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from instar.core.record import Record
from instar.stats.association_rules import AssociationRule, apriori
from instar.stats.correlation import Fit, correlations, regress
from instar.stats.ranks import RankTest, friedman, nemenyi, vargha_delaney
from instar.studies.campaign import CaseCounts
from instar.tasks.text.accuracy import Hits
from instar.tasks.text.clarity import Look
from instar.tasks.text.measures import set_similarity, shooting_rate

__all__ = [
    "RELATIONS",
    "Diagnosis",
    "LocatorComparison",
    "LocatorStability",
    "RelationStability",
    "breaking_points",
    "brightness_curve",
    "compare_locators",
    "correlate_relations",
    "diagnose",
    "least_stable",
    "measure_stability",
]

RELATIONS = ("brightness-up", "brightness-down", "channel-switch", "perspective", "watermark", "masking")
LOWEST = 1 / 3  # of the pictures are called low, or high, in a rule
MOST_BOXES = 10_000  # of two answers together; more is no answer to a picture
FEWEST = 4  # pictures that a rule must speak of; fewer are an anecdote


@dataclass(eq=False)
class RelationStability(CaseCounts):
    """One relation on one system: the stability of each follow-up by scene, and what was believed."""

    scenes: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    accuracy: Hits | None = None

    def of_scenes(self) -> dict[str, Fraction]:
        """The average of each scene (Eq. 14), exactly: pictures that are equally stable must tie."""
        return {
            scene: sum(map(_exact, values), Fraction(0)) / len(values)
            for scene, values in self.scenes.items()
            if values
        }


@dataclass(eq=False)
class LocatorStability:
    """One system: its relations, and its stability under null changes by scene."""

    system: str
    relations: dict[str, RelationStability]
    null: dict[str, list[float]]
    levels: dict[float, dict[str, float]]
    sources: Hits | None = None
    looks: dict[str, Look] = field(default_factory=dict)

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


def measure_stability(system: str, records: Iterable[Record]) -> LocatorStability:
    """Count the records of one system's campaigns."""
    relations: dict[str, RelationStability] = {}
    null: dict[str, list[float]] = defaultdict(list)
    levels: dict[float, dict[str, float]] = defaultdict(dict)
    for record in records:
        evidence = record.verdict.evidence
        stability = evidence.get("stability")
        if record.role == "null":
            if stability is not None:
                null[record.scene].append(float(stability))
            continue
        found = relations.setdefault(record.relation, RelationStability())
        found.add(record)
        if stability is None:
            continue
        found.scenes[record.scene].append(float(stability))
        if "level" in evidence:
            levels[float(evidence["level"])][record.scene] = float(stability)
        if "accuracy" in evidence:
            found.accuracy = (found.accuracy or Hits(0, 0, 0)) + Hits(*evidence["accuracy"])
    return LocatorStability(system, relations, dict(null), dict(levels))


def least_stable(systems: Sequence[LocatorStability], *, count: int = 10) -> dict[str, list[str]]:
    """Per relation the scenes with the lowest stability over all systems, lowest first (Table 5)."""
    chosen = {}
    for relation in RELATIONS:
        table, scenes = _common(systems, relation)
        lowest = sorted(zip(map(sum, table), scenes))[:count]
        chosen[relation] = [scene for _, scene in lowest]
    return chosen


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
    columns = [_column(system, relation, scenes) for relation in RELATIONS]
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


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What goes with instability: fits of the mean stability on brightness, boxes and clarity, and rules.

    `scenes` are those where all of it is known; the fits are None where there are too few or nothing
    varies.
    """

    scenes: int
    linear: Fit | None
    ridge: Fit | None
    rules: tuple[AssociationRule, ...]


FEATURES = ("brightness", "boxes", "clarity")
LOOKS = ("dark", "bright", "few boxes", "many boxes", "low clarity", "high clarity")
"""What a low and a high value of each feature is called."""


def diagnose(system: LocatorStability) -> Diagnosis:
    """Relate the stability of pictures to what they look like (section 4.5 of the paper)."""
    scenes = [s for s, look in sorted(system.looks.items()) if np.isfinite(look.clarity)]
    looks = np.array([[getattr(system.looks[s], name) for name in FEATURES] for s in scenes], np.float64)
    stability = np.array([_column(system, relation, scenes) for relation in RELATIONS])
    measured = np.isfinite(stability).sum(axis=0) > 0 if len(scenes) else np.zeros(0, np.bool_)
    scenes = [scene for scene, known in zip(scenes, measured) if known]
    looks, stability = looks.reshape(-1, len(FEATURES))[measured], stability.reshape(6, -1)[:, measured]
    fits: list[Fit | None] = [None, None]
    if len(scenes) >= len(FEATURES) + 2:
        mean = np.nanmean(stability, axis=0)
        if np.ptp(mean) > 0:
            fits = [regress(looks, mean), regress(looks, mean, ridge=1.0)]
    facts = {f"{name} unstable": _low(row) for name, row in zip(RELATIONS, stability)}
    ends = (end for column in looks.T for end in (column, -column))
    facts |= {name: _low(end) for name, end in zip(LOOKS, ends)}
    support = max(0.1, FEWEST / max(1, len(scenes)))
    rules = _informative(apriori(facts, support=support, confidence=0.6)) if support <= 1 else ()
    return Diagnosis(len(scenes), fits[0], fits[1], rules)


def _informative(rules: Sequence[AssociationRule]) -> tuple[AssociationRule, ...]:
    """Rules from instability alone to a look alone, more confident than chance and than any part of them."""
    told: list[AssociationRule] = []
    for rule in sorted(rules, key=lambda rule: (len(rule.given), -rule.confidence)):
        from_instability = all(name.endswith("unstable") for name in rule.given)
        part_says_it = any(
            other.then == rule.then
            and set(other.given) < set(rule.given)
            and other.confidence >= rule.confidence
            for other in told
        )
        if from_instability and rule.then in LOOKS and rule.lift > 1 and not part_says_it:
            told.append(rule)
    return tuple(sorted(told, key=lambda rule: (-rule.confidence, -rule.support, rule.given)))


def _low(values: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """The lowest third; none where all are alike, and never the highest, however many share it."""
    known = values[np.isfinite(values)]
    if not len(known):
        return np.zeros(len(values), np.bool_)
    edge = np.quantile(known, LOWEST)
    return np.asarray((values <= edge) & (values < known.max()))


def _common(
    systems: Sequence[LocatorStability], relation: str
) -> tuple[list[list[Fraction]], list[str]]:
    """Rows for the scenes that every system was measured on, with a column for each system, and those."""
    each = [system.of_scenes(relation) for system in systems]
    scenes = sorted(set.intersection(*map(set, each))) if each else []
    return [[one[scene] for one in each] for scene in scenes], scenes


def _column(system: LocatorStability, relation: str, scenes: Sequence[str]) -> list[float]:
    of_scenes = system.of_scenes(relation)
    return [float(of_scenes.get(scene, math.nan)) for scene in scenes]


def _exact(stability: float) -> Fraction:
    """A delta is a number of boxes over another; a float has kept which."""
    return Fraction(stability).limit_denominator(MOST_BOXES)
