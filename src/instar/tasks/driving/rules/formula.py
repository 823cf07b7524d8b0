"""A rule as a formula over the answers: x1 on the source, x2, x3, ... on the pictures of the blocks."""

from __future__ import annotations

from instar.tasks.driving.rules.format_rule import format_amount
from instar.tasks.driving.rules.model import Condition, Entity, Expectation, Rule

__all__ = ["DELTAS", "block_formula", "rule_formula"]

DELTAS = {"speed": (10.0, "%"), "steering": (1.39, "degrees")}
"""How far an answer may move and still be the same (section 4 of the paper for steering)."""

_SIGNS = {
    ("at least", False): ">=", ("at least", True): "<", ("more than", False): ">", ("more than", True): "<=",
    ("at most", True): ">", ("less than", True): ">=", ("exactly", False): "=",
}  # fmt: skip


def rule_formula(rule: Rule) -> str:
    """All blocks, which must hold together."""
    return " and ".join(f"({block_formula(rule, number)})" for number in range(1, len(rule.blocks) + 1))


def block_formula(rule: Rule, number: int) -> str:
    """One block, counted from 1: what is done to the source, and what must hold then.

    >>> from instar.tasks.driving.rules.read import read_rule
    >>> block_formula(read_rule("If a person stands on the kerb, slow down by at least 30 percent"), 1)
    'add(1 pedestrian, on, sidewalk) -> (x1 - x2)/|x1| >= 30%'
    """
    block = rule.blocks[number - 1]
    changes = " and ".join(map(_change, block.conditions))
    return f"{changes} -> {_inequality(block.expectation, number)}"


def _change(condition: Condition) -> str:
    what = _thing(condition.thing)
    parts = [what if condition.count is None else f"{condition.count} {what}"]
    parts += [condition.position] if condition.position else []
    if condition.reference:
        parts.append(_thing(Entity(condition.reference, condition.reference_properties)))
    if condition.new is not None:
        parts.append(_thing(condition.new))
    parts += [condition.comparative] if condition.comparative else []
    return f"{condition.op}({', '.join(parts)})"


def _thing(thing: Entity) -> str:
    values = "".join(f"[{name}={value}]" for name, value in thing.properties.items())
    return thing.element + values


def _inequality(expectation: Expectation, number: int) -> str:
    before = "x1" if expectation.relative_to_block is None else f"x{expectation.relative_to_block + 1}"
    after = f"x{number + 1}"
    if expectation.direction == "same":
        amount, unit = DELTAS[expectation.quantity]
        if expectation.amount is not None:
            amount, unit = expectation.amount, expectation.unit or unit
        strict = expectation.comparator == "less than"
        sign = {(False, False): "<=", (True, False): "<", (False, True): ">", (True, True): ">="}
        value = _part(f"|{before} - {after}|", unit, before)
        return f"{value} {sign[strict, expectation.negated]} {format_amount(amount, unit)}"
    falls = expectation.direction == "decrease"
    difference = f"{before} - {after}" if falls else f"{after} - {before}"
    if expectation.amount is None:
        if expectation.comparator == "less than":
            first = f"x1 - {after}" if falls else f"{after} - x1"
            other = f"x1 - {before}" if falls else f"{before} - x1"
            return f"0 < {first} < {other}"
        sign_of = {(True, False): ">", (True, True): "<=", (False, False): "<", (False, True): ">="}
        return f"{before} {sign_of[falls, expectation.negated]} {after}"
    value = _part(f"({difference})" if expectation.unit == "%" else difference, expectation.unit, before)
    bound = format_amount(expectation.amount, expectation.unit)
    if not expectation.negated and expectation.comparator in ("at most", "less than"):
        sign_ = "<=" if expectation.comparator == "at most" else "<"
        return f"0 {sign_} {value} {sign_} {bound}"
    return f"{value} {_SIGNS[expectation.comparator or 'exactly', expectation.negated]} {bound}"


def _part(difference: str, unit: str | None, before: str) -> str:
    return f"{difference}/|{before}|" if unit == "%" else difference
