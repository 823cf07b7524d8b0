"""The driving study: what the records of several systems say about rules, thresholds and weather."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from instar.core.frame import Moved
from instar.core.record import Record
from instar.core.scene import Image
from instar.core.verdict import Status
from instar.imaging.nulls import STRIKERS
from instar.stats import bootstrap_mean, bootstrap_rate
from instar.tasks.driving.judgement import STANDING
from instar.tasks.driving.task import TASK

__all__ = [
    "Costs",
    "Error",
    "Measured",
    "RuleMeasured",
    "error_of",
    "errors_on_card",
    "measure",
    "pictures_under_nulls",
    "share_below",
    "spread",
]


@dataclass(eq=False)
class RuleMeasured:
    """One rule on one system.

    `bare` counts violations of the inequality, as in the paper; `violated` those that recur under changes
    that must not matter. `answers` has, per case, what was said to each picture.
    """

    judged: int = 0
    violated: int = 0
    bare: int = 0
    unstable: int = 0
    inapplicable: int = 0
    failed: int = 0
    scenes: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    answers: list[list[Mapping[str, float | None]]] = field(default_factory=list)

    @property
    def tried(self) -> int:
        """Cases that the bare inequality decides."""
        return self.judged + self.unstable

    @property
    def interval(self) -> tuple[float, float] | None:
        """Of the believed share, over scenes."""
        if not self.judged:
            return None
        violated, judged = zip(*self.scenes.values())
        return bootstrap_rate(violated, judged)


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


@dataclass(frozen=True, slots=True)
class Costs:
    """Of a case: how many pictures it has, processor seconds to make them, and seconds to ask about them."""

    cases: int
    pictures: int
    making: float
    asking: float


@dataclass(eq=False)
class Measured:
    """One system: its rules, its errors, and how much it wavers under changes that must do nothing."""

    system: str
    quantities: set[str]
    rules: dict[str, RuleMeasured]
    errors: list[Error] = field(default_factory=list)
    waver: dict[str, float] = field(default_factory=dict)
    costs: dict[str, Costs] = field(default_factory=dict)


def measure(records: Iterable[Record]) -> dict[str, RuleMeasured]:
    """Count the records of one system's campaign, by rule."""
    rules: dict[str, RuleMeasured] = defaultdict(RuleMeasured)
    for record in records:
        if record.role != "case":
            continue
        found, verdict = rules[record.relation], record.verdict
        if verdict.status in (Status.HELD, Status.VIOLATED):
            found.judged += 1
            found.scenes[record.scene][1] += 1
        if verdict.status is Status.VIOLATED:
            found.violated += 1
            found.scenes[record.scene][0] += 1
        wavers = verdict.kind in ("unstable", "unconfirmed")
        found.unstable += wavers
        found.bare += wavers or verdict.status is Status.VIOLATED
        found.failed += verdict.status is Status.FAILED
        found.inapplicable += verdict.status is Status.INAPPLICABLE and not wavers
        decided = wavers or verdict.status in (Status.HELD, Status.VIOLATED)
        if decided and "answers" in verdict.evidence:
            found.answers.append(list(verdict.evidence["answers"]))
    return dict(rules)


def share_below(found: RuleMeasured, quantity: str, threshold: float) -> tuple[int, int]:
    """Of the first change of each case, how many react too little for a threshold, and of how many.

    For speed the threshold is a share that it must fall by (0: it must fall at all); for steering, degrees
    that it may not change by more than (Table 8).
    """
    too_little = counted = 0
    for answers in found.answers:
        before, after = answers[0].get(quantity), answers[1].get(quantity)
        if before is None or after is None or (quantity == "speed" and before < STANDING):
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
    return Error(quantity, float(off.mean()), bootstrap_mean(off, scenes), float(constant), len(off))


def errors_on_card(card: Mapping[str, Any]) -> list[Error]:
    """What a network's card says about its errors on what was held out in training."""
    return [
        Error(
            quantity, e["mae"], tuple(e["interval"]), e["constant_mae"], e["pictures"], "held out in training"
        )
        for quantity, e in card.get("errors", {}).items()
    ]


def pictures_under_nulls(image: Image) -> list[Image]:
    """The picture as it is, and under each change that must do nothing."""
    made = [null.apply(image) for null in STRIKERS]
    pictures = [one.picture if isinstance(one, Moved) else one for one in made]
    return [image, *(TASK.with_picture(image, picture) for picture in pictures)]


def spread(answers: Sequence[Any], quantity: str) -> float:
    """The standard deviation of answers to one picture under changes that must do nothing."""
    return float(np.std([getattr(answer, quantity) for answer in answers]))
