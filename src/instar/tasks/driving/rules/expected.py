"""What a Then half says: an expectation out of a predicate, its degree and a negation."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from instar.tasks.driving.rules.grammar import Found, Numeral, Objection
from instar.tasks.driving.rules.model import Expectation
from instar.tasks.driving.rules.vocabulary import THEN as then
from instar.tasks.driving.rules.vocabulary import invert

__all__ = ["MEANINGS", "Expected"]

_DIRECTIONS = {-1: "decrease", 0: "same", 1: "increase"}
_SIGNS = {"down": -1, "same": 0, "up": 1}
_WAYS = {
    phrase: _SIGNS[way] for name in ("pace", "size", "nouns") for phrase, way in invert(then[name]).items()
}
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


NO_DEGREE = Degree()


@dataclass(frozen=True, slots=True)
class Predicate:
    """What happens to a quantity ("" where the subject tells): `way` is -1, 0 (same) or 1.

    `changes` turns same around; `comparative` are words such as "slower", which in a later block compare
    with the block before.
    """

    way: int = 0
    quantity: str = ""
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


def expected(
    predicate: Predicate,
    no: Found | None = None,
    further: Found | None = None,
    quantity: str | None = None,
) -> Expected:
    if quantity is not None:
        predicate = _about(quantity, predicate)
    degree = _one_degree(NO_DEGREE, predicate.degree, further, 0)
    comparator, compared, negated = degree.comparator, degree.compared, no is not None
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
    direction, unit = _DIRECTIONS[predicate.way], _unit(predicate.quantity, degree)
    expectation = Expectation(predicate.quantity, direction, comparator, degree.amount, unit, negated)
    return Expected(expectation, compared, predicate.comparative)


def there_is(
    word: Found,
    degree: Degree,
    quantity: str | None,
    no: Found | None,
    article: Found | None,
    which: str | None = None,
) -> Expected:
    """ "A decrease in speed", "no speed decrease"."""
    none = article if article is not None and article.phrase == "no" else None
    if no is not None and none is not None:
        raise Objection(none.at, "'no' is a second negation")
    return _changed(word, which or quantity, no or none, degree)


def measured(word: Found, degree: Degree, by: Found, quantity: str | None, no: Found | None) -> Expected:
    """ "The deceleration should be at least 30 %"."""
    if degree.amount is None:
        raise Objection(word.at, f"how large the {word.phrase} should be is not said")
    if by.phrase in then["exceed"]:
        if degree.comparator is not None:
            raise Objection(by.at, f"{by.phrase!r} is a bound already")
        degree = dataclasses.replace(degree, comparator="more than")
    return _changed(word, quantity, no, degree)


def _changed(word: Found, quantity: str | None, no: Found | None, degree: Degree) -> Expected:
    way = _WAYS[word.phrase]
    if quantity is None and word.phrase not in ("deceleration", "acceleration", "slowdown"):
        raise Objection(word.at, f"{word.phrase!r} of what is not said", ("speed", "steering angle"))
    return expected(Predicate(way, quantity or "speed", degree, changes=way == 0), no)


def no_more(no: Found, word: Found, quantity: str) -> Expected:
    return expected(Predicate(_WAYS[word.phrase], quantity, comparative=True), no)


def neither(
    no: Found, one: Predicate, word: Found, other: Predicate, quantity: str | None = None
) -> Expected:
    """What does neither stays the same."""
    if quantity is not None:
        one, other = _about(quantity, one), _about(quantity, other)
    is_plain = NO_DEGREE == one.degree == other.degree
    if one.quantity != other.quantity or one.way * other.way != -1 or not is_plain:
        second_expectation(no if no.phrase == "neither" else word)
    return expected(Predicate(0, one.quantity))


def second_expectation(word: Found) -> NoReturn:
    raise Objection(word.at, f"{word.phrase!r} brings a second expectation: write a second rule for it")


def no_target(word: Found) -> NoReturn:
    raise Objection(word.at, "to stop is no change of so much; say by how much the speed decreases")


def sized(early: Degree, even: Found | None, word: Found, late: Degree, quantity: str = "") -> Predicate:
    """ "30 % slower", "even higher"."""
    return Predicate(_WAYS[word.phrase], quantity, _one_degree(early, late, even, word.at), comparative=True)


def turned(side: Found, degree: Degree = NO_DEGREE, more: Found | None = None) -> Predicate:
    way = 1 if "left" in side.phrase else -1
    return Predicate(way, "steering", _one_degree(NO_DEGREE, degree, more, side.at), at=side.at)


def within(word: Found, degree: Degree) -> Predicate:
    if degree.amount is None or degree.comparator is not None or degree.compared is not None:
        raise Objection(word.at, "'within' needs a plain amount")
    return Predicate(0, "", dataclasses.replace(degree, comparator="at most"))


def absolute(word: Found, degree: Degree) -> NoReturn:
    if degree.amount is None:
        raise Objection(word.at, f"{word.phrase!r} what is not said", ("lower", "higher", "the same"))
    behind = word.at + len(word.phrase.split())
    raise Objection(behind, "a rule speaks of changes: say by how much it decreases or increases")


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


MEANINGS = (
    Degree, Predicate, absolute, bounded, expected, measured, neither, no_more, no_target, plain_degree,
    second_expectation, share, sized, there_is, turned, within,
)  # fmt: skip


def _about(quantity: str, predicate: Predicate) -> Predicate:
    """The predicate with its quantity; only steering goes left or right."""
    if predicate.quantity and predicate.quantity != quantity:
        raise Objection(predicate.at, f"the {quantity} cannot go left or right")
    return dataclasses.replace(predicate, quantity=quantity)


def _one_degree(before: Degree, behind: Degree, compared: Found | None, at: int) -> Degree:
    """The degree that stands before or behind a word, but not both, with "even" as a comparison."""
    if NO_DEGREE not in (before, behind):
        raise Objection(at, "two amounts stand around one word")
    found = behind if before == NO_DEGREE else before
    if compared is None:
        return found
    if found.compared is not None:
        raise Objection(found.compared.at, f"{found.compared.phrase!r} is said twice")
    return dataclasses.replace(found, compared=compared)


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
