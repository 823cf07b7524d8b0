"""What a Then half says: an expectation out of a predicate, its degree and a negation."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import NoReturn

from instar.tasks.driving.rules.amounts import NO_DEGREE, Degree, one_degree, unit_of
from instar.tasks.driving.rules.grammar import Found, Objection
from instar.tasks.driving.rules.model import Expectation
from instar.tasks.driving.rules.things import Mention
from instar.tasks.driving.rules.vocabulary import THEN as then
from instar.tasks.driving.rules.vocabulary import invert

_DIRECTIONS = {-1: "decrease", 0: "same", 1: "increase"}
_SIGNS = {"down": -1, "same": 0, "up": 1}
_WAYS = {
    phrase: _SIGNS[way] for name in ("pace", "size", "nouns") for phrase, way in invert(then[name]).items()
}
OPPOSITE = {"at least": "less than", "more than": "at most", "at most": "more than", "less than": "at least"}
STILL = 3.0  # km/h: slower than anybody walks, and as good as standing
HARD = 30.0  # percent at least, as in the paper's third rule


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


SAME = Predicate()


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


def expected(
    predicate: Predicate,
    no: Found | None = None,
    further: Found | None = None,
    quantity: str | None = None,
) -> Expected:
    if quantity is not None:
        predicate = _about(quantity, predicate)
    degree = one_degree(NO_DEGREE, predicate.degree, further, 0)
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
    direction, unit = _DIRECTIONS[predicate.way], unit_of(predicate.quantity, degree)
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
    unit = unit_of("speed", degree)
    value = Expectation("speed", "value", comparator, degree.amount, unit, most=degree.most)
    return Expected(value, None, False, predicate.given)


def of_both(one: str, other: str, predicate: Predicate = SAME, no: Found | None = None) -> Expected:
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


def paced(word: Found, quantity: str, no: Found | None = None) -> Expected:
    """ "Drive no faster", "a lower speed"."""
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


def permitted(word: Found) -> NoReturn:
    raise Objection(word.at, f"{word.phrase!r} allows and expects nothing: say 'should'")


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
    if degree.unit == "%" and degree.amount is not None and degree.amount < 100:
        comparator = "more than" if degree.comparator == "less than" else "at least"
        less = dataclasses.replace(degree, comparator=comparator, amount=100 - degree.amount)
        return Predicate(-1, quantity, less)
    return Predicate(0, quantity, degree, value=True)


def not_exceeded(degree: Degree) -> Expected:
    return expected(target(degree))


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
    return Predicate(_WAYS[word.phrase], quantity, one_degree(early, late, even, word.at), comparative=True)


def turned(side: Found, degree: Degree = NO_DEGREE, more: Found | None = None) -> Predicate:
    way = 1 if "left" in side.phrase else -1
    return Predicate(way, "steering", one_degree(NO_DEGREE, degree, more, side.at), at=side.at)


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


MEANINGS = (
    Predicate, absolute, braked_hard, exceeded, expected, halved, limited, measured, neither, not_exceeded,
    of_both, paced, permitted, second_expectation, sized, stopped, target, there_is, turned, within,
    yielded,
)  # fmt: skip


def _about(quantity: str, predicate: Predicate) -> Predicate:
    """The predicate with its quantity; only steering goes left or right."""
    if predicate.quantity and predicate.quantity != quantity:
        raise Objection(predicate.at, f"the {quantity} cannot go left or right")
    return dataclasses.replace(predicate, quantity=quantity)
