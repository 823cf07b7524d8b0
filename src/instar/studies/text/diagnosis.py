"""What goes with instability: how pictures look whose boxes do not stay (section 4.5 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from instar.stats.association_rules import AssociationRule, apriori
from instar.stats.correlation import LineFit, regress
from instar.stats.exact_values import varies
from instar.studies.text.measure import RELATIONS, LocatorStability, column

LOWEST = 1 / 3  # of the pictures are called low, or high, in a rule
FEWEST = 4  # pictures that a rule must speak of; fewer are an anecdote


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What goes with instability: fits of the mean stability on brightness, boxes and clarity, and rules.

    `scenes` are those where all of it is known; the fits are None where there are too few or nothing
    varies.
    """

    scenes: int
    linear: LineFit | None
    ridge: LineFit | None
    rules: tuple[AssociationRule, ...]


FEATURES = ("brightness", "boxes", "clarity")
LOOKS = ("dark", "bright", "few boxes", "many boxes", "low clarity", "high clarity")
"""What a low and a high value of each feature is called."""


def diagnose(system: LocatorStability) -> Diagnosis:
    """Relate the stability of pictures to what they look like (section 4.5 of the paper)."""
    scenes = [s for s, look in sorted(system.looks.items()) if np.isfinite(look.clarity)]
    looks = np.array([[getattr(system.looks[s], name) for name in FEATURES] for s in scenes], np.float64)
    stability = np.array([column(system, relation, scenes) for relation in RELATIONS])
    measured = np.isfinite(stability).sum(axis=0) > 0 if len(scenes) else np.zeros(0, np.bool_)
    scenes = [scene for scene, known in zip(scenes, measured) if known]
    looks, stability = looks.reshape(-1, len(FEATURES))[measured], stability.reshape(6, -1)[:, measured]
    fits: list[LineFit | None] = [None, None]
    if len(scenes) >= len(FEATURES) + 2:
        mean = np.nanmean(stability, axis=0)
        if varies(mean):
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
