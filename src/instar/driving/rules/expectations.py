"""The Then half: "the ego-vehicle should slow down by at least 30 %"."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from instar.driving.rules.english import NUMBERS, finite, gerunds, participles
from instar.driving.rules.grammar import Found, Number, Numeral, Objection, Parser, Phrase, alt, named, opt, seq, to
from instar.driving.rules.model import Expectation
from instar.driving.rules.ontology import Ontology

__all__ = ["SPEED_UNITS", "STEERING_UNITS", "Expected", "expectations"]

SPEED_UNITS = {
    "km/h": ("km/h", "kmh", "kph", "kmph", "km per hour", "kilometers per hour", "kilometres per hour", "kilometer per hour",
             "kilometre per hour", "kilometers an hour", "kilometres an hour"),
    "mph": ("mph", "mi/h", "miles per hour", "mile per hour", "miles an hour"),
    "m/s": ("m/s", "mps", "meters per second", "metres per second", "meter per second", "metre per second"),
}  # fmt: skip
STEERING_UNITS = {
    "degrees": ("degrees", "degree", "deg", "°"),
    "radians": ("radians", "radian", "rad"),
}
_PERCENT = {"%": ("%", "percent", "per cent", "percents")}
_UNITS = {said: unit for table in (SPEED_UNITS, STEERING_UNITS, _PERCENT) for unit, all_ in table.items() for said in all_}

_COMPARATORS = {
    "at least": "at least", "no less than": "at least", "not less than": "at least", "a minimum of": "at least",
    "no fewer than": "at least", "at the very least": "at least", "at minimum": "at least", "minimum": "at least",
    "more than or equal to": "at least", "greater than or equal to": "at least",
    "more than": "more than", "greater than": "more than", "over": "more than", "larger than": "more than",
    "at most": "at most", "no more than": "at most", "not more than": "at most", "a maximum of": "at most",
    "up to": "at most", "at the most": "at most", "at maximum": "at most", "maximum": "at most",
    "no greater than": "at most", "less than or equal to": "at most", "not over": "at most",
    "less than": "less than", "under": "less than", "fewer than": "less than", "smaller than": "less than",
    "exactly": "exactly", "precisely": "exactly",
}  # fmt: skip
_AFTER = {
    "or more": "at least", "at least": "at least", "at minimum": "at least", "or greater": "at least", "minimum": "at least",
    "or less": "at most", "at most": "at most", "at maximum": "at most", "or fewer": "at most", "maximum": "at most",
    "at the very least": "at least", "at the most": "at most", "or higher": "at least", "or lower": "at most",
    "exactly": "exactly",
}  # fmt: skip
_SLOW = ["slow down", "slow", "decelerate", "brake", "lose speed", "hit the brakes", "apply the brakes", "apply the brake"]
_FAST = ["speed up", "accelerate", "gain speed", "pick up speed"]
_DRIVE = ["drive", "go", "move", "travel", "be", "become", "get", "run", "proceed"]
_SLOWER = {"slower": -1, "more slowly": -1, "at a lower speed": -1, "at a slower speed": -1, "at lower speed": -1,
           "at a reduced speed": -1, "with a lower speed": -1, "faster": 1, "more quickly": 1, "more fast": 1,
           "at a higher speed": 1, "at higher speed": 1, "at a faster speed": 1, "with a higher speed": 1}  # fmt: skip
_TURN = ["turn", "steer", "veer", "swerve", "move", "go", "head", "bear", "shift", "pull", "drift", "be steered"]
_SIDE = {
    **dict.fromkeys(["left", "to the left", "leftwards", "leftward", "towards the left", "toward the left", "to left"], 1),
    **dict.fromkeys(
        ["right", "to the right", "rightwards", "rightward", "towards the right", "toward the right", "to right"], -1
    ),
}
_LOWER = ["reduce", "decrease", "lower", "cut", "drop", "lessen", "diminish", "cut down", "bring down"]
_RAISE = ["increase", "raise", "boost"]
_FALL = ["decrease", "drop", "fall", "decline", "reduce", "go down", "lessen", "diminish", "slow down", "shrink", "slow", "come down"]
_RISE = ["increase", "rise", "grow", "go up", "climb", "speed up"]
_LESSENED = {"lower": -1, "slower": -1, "smaller": -1, "higher": 1, "faster": 1, "larger": 1, "greater": 1, "bigger": 1}
_KEEP = ["keep", "maintain", "hold", "retain", "preserve", "stay at", "keep to", "stick to", "continue at", "drive at",
         "keep driving at", "continue driving at", "go at", "travel at", "move at", "continue with", "keep up"]  # fmt: skip
_STAY = ["keep", "stay", "remain", "be", "hold", "be kept", "continue to be", "keep being", "be held", "be maintained"]
_SAME = ["the same", "same", "unchanged", "constant", "steady", "stable", "unaffected", "unaltered", "as it is", "as before",
         "the same as before", "equal", "identical", "fixed", "the same value", "at the same value", "as it was", "the same as it was"]  # fmt: skip
_CHANGE = ["change", "vary", "differ", "deviate", "alter", "be changed", "be affected", "be altered", "be different", "be influenced"]
_ALTER = ["change", "alter", "adjust", "modify", "vary", "affect"]
_FALLS = {"decrease": -1, "reduction": -1, "drop": -1, "deceleration": -1, "slowdown": -1, "fall": -1, "decline": -1,
          "increase": 1, "rise": 1, "acceleration": 1, "change": 0, "difference": 0, "variation": 0, "deviation": 0}  # fmt: skip
_MORE = ["more", "further", "even more", "even further", "still more", "still further", "again", "once more", "more than before",
         "even more than before", "further than before", "yet more", "further down", "some more"]  # fmt: skip
_LESS = ["less", "even less", "still less", "less than before", "less strongly"]
_EMPTY = ["also", "still", "then", "now", "always"]
_DIRECTIONS = {-1: "decrease", 0: "same", 1: "increase"}


@dataclass(frozen=True, slots=True)
class _Degree:
    """How much: an amount, a bound on it, or "more" or "less" than in the block before (`compared`).

    `at` is the word of the unit, or of the number where there is no unit.
    """

    comparator: str | None = None
    amount: float | None = None
    unit: str | None = None
    at: int = 0
    compared: Found | None = None


@dataclass(frozen=True, slots=True)
class _Predicate:
    """What happens to a quantity ("" where the subject tells): `way` is -1, 0 (same) or 1.

    `changes` turns same around; `comparative` are words such as "slower", which in a later block compare
    with the block before.
    """

    way: int
    quantity: str
    degree: _Degree = _Degree()
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
        if self.compared is not None and block == 1:
            raise Objection(
                self.compared.at, f"{self.compared.phrase!r} compares with the block before, and there is none"
            )
        is_relative = self.compared is not None or (self.comparative and block > 1)
        return dataclasses.replace(self.expectation, relative_to_block=block - 1 if is_relative else None)


def expectations(ontology: Ontology) -> Parser:
    """The parser of the Then half; its values are `Expected`."""
    owner, ego = _owner(ontology), _subject(ontology)
    quantity = named(_quantity(owner, ego))
    degree = named(_degree())
    of_ego, of_quantity = _ego_predicate(quantity, degree), _quantity_predicate(degree)
    empty = opt(Phrase(*_EMPTY))
    will = named(_will())
    return named(
        alt(
            to(
                lambda _, no, __, more, what: _expected(no, more, what),
                ego, will, empty, opt(Phrase("further")), of_ego,
            ),
            to(lambda no, __, what: _expected(no, None, what), opt(alt(_do_not(), Phrase("never"))), empty, of_ego),
            to(
                lambda quantity, no, __, more, what: _expected(no, more, _about(quantity, what)),
                quantity, will, empty, opt(Phrase("further")), of_quantity,
            ),
            _noun_form(quantity, degree, will),
        )
    )  # fmt: skip


def _owner(ontology: Ontology) -> Parser:
    """Whose speed: "the ego-vehicle's", "its", "the"."""
    words = ontology.references["ego-vehicle"]
    article = opt(Phrase("the", "our", "my", "your"))
    return alt(
        seq(article, Phrase(*words, "car", "vehicle"), opt(Phrase("'s"))),
        Phrase("its", "the", "our", "my", "your", "his", "this"),
    )


def _subject(ontology: Ontology) -> Parser:
    """The ego-vehicle; nothing else can be expected to do anything, so "it" and "the car" are it too."""
    words = ontology.references["ego-vehicle"]
    article = opt(Phrase("the", "our", "my", "your", "this", "an", "a"))
    return named(
        alt(
            seq(article, Phrase(*words)),
            seq(Phrase("the", "our", "my", "your"), Phrase("car", "vehicle")),
            Phrase("it", "we", "you"),
        )
    )


def _quantity(owner: Parser, ego: Parser) -> Parser:
    kind = Phrase("driving", "vehicle", "travel", "predicted", "current", "original", "car", "travelling", "traveling")
    speed = Phrase("speed", "velocity", "speed prediction", "speed value")
    steering = Phrase("steering angle", "steering", "angle of steering", "steering angles", "steering direction")
    of = opt(seq(Phrase("of"), ego))
    return alt(
        to(lambda *_: "speed", opt(owner), opt(kind), speed, of),
        to(lambda *_: "steering", opt(owner), opt(kind), steering, of),
    )


def _will() -> Parser:
    """Modal verbs and negation in front of a verb; the value is the negating word, if there is one."""
    modal = Phrase(
        "should", "must", "shall", "will", "would", "has to", "have to", "needs to", "need to", "ought to", "is to",
        "is expected to", "is supposed to", "is required to", "are expected to", "are supposed to", "is going to",
    )  # fmt: skip
    negation = Phrase("not", "never")
    return alt(
        to(lambda _, __, no: no, modal, opt(Phrase("also", "still", "always")), opt(negation)),
        to(lambda _, no: no, Phrase("can"), negation),
        _do_not(),
        to(lambda: None),
        to(lambda no: no, Phrase("never")),
    )


def _do_not() -> Parser:
    return to(lambda _, no: no, Phrase("do", "does", "did"), Phrase("not"))


def _verbs(bases: list[str]) -> Phrase:
    """A verb behind "should", on its own or in a command."""
    past = {"cut", "hold"}
    return Phrase(*bases, *(form for form in finite(bases) if form not in past), *("be " + g for g in gerunds(bases)))


def _degree() -> Parser:
    """How much; nothing at all is a degree too."""
    number = alt(
        Number(), to(lambda word: Numeral(float(NUMBERS[word.phrase]), word.at), Phrase(*NUMBERS))
    )
    amount = named(
        alt(
            to(lambda n, unit: _Degree(None, n.value, _UNITS[unit.phrase], unit.at), number, Phrase(*_UNITS)),
            to(lambda n: _Degree(None, n.value, None, n.at), number),
            to(lambda word: _Degree(None, 50.0, "%", word.at), Phrase("half", "a half", "one half")),
        )
    )
    by, more = Phrase("by", "of", "for"), Phrase(*_MORE, *_LESS)

    def bounded(
        before: Found | None, amount: _Degree, behind: Found | None, compared: Found | None
    ) -> _Degree:
        if before is not None and behind is not None:
            raise Objection(behind.at, f"{behind.phrase!r} is a second bound beside {before.phrase!r}")
        said = _COMPARATORS[before.phrase] if before is not None else None
        said = _AFTER[behind.phrase] if behind is not None else said
        return dataclasses.replace(amount, comparator=said, compared=compared)

    return alt(
        to(
            lambda _, before, __, *rest: bounded(before, *rest),
            opt(by),
            opt(Phrase(*_COMPARATORS)),
            opt(Phrase("by")),
            amount,
            opt(Phrase(*_AFTER)),
            opt(more),
        ),
        to(lambda word: _Degree(compared=word), more),
        to(lambda: _Degree()),
    )


def _ego_predicate(quantity: Parser, degree: Parser) -> Parser:
    """What the ego-vehicle itself does."""
    side = Phrase(*_SIDE)
    more = opt(Phrase("more", "further", "even more", "even further", "less"))
    slower = Phrase(*_SLOWER)
    same = Phrase(*_SAME)
    the_same = opt(Phrase("the same", "a constant", "constant", "the current", "its current", "its original", "the original",
                          "an unchanged", "a steady", "its", "the", "same", "its same"))  # fmt: skip

    def turned(_: object, more: Found | None, side: Found, degree: _Degree) -> _Predicate:
        if more is not None and degree.compared is not None:
            raise Objection(degree.compared.at, f"{degree.compared.phrase!r} is said twice")
        both = degree if more is None else dataclasses.replace(degree, compared=more)
        return _Predicate(_SIDE[side.phrase], "steering", both)

    def paced(_: object, early: _Degree, still: Found | None, word: Found, late: _Degree) -> _Predicate:
        if early != _Degree() and late != _Degree():
            raise Objection(word.at, f"two amounts stand around {word.phrase!r}")
        merged = late if early == _Degree() else early
        if still is not None:
            merged = dataclasses.replace(merged, compared=still)
        return _Predicate(_SLOWER[word.phrase], "speed", merged, comparative=True)

    return alt(
        to(lambda _, d: _Predicate(-1, "speed", d), _verbs(_SLOW), degree),
        to(lambda _, d: _Predicate(1, "speed", d), _verbs(_FAST), degree),
        to(paced, _verbs(_DRIVE), degree, opt(Phrase("even", "still")), slower, degree),
        to(turned, _verbs(_TURN), more, side, degree),
        to(lambda _, what, d: _Predicate(-1, what, d), _verbs(_LOWER), quantity, degree),
        to(lambda _, what, d: _Predicate(1, what, d), _verbs(_RAISE), quantity, degree),
        to(lambda _, what, __: _Predicate(0, what), _verbs(_KEEP), quantity, opt(same)),
        to(lambda _, __, what: _Predicate(0, what), _verbs(_KEEP), the_same, quantity),
        to(lambda _, what, d: _Predicate(0, what, d, changes=True), _verbs(_ALTER), quantity, degree),
    )


def _quantity_predicate(degree: Parser) -> Parser:
    """What happens to the speed or the steering angle; the quantity is filled in by `_about`."""
    fallen = Phrase(*("be " + p for p in participles(_LOWER)), *("is " + p for p in participles(_LOWER)))
    raised = Phrase(*("be " + p for p in participles(_RAISE)), *("is " + p for p in participles(_RAISE)))
    become = _verbs(["be", "become", "get"])
    stay, same, change = _verbs(_STAY), Phrase(*_SAME), _verbs(_CHANGE)

    def compared(_: object, early: _Degree, still: Found | None, word: Found, late: _Degree) -> _Predicate:
        if early != _Degree() and late != _Degree():
            raise Objection(word.at, f"two amounts stand around {word.phrase!r}")
        merged = late if early == _Degree() else early
        if still is not None:
            merged = dataclasses.replace(merged, compared=still)
        return _Predicate(_LESSENED[word.phrase], "", merged, comparative=True)

    def kept(_: object, word: Found, bound: _Degree, __: object) -> _Predicate:
        if bound.amount is None or bound.comparator is not None or bound.compared is not None:
            raise Objection(word.at, "'within' needs a plain amount")
        return _Predicate(0, "", dataclasses.replace(bound, comparator="at most"))

    return alt(
        to(lambda _, d: _Predicate(-1, "", d), alt(_verbs(_FALL), fallen), degree),
        to(lambda _, d: _Predicate(1, "", d), alt(_verbs(_RISE), raised), degree),
        to(compared, become, degree, opt(Phrase("even", "still")), Phrase(*_LESSENED), degree),
        to(lambda *_: _Predicate(0, ""), stay, same),
        to(lambda _, d: _Predicate(0, "", d, changes=True), change, degree),
        to(kept, stay, Phrase("within"), degree, opt(Phrase("of the original value", "of the original", "of the source"))),
        to(lambda _, side, d: _Predicate(_SIDE[side.phrase], "steering", d, at=side.at),
           _verbs(["turn", "move", "go", "shift"]), Phrase(*_SIDE), degree),
    )  # fmt: skip


def _noun_form(quantity: Parser, degree: Parser, will: Parser) -> Parser:
    """ "There should be a decrease in speed", "the deceleration should be at least 30 %"."""
    change = Phrase(*_FALLS)
    article = opt(Phrase("a", "an", "the", "no"))
    of = Phrase("in", "of", "to")
    be = Phrase("be", "is", "are")

    def made(no: Found | None, word: Found, quantity: str | None, degree: _Degree) -> Expected:
        way = _FALLS[word.phrase]
        if quantity is None and word.phrase not in ("deceleration", "acceleration", "slowdown"):
            raise Objection(word.at, f"{word.phrase!r} of what is not said", ("speed", "steering angle"))
        return _expected(no, None, _Predicate(way, quantity or "speed", degree, changes=way == 0))

    def there(_: object, no: Found | None, __: object, article: Found | None, word: Found, quantity: object, degree: _Degree) -> Expected:  # fmt: skip
        none = article if article is not None and article.phrase == "no" else None
        if no is not None and none is not None:
            raise Objection(none.at, "'no' is a second negation")
        named_quantity = quantity[1] if isinstance(quantity, tuple) else None
        return made(no or none, word, named_quantity, degree)

    def amounts(_: object, first: str | None, word: Found, second: object, no: Found | None, __: object, degree: _Degree) -> Expected:  # fmt: skip
        if degree.amount is None:
            raise Objection(word.at, f"how large the {word.phrase} should be is not said")
        named_quantity = first or (second[1] if isinstance(second, tuple) else None)
        return made(no, word, named_quantity, degree)

    return alt(
        to(there, Phrase("there"), will, be, article, change, opt(seq(of, quantity)), degree),
        to(lambda what, no, be, article, change, degree: there(None, no, be, article, change, (None, what), degree),
           quantity, _will(), _verbs(["have", "show"]), article, change, degree),
        to(amounts, opt(Phrase("the")), opt(quantity), change, opt(seq(of, quantity)), will, be, degree),
    )  # fmt: skip


def _about(quantity: str, predicate: _Predicate) -> _Predicate:
    """The predicate with its quantity; only steering goes left or right."""
    if predicate.quantity and predicate.quantity != quantity:
        raise Objection(predicate.at, f"the {quantity} cannot go left or right")
    return dataclasses.replace(predicate, quantity=quantity)


def _expected(negation: Found | None, further: Found | None, predicate: _Predicate) -> Expected:
    degree = predicate.degree
    compared = degree.compared or further
    if further is not None and degree.compared is not None:
        raise Objection(degree.compared.at, f"{degree.compared.phrase!r} is said twice")
    negated = negation is not None
    comparator = degree.comparator
    if degree.amount is not None and comparator in (None, "exactly") and (negated or predicate.way == 0):
        raise Objection(
            degree.at,
            "an exact amount can neither be denied nor be kept; say 'at least', 'more than', 'at most' or 'less than'",
        )
    if predicate.changes:
        # To change is not to stay the same, and to change by at least n is not to stay within less than n.
        if comparator in ("at least", "more than"):
            comparator = {"at least": "less than", "more than": "at most"}[comparator]
            negated = not negated
        elif degree.amount is None:
            negated = not negated
    if predicate.way == 0 and compared is not None:
        raise Objection(compared.at, f"what stays the same cannot do so {compared.phrase!r}")
    if compared is not None and compared.phrase in _LESS:
        if degree.amount is not None or negated:
            raise Objection(compared.at, f"{compared.phrase!r} cannot be combined with an amount or 'not'")
        comparator = "less than"
    unit = degree.unit
    if degree.amount is not None and unit is None:
        unit = "km/h" if predicate.quantity == "speed" else "degrees"
    fitting = {*(SPEED_UNITS if predicate.quantity == "speed" else STEERING_UNITS), "%"}
    if unit is not None and unit not in fitting:
        raise Objection(degree.at, f"{predicate.quantity} is not measured in {unit}", sorted(fitting))
    return Expected(
        Expectation(
            predicate.quantity, _DIRECTIONS[predicate.way], comparator, degree.amount, unit, negated
        ),
        compared,
        predicate.comparative,
    )
