"""What a Then half says: an expectation out of a predicate, its degree and a negation."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from instar.tasks.driving.rules.clauses import Clauses
from instar.tasks.driving.rules.grammar import Found, Numeral, Objection
from instar.tasks.driving.rules.model import Expectation
from instar.tasks.driving.rules.things import Mention
from instar.tasks.driving.rules.vocabulary import THEN as then
from instar.tasks.driving.rules.vocabulary import invert

__all__ = ["MEANINGS", "Expected", "Then"]

_DIRECTIONS = {-1: "decrease", 0: "same", 1: "increase"}
_SIGNS = {"down": -1, "same": 0, "up": 1}
_WAYS = {
    phrase: _SIGNS[way] for name in ("pace", "size", "nouns") for phrase, way in invert(then[name]).items()
}
_UNITS = invert(then["speed_units"] | then["steering_units"] | then["shares"])
_BOUNDS, _BOUNDS_BEHIND = invert(then["bounds"]), invert(then["bounds_behind"])
_FRACTIONS = invert(then["fractions"])
OPPOSITE = {"at least": "less than", "more than": "at most", "at most": "more than", "less than": "at least"}
STILL = 3.0  # km/h: slower than anybody walks, and as good as standing
HARD = 30.0  # percent at least, as in the paper's third rule


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


@dataclass(frozen=True, slots=True)
class Predicate:
    """What happens to a quantity ("" where the subject tells): `way` is -1, 0 (same) or 1.

    `changes` turns same around; `comparative` are words such as "slower", which in a later block compare
    with the block before. With `value` the degree bounds the answer itself. `given` must be in the scene.
    """

    way: int = 0
    quantity: str = ""
    degree: Degree = NO_DEGREE
    changes: bool = False
    comparative: bool = False
    at: int = 0
    value: bool = False
    given: Mention | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """An expectation as far as one Then tells; `compared` is the word that refers to the block before."""

    expectation: Expectation
    compared: Found | None
    comparative: bool
    given: Mention | None = None
    also: Expectation | None = None

    def in_block(self, block: int) -> Expectation:
        """The expectation of the block with this number, counted from 1."""
        word = self.compared
        if word is not None and block == 1:
            raise Objection(word.at, f"{word.phrase!r} compares with the block before, and there is none")
        is_relative = word is not None or (self.comparative and block > 1)
        return dataclasses.replace(self.expectation, relative_to_block=block - 1 if is_relative else None)


@dataclass(frozen=True, slots=True)
class Then:
    """A Then half: expectations, what they compare with ("than by day"), and facts with the word for them."""

    expected: tuple[Expected, ...]
    than: tuple[Found, Mention] | None = None
    facts: tuple[tuple[Found, str, Clauses], ...] = ()


def then_meant(
    first: Expected,
    rest: Sequence[Expected],
    than: tuple[Found, Mention] | None,
    facts: Sequence[tuple[Found, str, Clauses]],
) -> Then:
    return Then((first, *rest), than, tuple(facts))


then_meant.__name__ = "then"  # as the grammar calls it; here that name is the vocabulary's


def than(word: Found, air: Mention) -> tuple[Found, Mention]:
    return word, air


def fact(word: Found, clauses: Clauses, op: str) -> tuple[Found, str, Clauses]:
    """Something that the scene must show, or must not."""
    for clause in clauses:
        if clause.op != "add" or clause.comparative is not None or clause.thing.is_pronoun:
            raise Objection(word.at, f"{word.phrase!r} needs something that is there or not")
    return word, op, clauses


def expected(
    predicate: Predicate,
    no: Found | None = None,
    further: Found | None = None,
    quantity: str | None = None,
) -> Expected:
    if quantity is not None:
        predicate = _about(quantity, predicate)
    degree = _one_degree(NO_DEGREE, predicate.degree, further, 0)
    if predicate.value:
        return _valued(predicate, no)
    comparator, compared, negated = degree.comparator, degree.compared, no is not None
    in_doubt = comparator in (None, "exactly", "between")
    if degree.amount is not None and in_doubt and (negated or predicate.way == 0):
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
    expectation = Expectation(
        predicate.quantity, direction, comparator, degree.amount, unit, negated, most=degree.most
    )
    return Expected(expectation, compared, predicate.comparative, predicate.given)


def _valued(predicate: Predicate, no: Found | None) -> Expected:
    """A bound on the answer itself; denied, it is the opposite bound."""
    degree, comparator = predicate.degree, predicate.degree.comparator or "at most"
    if predicate.quantity != "speed" or degree.unit == "%" or degree.compared is not None:
        raise Objection(degree.at, "a rule speaks of changes: say by how much it decreases or increases")
    if no is not None:
        if comparator not in OPPOSITE:
            raise Objection(no.at, f"'{comparator}' cannot be denied; say 'at least' or 'at most'")
        comparator = OPPOSITE[comparator]
    unit = _unit("speed", degree)
    value = Expectation("speed", "value", comparator, degree.amount, unit, most=degree.most)
    return Expected(value, None, False, predicate.given)


def of_both(
    one: str, other: str, predicate: Predicate, no: Found | None = None
) -> Expected:
    """The same of speed and steering; of which neither should change, each stays the same."""
    denied = no if no is not None and no.phrase != "neither" else None
    if no is not None and denied is None:
        if not predicate.changes or predicate.degree != NO_DEGREE:
            raise Objection(no.at, "'neither' needs 'should change'")
        predicate = dataclasses.replace(predicate, changes=False)
    first, second = (expected(predicate, denied, quantity=quantity) for quantity in (one, other))
    if first.compared is not None or one == other:
        raise Objection(0, "two different quantities can do the same")
    return dataclasses.replace(first, also=second.expectation)


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


def stopped(one: Mention | None = None) -> Predicate:
    """To stop is to be next to standing; where, the answer does not tell, but the scene must show it."""
    return Predicate(0, "speed", Degree("at most", STILL, "km/h"), value=True, given=one)


def yielded(one: Mention | None = None) -> Predicate:
    return Predicate(-1, "speed", given=one)


def braked_hard(word: Found) -> Predicate:
    return Predicate(-1, "speed", Degree("at least", HARD, "%", word.at))


def halved(quantity: str = "") -> Predicate:
    return Predicate(-1, quantity, Degree("at least", 50.0, "%"))


def target(degree: Degree, quantity: str = "speed") -> Predicate:
    """To slow down to so much: no more than that."""
    if degree.comparator in ("at least", "more than", "exactly"):
        raise Objection(degree.at, f"slowing down to {degree.comparator!r} so much says too little")
    return Predicate(0, quantity, degree, value=True)


def limited(word: Found, degree: Degree, way: int, quantity: str = "") -> Predicate:
    if degree.comparator is not None:
        raise Objection(word.at, f"{word.phrase!r} is a bound already")
    comparator = "less than" if way < 0 else "more than"
    return Predicate(0, quantity, dataclasses.replace(degree, comparator=comparator), value=True)


def exceeded(word: Found, degree: Degree, quantity: str = "") -> Predicate:
    if degree.comparator is not None:
        raise Objection(word.at, f"{word.phrase!r} is a bound already")
    return Predicate(0, quantity, dataclasses.replace(degree, comparator="more than"), value=True)


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


def absolute(word: Found, degree: Degree, quantity: str = "") -> Predicate:
    if degree.amount is None:
        raise Objection(word.at, f"{word.phrase!r} what is not said", ("lower", "higher", "the same"))
    behind = word.at + len(word.phrase.split())
    if degree.comparator in (None, "exactly"):
        raise Objection(behind, "no driver keeps a speed exactly: say at most or at least")
    return Predicate(0, quantity, degree, value=True)


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
    assert low.amount is not None and high.amount is not None, "a plain degree has an amount"
    if low.amount >= high.amount:
        raise Objection(low.at, "the first number is the smaller one")
    return dataclasses.replace(high, comparator="between", amount=low.amount, most=high.amount)


MEANINGS = (
    Degree, Predicate, absolute, bounded, braked_hard, exceeded, expected, fact, halved, limited, measured,
    neither, no_more, of_both, plain_degree, ranged, second_expectation, share, sized, stopped, target, than,
    then_meant, there_is, turned, within, yielded,
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
