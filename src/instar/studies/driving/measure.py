"""The driving study: what the records of several systems say about rules, thresholds and weather."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from instar.core.record import Record
from instar.core.verdict import Status
from instar.stats import clustered_mean
from instar.studies.campaign import CaseCounts
from instar.studies.driving.shared_pictures import MakingCost
from instar.tasks.driving.judgement import STANDSTILL


@dataclass(eq=False)
class RuleMeasures(CaseCounts):
    """One rule on one system; violations are those that recur under changes that must not matter.

    `answers` has, per case, what was said to each picture.
    """

    answers: list[list[Mapping[str, float | None]]] = field(default_factory=list)

    @property
    def tried(self) -> int:
        """Cases that the bare inequality decides."""
        return self.judged + self.unstable

    @property
    def bare(self) -> int:
        """Violations of the inequality, as in the paper."""
        return self.violated + self.unstable


@dataclass(frozen=True, slots=True)
class Error:
    """How far answers are off, on average, beside the best constant answer; in km/h or degrees.

    `on` says on what: the pictures of the study, where the truth about them is known, else what was held out
    in training, as the network's card says it.
    """

    quantity: str
    mae: float
    interval: tuple[float, float]
    constant: float
    pictures: int
    on: str = "these pictures"


@dataclass(eq=False)
class DriverMeasures:
    """One system: its rules, its errors, how much it wavers under changes that must do nothing, and costs."""

    system: str
    quantities: set[str]
    rules: dict[str, RuleMeasures]
    errors: list[Error] = field(default_factory=list)
    waver: dict[str, float] = field(default_factory=dict)
    making: dict[str, MakingCost] = field(default_factory=dict)
    asking: float = 0.0  # seconds for one picture


def measure_rules(records: Iterable[Record]) -> dict[str, RuleMeasures]:
    """Count the records of one system's campaign, by rule."""
    rules: dict[str, RuleMeasures] = defaultdict(RuleMeasures)
    for record in records:
        if record.role == "case":
            found, verdict = rules[record.relation], record.verdict
            found.add(record)
            decided = verdict.kind == "unstable" or verdict.status in (Status.HELD, Status.VIOLATED)
            if decided and "answers" in verdict.evidence:
                found.answers.append(list(verdict.evidence["answers"]))
    return dict(rules)


def share_below(found: RuleMeasures, quantity: str, threshold: float) -> tuple[int, int]:
    """Of the first change of each case, how many react too little for a threshold, and of how many.

    For speed the threshold is a share that it must fall by (0: it must fall at all); for steering, degrees
    that it may not change by more than (Table 8).
    """
    too_little = counted = 0
    for answers in found.answers:
        before, after = answers[0].get(quantity), answers[1].get(quantity)
        if before is None or after is None or (quantity == "speed" and before < STANDSTILL):
            continue
        counted += 1
        if quantity == "steering":
            too_little += abs(before - after) > threshold
        elif threshold == 0:
            too_little += not before > after
        else:
            too_little += (before - after) / before < threshold
    return too_little, counted


def error_of(quantity: str, given: Sequence[float], truth: Sequence[float], scenes: Sequence[str]) -> Error:
    """The mean absolute error with its interval over scenes, and that of the truth's own median."""
    off = np.abs(np.asarray(given, np.float64) - np.asarray(truth, np.float64))
    constant = np.abs(np.asarray(truth) - np.median(truth)).mean()
    return Error(quantity, float(off.mean()), clustered_mean(off, scenes), float(constant), len(off))


def errors_on_card(system: Any) -> list[Error]:
    """What a network's card says about its errors on what was held out in training; nothing without one."""
    on = "held out in training"
    try:
        return [
            Error(quantity, e["mae"], tuple(e["interval"]), e["constant_mae"], e["pictures"], on)
            for quantity, e in json.loads(system.card).get("errors", {}).items()
        ]
    except (AttributeError, TypeError, ValueError, KeyError):
        return []  # it has no card of instar's
