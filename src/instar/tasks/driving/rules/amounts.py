"""How much a Then half speaks of: "by at least 30 %", "between 5 and 10 km/h", "even more"."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from fractions import Fraction

from instar.tasks.driving.rules.grammar import Found, Numeral, Objection
from instar.tasks.driving.rules.vocabulary import THEN as then
from instar.tasks.driving.rules.vocabulary import invert

_UNITS = invert(then["speed_units"] | then["steering_units"] | then["shares"])
_BOUNDS, _BOUNDS_BEHIND = invert(then["bounds"]), invert(then["bounds_behind"])
_FRACTIONS = invert(then["fractions"])


@dataclass(frozen=True, slots=True)
class Degree:
    """An amount, a bound on it, or "more" or "less" than in the block before (`compared`).

    `at` is the word of the unit, or of the number where there is no unit.
    """

    comparator: str | None = None
    amount: float | None = None
    unit: str | None = None
    at: int = 0
    compared: Found | None = None
    most: float | None = None


NO_DEGREE = Degree()


def plain_degree(number: Numeral, unit: Found | None = None) -> Degree:
    if unit is None:
        return Degree(None, number.value, None, number.at)
    return Degree(None, number.value, _UNITS[unit.phrase], unit.at)


def share(word: Found) -> Degree:
    return Degree(None, float(100 * Fraction(_FRACTIONS[word.phrase])), "%", word.at)


def bounded(
    amount: Degree, before: Found | None, behind: Found | None, of_before: Found | None, more: Found | None
) -> Degree:
    if before is not None and behind is not None:
        raise Objection(behind.at, f"{behind.phrase!r} is a second bound beside {before.phrase!r}")
    if of_before is not None and of_before.phrase.startswith("of") and amount.unit != "%":
        raise Objection(of_before.at, f"{of_before.phrase!r} is said of a share only")
    comparator = None
    if before is not None:
        comparator = _BOUNDS[before.phrase]
    elif behind is not None:
        comparator = _BOUNDS_BEHIND[behind.phrase]
    return dataclasses.replace(amount, comparator=comparator, compared=more)


def ranged(low: Degree, high: Degree) -> Degree:
    """From so much to so much."""
    if low.unit not in (None, high.unit):
        raise Objection(high.at, "both ends of a range have the same unit")
    assert low.amount is not None, "a plain degree has an amount"
    assert high.amount is not None, "a plain degree has an amount"
    if low.amount >= high.amount:
        raise Objection(low.at, "the first number is the smaller one")
    return dataclasses.replace(high, comparator="between", amount=low.amount, most=high.amount)


def one_degree(before: Degree, behind: Degree, compared: Found | None, at: int) -> Degree:
    """The degree that stands before or behind a word, but not both, with "even" as a comparison."""
    if NO_DEGREE not in (before, behind):
        raise Objection(at, "two amounts stand around one word")
    found = behind if before == NO_DEGREE else before
    if compared is None:
        return found
    if found.compared is not None:
        raise Objection(found.compared.at, f"{found.compared.phrase!r} is said twice")
    return dataclasses.replace(found, compared=compared)


def unit_of(quantity: str, degree: Degree) -> str | None:
    """The unit of an amount; a bare number is in km/h or degrees."""
    if degree.amount is None:
        return None
    units: dict[str, list[str]] = then["speed_units"] if quantity == "speed" else then["steering_units"]
    if degree.unit is None:
        return next(iter(units))
    if degree.unit not in (*units, "%"):
        raise Objection(degree.at, f"{quantity} is not measured in {degree.unit}", (*units, "%"))
    return degree.unit


MEANINGS = (Degree, bounded, plain_degree, ranged, share)
