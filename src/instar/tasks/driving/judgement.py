"""Whether answers keep a rule: the inequality of each block, its slack, and when it does not apply.

Answers are in km/h and in degrees with + to the left, one per picture, the source's first.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from instar.tasks.driving.answers import WHEELS
from instar.tasks.driving.rules.format_rule import DELTAS
from instar.tasks.driving.rules.model import Expectation, Rule

UNITS = {"km/h": 1.0, "mph": 1.609344, "m/s": 3.6, "degrees": 1.0, "radians": 180.0 / math.pi}
"""What one of the unit is in km/h or in degrees."""
STANDSTILL = 1.0
"""Below this speed in km/h a car stands, and cannot slow down."""
TOLERANCE = 1e-9
"""Bounds that differ by less than this share of themselves are equal."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Held, violated (False) or inapplicable (None, with the reason).

    `margin` is the signed slack of the inequality: km/h or degrees, or a share of the answer before where the
    rule speaks of percent.
    """

    held: bool | None
    margin: float = 0.0
    reason: str = ""


def judge_rule(rule: Rule, answers: Sequence[float], *, paper: bool = False) -> Judgement:
    """The judgement over all blocks: violated if one is, else inapplicable if one is, else held.

    In the `paper`, "more than" is "at least".
    """
    if len(answers) != len(rule.blocks) + 1:
        raise ValueError(f"{len(rule.blocks)} blocks need {len(rule.blocks) + 1} answers, not {len(answers)}")
    judgements = [
        judge_block(expectation, answers, number, paper=paper)
        for number, block in enumerate(rule.blocks, start=1)
        for expectation in block.expectations
    ]
    for status in (False, None):
        found = [judgement for judgement in judgements if judgement.held is status]
        if found:
            return min(found, key=lambda judgement: judgement.margin)
    return min(judgements, key=lambda judgement: judgement.margin)


def judge_block(
    expectation: Expectation,
    answers: Sequence[float],
    number: int,
    *,
    paper: bool = False,
    wheel: str = "steering",
) -> Judgement:
    """The judgement over the block with this number, counted from 1; `wheel` is what the angles are of.

    >>> judge_block(Expectation("speed", "decrease", "at least", 30.0, "%"), [50.0, 35.0], 1)
    Judgement(held=True, margin=0.0, reason='')
    """
    if paper and expectation.comparator == "more than":
        expectation = dataclasses.replace(expectation, comparator="at least")
    source, after = answers[0], answers[number]
    if expectation.direction == "value":
        return _bounded_value(expectation, after)
    before = source if expectation.relative_to_block is None else answers[expectation.relative_to_block]
    falls = expectation.direction == "decrease"
    if falls and expectation.quantity == "speed" and not expectation.negated and before < STANDSTILL:
        return Judgement(None, reason="the ego-vehicle already stands")
    if expectation.direction == "same":
        amount, unit = DELTAS[expectation.quantity]
        if expectation.quantity == "steering":
            amount = WHEELS[wheel]
        if expectation.amount is not None and expectation.unit is not None:
            amount, unit = expectation.amount, expectation.unit
        difference = abs(before - after)
    else:
        difference = before - after if falls else after - before
        if expectation.amount is None:
            return _without_amount(expectation, source, before, after)
        amount, unit = expectation.amount, expectation.unit or ""
    if unit != "%":
        return _bounded(expectation, difference, amount * UNITS[unit], UNITS[unit])
    if before == 0:
        return Judgement(None, reason="a share of zero")
    return _bounded(expectation, difference / abs(before), amount / 100, 0.01)


def _bounded_value(expectation: Expectation, value: float) -> Judgement:
    """The answer itself within its bounds, in the unit of the rule."""
    assert expectation.amount is not None, "a value has a bound"
    assert expectation.unit is not None, "and a unit"
    factor = UNITS[expectation.unit]
    bound = expectation.amount * factor
    match expectation.comparator:
        case "at most":
            return _at_least(bound, value)
        case "less than":
            return _above(bound, value)
        case "more than":
            return _above(value, bound)
        case "between":
            assert expectation.most is not None, "between goes up to something"
            return _all(_at_least(value, bound), _at_least(expectation.most * factor, value))
    return _at_least(value, bound)


def _without_amount(expectation: Expectation, source: float, before: float, after: float) -> Judgement:
    sign = 1.0 if expectation.direction == "decrease" else -1.0
    difference = sign * (before - after)
    if expectation.comparator == "less than":  # it still changes, but less than in the block before
        own, other = sign * (source - after), sign * (source - before)
        return _all(_above(own, 0.0), _above(other, own))
    if expectation.negated:
        return _at_least(0.0, difference)
    return _above(difference, 0.0)


def _bounded(expectation: Expectation, value: float, bound: float, factor: float) -> Judgement:
    comparator, negated = expectation.comparator, expectation.negated
    if expectation.direction == "same":
        comparator = comparator or "at most"
        if not negated:
            return _above(bound, value) if comparator == "less than" else _at_least(bound, value)
    if comparator in (None, "at least"):
        return _above(bound, value) if negated else _at_least(value, bound)
    if comparator == "between":
        assert expectation.most is not None, "between goes up to something"
        return _all(_at_least(value, bound), _at_least(expectation.most * factor, value))
    if comparator == "more than":
        return _at_least(bound, value) if negated else _above(value, bound)
    if comparator == "at most":
        return _above(value, bound) if negated else _all(_at_least(value, 0.0), _at_least(bound, value))
    if comparator == "less than":
        return _at_least(value, bound) if negated else _all(_above(value, 0.0), _above(bound, value))
    held = math.isclose(value, bound, rel_tol=TOLERANCE)
    return Judgement(held, 0.0 if held else -abs(value - bound))


def _at_least(value: float, bound: float) -> Judgement:
    """Value >= bound."""
    slack = value - bound
    if slack < 0 and math.isclose(value, bound, rel_tol=TOLERANCE):
        slack = 0.0
    return Judgement(slack >= 0, slack)


def _above(value: float, bound: float) -> Judgement:
    """Value > bound; what is equal but for rounding is not above."""
    slack = value - bound
    if math.isclose(value, bound, rel_tol=TOLERANCE):
        slack = 0.0
    return Judgement(slack > 0, slack)


def _all(*judgements: Judgement) -> Judgement:
    worst = min(judgements, key=lambda judgement: judgement.margin)
    return Judgement(all(judgement.held for judgement in judgements), worst.margin)
