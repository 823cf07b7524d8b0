"""What a Then half means: an expectation out of a predicate, its degree and a negation."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from instar.tasks.driving.rules.degrees import NO_DEGREE, Degree, one_degree
from instar.tasks.driving.rules.grammar import Found, Objection
from instar.tasks.driving.rules.model import Expectation
from instar.tasks.driving.rules.vocabulary import THEN as then

__all__ = ["Expected", "Predicate", "about", "expected"]

_DIRECTIONS = {-1: "decrease", 0: "same", 1: "increase"}


@dataclass(frozen=True, slots=True)
class Predicate:
    """What happens to a quantity ("" where the subject tells): `way` is -1, 0 (same) or 1.

    `changes` turns same around; `comparative` are words such as "slower", which in a later block compare
    with the block before.
    """

    way: int
    quantity: str
    degree: Degree = NO_DEGREE
    changes: bool = False
    comparative: bool = False
    at: int = 0


@dataclass(frozen=True, slots=True)
class Expected:
    """An expectation as far as one Then tells; `compared` is the word that refers to the block before."""

    expectation: Expectation
    compared: Found | None
    comparative: bool

    def in_block(self, block: int) -> Expectation:
        """The expectation of the block with this number, counted from 1."""
        word = self.compared
        if word is not None and block == 1:
            raise Objection(word.at, f"{word.phrase!r} compares with the block before, and there is none")
        is_relative = word is not None or (self.comparative and block > 1)
        return dataclasses.replace(self.expectation, relative_to_block=block - 1 if is_relative else None)


def about(quantity: str, predicate: Predicate) -> Predicate:
    """The predicate with its quantity; only steering goes left or right."""
    if predicate.quantity and predicate.quantity != quantity:
        raise Objection(predicate.at, f"the {quantity} cannot go left or right")
    return dataclasses.replace(predicate, quantity=quantity)


def expected(negation: Found | None, further: Found | None, predicate: Predicate) -> Expected:
    degree = one_degree(NO_DEGREE, predicate.degree, further, 0)
    comparator, compared, negated = degree.comparator, degree.compared, negation is not None
    if degree.amount is not None and comparator in (None, "exactly") and (negated or predicate.way == 0):
        raise Objection(
            degree.at, "an exact amount can neither be denied nor kept; say 'at least' or 'more than'"
        )
    if predicate.changes:
        # To change is not to stay the same, and to change by at least n is not to stay within less than n.
        if comparator in ("at least", "more than"):
            comparator = {"at least": "less than", "more than": "at most"}[comparator]
            negated = not negated
        elif degree.amount is None:
            negated = not negated
    if compared is not None:
        if predicate.way == 0:
            raise Objection(compared.at, f"what stays the same cannot do so {compared.phrase!r}")
        if compared.phrase in then["less"]:
            if degree.amount is not None or negated:
                raise Objection(
                    compared.at, f"{compared.phrase!r} goes neither with an amount nor with 'not'"
                )
            comparator = "less than"
    return Expected(
        Expectation(
            predicate.quantity,
            _DIRECTIONS[predicate.way],
            comparator,
            degree.amount,
            _unit(predicate.quantity, degree),
            negated,
        ),
        compared,
        predicate.comparative,
    )


def _unit(quantity: str, degree: Degree) -> str | None:
    """The unit of an amount; a bare number is in km/h or degrees."""
    if degree.amount is None:
        return None
    units: dict[str, list[str]] = then["speed_units"] if quantity == "speed" else then["steering_units"]
    if degree.unit is None:
        return next(iter(units))
    if degree.unit not in (*units, "%"):
        raise Objection(degree.at, f"{quantity} is not measured in {degree.unit}", (*units, "%"))
    return degree.unit
