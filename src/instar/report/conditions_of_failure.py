"""Which few conditions tell failures apart: those that hold far oftener than was to be expected.

A condition is the label of what a failure is about, what the change brought, that both are of one kind, or
that the thing is small or large, or stands to one side of the picture. What is to be expected is known from
what stood in the scenes and from what was tried at the same places: if every thing were hit as likely as any
other, and every kind of change failed as often.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from instar.report.causes import THING_MEASURES, Traits

NEARLY_ALL = 0.9  # of the failures: what the conditions must make up
ALL = 0.95  # but for some that have another reason
SURPRISE = 0.7  # the share expected of them is at most this part of the share found
SIGMA, LIKELY = 3.0, 2.0  # standard deviations
MOST = 6  # conditions
FITTED = 6.0  # by which the evidence for a bound must be better, as it was chosen among many
BOUNDS = np.linspace(0, 1, 11)  # of the measures that occur, where bounds are tried

_Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class FailureCondition:
    """`trait` is "label", "by", "like" (both are the same) or one of `MEASURES`.

    Measures have a bound, from which they go up or down.
    """

    trait: str
    value: str = ""
    bound: float = 0.0
    upward: bool = False

    def __str__(self) -> str:
        """In words where the labels of a group do not say it already."""
        words = {
            "width": ("at most {} px wide", "at least {} px wide"),
            "height": ("at most {} px high", "at least {} px high"),
            "x": ("left of x = {}", "right of x = {}"),
            "y": ("above y = {}", "below y = {}"),
        }
        if self.trait == LIKE.trait:
            return "all by one of its kind"
        if self.trait not in words:
            return ""
        return f"all {words[self.trait][self.upward].format(round(self.bound))}"


LIKE = FailureCondition("like", "yes")
"""What the change brought is of the kind that it did harm to."""


def explain_failures(
    traits: Sequence[Traits], tried: Sequence[Mapping[str, int]], *, by_thing: bool = True
) -> list[tuple[FailureCondition | None, list[int]]]:
    """The failures by the condition that tells them apart, as indices; under None what no condition says.

    `tried` has for each failure how often each kind of change was tried at its place. With `by_thing` false
    only what the change brought is looked at. Where no few conditions are surprising, all are together.
    """
    view = _View.of(traits, tried, by_thing)
    if view.is_all_alike():  # one reason for all, whatever the labels
        return [(LIKE, list(range(len(traits))))]
    chosen: list[FailureCondition] = []
    left: _Mask = np.ones(len(traits), np.bool_)
    while len(chosen) < MOST and left.any():
        best = view.best(left)
        if best is None:
            break
        chosen.append(best)
        left &= ~view.holds(best)
    if not chosen or not view.is_surprising(chosen):
        return [(None, list(range(len(traits))))]
    parts: list[tuple[FailureCondition | None, list[int]]] = []
    left[:] = True
    for condition in chosen:
        mine = view.holds(condition) & left
        parts.append((condition, np.flatnonzero(mine).tolist()))
        left &= ~mine
    return [*parts, *([(None, np.flatnonzero(left).tolist())] if left.any() else [])]


def mean_shares(counted: Iterable[Mapping[str, int]]) -> dict[str, float]:
    """The mean share of each value over all that have any: if all were hit as likely as any other."""
    shares: Counter[str] = Counter()
    known = [counts for counts in counted if counts]
    for counts in known:
        total = sum(counts.values())
        for value, count in counts.items():
            shares[value] += count / total / len(known)  # type: ignore[assignment]  # a Counter of shares
    return dict(shares)


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """Failures as columns, and beside them the things of their scenes, each with its weight."""

    columns: Mapping[str, npt.NDArray[np.generic]]
    things: Mapping[str, npt.NDArray[np.generic]]
    weights: npt.NDArray[np.float64]
    brought: Mapping[str, float]
    alike: float
    """The share of failures that a change of their own kind would have if all kinds did as much harm."""

    @classmethod
    def of(cls, traits: Sequence[Traits], tried: Sequence[Mapping[str, int]], by_thing: bool) -> _View:
        columns: dict[str, npt.NDArray[np.generic]] = {"by": np.array([one.by for one in traits])}
        scenes = Counter(one.among for one in traits if one.among) if by_thing else Counter()
        things = [(thing, n / len(among)) for among, n in scenes.items() for thing in among]
        measured = np.array([thing[1] for thing, _ in things]).reshape(-1, len(THING_MEASURES))
        of_things: dict[str, npt.NDArray[np.generic]] = dict(zip(THING_MEASURES, measured.T))
        if things:
            of_things["label"] = np.array([thing[0] for thing, _ in things])
            columns["label"] = np.array([one.label for one in traits])
            columns |= dict(zip(THING_MEASURES, np.array([one.measures for one in traits]).T))
            columns[LIKE.trait] = np.where(columns["label"] == columns["by"], LIKE.value, "")
        weights = np.array([weight for _, weight in things])
        own = [
            counts.get(one.label, 0) / sum(counts.values()) for one, counts in zip(traits, tried) if counts
        ]
        alike = sum(own) / max(1, len(own))
        return cls(columns, of_things, weights / max(weights.sum(), 1e-9), mean_shares(tried), alike)

    def holds(self, condition: FailureCondition) -> _Mask:
        return _met(self.columns[condition.trait], condition)

    def expected(self, conditions: Sequence[FailureCondition]) -> float:
        """The share of failures that would have one of them if things and changes had no part in it."""
        brought = sum(self.brought.get(c.value, 0.0) for c in conditions if c.trait == "by")
        of_things = [_met(self.things[c.trait], c) for c in conditions if c.trait in self.things]
        share = float(self.weights[np.any(of_things, axis=0)].sum()) if of_things else 0.0
        alike = self.alike if LIKE in conditions else 0.0
        return 1 - (1 - min(1.0, brought)) * (1 - share) * (1 - alike)

    def best(self, left: _Mask) -> FailureCondition | None:
        """The condition with the most evidence for it among these failures; None where none has enough."""
        n = int(left.sum())
        found: list[tuple[float, float, FailureCondition]] = []
        for condition in self._candidates(left):
            share = int((self.holds(condition) & left).sum()) / n
            usual = max(self.expected([condition]), 0.5 / len(left))
            if share and usual <= SURPRISE * share:
                # By how much the condition makes these failures more likely.
                evidence = n * share * math.log(share / usual)
                evidence -= FITTED if condition.trait in THING_MEASURES else 0.0
                found.append((evidence, share, condition))
        found.sort(key=lambda one: (-one[0], one[2].trait, one[2].value, one[2].bound))
        for _, share, condition in found:
            # A size or a side that says it all comes before labels that only go with it.
            measured = condition.trait in THING_MEASURES and share >= ALL
            if measured and self._says_more_than_labels(condition, left):
                return condition
        return found[0][2] if found and found[0][0] > 0 else None

    def _says_more_than_labels(self, condition: FailureCondition, left: _Mask) -> bool:
        """Whether labels are hit as they come among the things that meet it, and not those that do not."""
        mine, met = self.holds(condition) & left, _met(self.things[condition.trait], condition)
        labels, n = self.things["label"], int(mine.sum())
        counts = Counter(self.columns["label"][mine].tolist())
        usual, share = 0.0, 0.0
        for label, count in counts.most_common():
            if share >= NEARLY_ALL:
                break
            share += count / n
            usual += self._share(met & (labels == label), met)
        alike = np.isin(labels, list(counts))
        spared = 1 - self._share(met & alike, alike)
        return not _is_surprising(share, usual, n) and spared >= LIKELY * _spread(1 - spared, n)

    def _share(self, some: _Mask, of: _Mask) -> float:
        return float(self.weights[some].sum() / max(self.weights[of].sum(), 1e-9))

    def _candidates(self, left: _Mask) -> Iterator[FailureCondition]:
        for trait in ("label", "by"):
            if trait in self.columns and (trait == "label" or self.brought):
                yield from (
                    FailureCondition(trait, value) for value in np.unique(self.columns[trait][left]).tolist()
                )
        for trait in THING_MEASURES:
            values = self.columns[trait][left].astype(float) if trait in self.columns else np.zeros(0)
            values = values[~np.isnan(values)]
            if len(values) and not np.isnan(self.things[trait].astype(float)).any():
                for bound in np.unique(np.quantile(values, BOUNDS, method="nearest")).tolist():
                    yield from (FailureCondition(trait, "", bound, upward) for upward in (False, True))

    def is_all_alike(self) -> bool:
        return LIKE.trait in self.columns and bool(self.brought) and self.is_surprising([LIKE], least=ALL)

    def is_surprising(self, conditions: Sequence[FailureCondition], *, least: float = NEARLY_ALL) -> bool:
        """Whether they make up nearly all although far less was to be expected of them."""
        share = float(np.any([self.holds(condition) for condition in conditions], axis=0).mean())
        return share >= least and _is_surprising(share, self.expected(conditions), len(self.columns["by"]))


def _is_surprising(share: float, usual: float, n: int) -> bool:
    return usual <= SURPRISE * share and share - usual >= SIGMA * _spread(usual, n)


def _spread(share: float, n: int) -> float:
    return float((max(share * (1 - share), 1e-9) / n) ** 0.5)


def _met(column: npt.NDArray[np.generic], condition: FailureCondition) -> _Mask:
    if condition.trait not in THING_MEASURES:
        return np.asarray(column == condition.value)
    values = column.astype(float)
    return np.asarray(values >= condition.bound if condition.upward else values <= condition.bound)
