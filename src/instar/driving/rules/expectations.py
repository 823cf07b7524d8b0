"""The Then half: "the ego-vehicle should slow down by at least 30 %"."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from instar.driving.rules import then_words as then
from instar.driving.rules.degrees import NO_DEGREE, Degree, degrees, one_degree
from instar.driving.rules.english import finite, gerunds, participles
from instar.driving.rules.grammar import Found, Objection, Parser, Phrase, alt, named, only, opt, seq, to
from instar.driving.rules.model import Expectation
from instar.driving.rules.ontology import Ontology

__all__ = ["Expected", "expectations"]

_DIRECTIONS = {-1: "decrease", 0: "same", 1: "increase"}


@dataclass(frozen=True, slots=True)
class _Predicate:
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


def expectations(ontology: Ontology) -> Parser:
    """The parser of the Then half; its values are `Expected`."""
    ego, degree = _ego(ontology), degrees()
    quantity = _quantity(ontology, ego)
    of_ego, of_quantity = _ego_predicate(quantity, degree), _quantity_predicate(degree)
    empty, further = opt(Phrase(*then.EMPTY)), opt(Phrase("further"))
    will = _will()
    command = opt(alt(_do_not(), Phrase("never")))
    return named(
        alt(
            to(lambda _, no, __, more, what: _expected(no, more, what), ego, will, empty, further, of_ego),
            to(lambda no, _, what: _expected(no, None, what), command, empty, of_ego),
            to(
                lambda quantity, no, _, more, what: _expected(no, more, _about(quantity, what)),
                quantity,
                will,
                empty,
                further,
                of_quantity,
            ),
            *_noun_forms(quantity, degree, will),
            *_neither(ego, quantity, of_ego, of_quantity),
        )
    )


def _ego(ontology: Ontology) -> Parser:
    """The ego-vehicle; nothing else can be expected to do anything, so "it" and "the car" are it too."""
    article = Phrase("the", "our", "my", "your", "this", "a", "an", "any", "every", "each")
    return named(
        alt(
            seq(opt(article), Phrase(*ontology.references["ego-vehicle"])),
            seq(article, Phrase("car", "vehicle")),
            Phrase("it", "we", "you"),
        )
    )


def _quantity(ontology: Ontology, ego: Parser) -> Parser:
    owner = alt(
        seq(
            opt(Phrase("the", "our", "my", "your")),
            Phrase(*ontology.references["ego-vehicle"], "car", "vehicle"),
            opt(Phrase("'s")),
        ),
        Phrase("its", "the", "our", "my", "your", "this"),
    )
    kind = opt(Phrase(*then.KINDS))
    of = opt(seq(Phrase("of"), ego))
    return named(
        alt(
            to(lambda *_: "speed", opt(owner), kind, Phrase(*then.SPEED), of),
            to(lambda *_: "steering", opt(owner), kind, Phrase(*then.STEERING), of),
        )
    )


def _will() -> Parser:
    """Modal verbs and negation in front of a verb; the value is the negating word, if there is one."""
    negation = Phrase("not", "never")
    return named(
        alt(
            to(
                lambda _, __, no: no,
                Phrase(*then.MODALS),
                opt(Phrase("also", "still", "always")),
                opt(negation),
            ),
            to(lambda _, no: no, Phrase("can"), negation),
            _do_not(),
            to(lambda no: no, Phrase("never")),
            to(lambda: None),
        )
    )


def _do_not() -> Parser:
    return to(lambda _, no: no, Phrase("do", "does", "did"), Phrase("not"))


def _verbs(verbs: list[str]) -> Phrase:
    """A verb behind "should", on its own or in a command."""
    return Phrase(*finite(verbs), *(f"be {gerund}" for gerund in gerunds(verbs)))


def _ego_predicate(quantity: Parser, degree: Parser) -> Parser:
    """What the ego-vehicle itself does."""
    more = opt(Phrase("more", "further", "even more", "even further", "less"))
    even, than = opt(Phrase("even", "still")), opt(Phrase("than before"))

    def paced(
        _: object, early: Degree, even: Found | None, word: Found, __: object, late: Degree
    ) -> _Predicate:
        found = one_degree(early, late, even, word.at)
        return _Predicate(then.PACE[word.phrase], "speed", found, comparative=True)

    def turned(_: object, more: Found | None, side: Found, degree: Degree) -> _Predicate:
        found = one_degree(NO_DEGREE, degree, more, side.at)
        return _Predicate(then.SIDE[side.phrase], "steering", found)

    def made(_: object, side: Found, degree: Degree) -> _Predicate:
        return _Predicate(1 if "left" in side.phrase else -1, "steering", degree)

    return named(
        alt(
            to(lambda _, d: _Predicate(-1, "speed", d), _verbs(then.SLOW), degree),
            to(lambda _, d: _Predicate(1, "speed", d), _verbs(then.FAST), degree),
            to(paced, _verbs(then.DRIVE), degree, even, Phrase(*then.PACE), than, degree),
            to(turned, _verbs(then.TURN), more, Phrase(*then.SIDE), degree),
            to(
                lambda _, d, side: _Predicate(then.SIDE[side.phrase], "steering", d),
                _verbs(then.TURN),
                only(lambda degree: degree.amount is not None, degree),
                Phrase(*then.SIDE),
            ),
            to(
                made,
                _verbs(["make", "take"]),
                Phrase("a left turn", "a left", "a right turn", "a right"),
                degree,
            ),
            to(lambda _, what, d: _Predicate(-1, what, d), _verbs(then.LOWER), quantity, degree),
            to(lambda _, what, d: _Predicate(1, what, d), _verbs(then.RAISE), quantity, degree),
            to(lambda _, what, __: _Predicate(0, what), _verbs(then.KEEP), quantity, opt(Phrase(*then.SAME))),
            to(lambda _, __, what: _Predicate(0, what), _verbs(then.KEEP), opt(Phrase(*then.KEPT)), quantity),
            to(lambda _, what, d: _Predicate(0, what, d, changes=True), _verbs(then.ALTER), quantity, degree),
        )
    )


def _quantity_predicate(degree: Parser) -> Parser:
    """What happens to the speed or the steering angle; the quantity is filled in by `_about`."""
    lowered = Phrase(*(f"{be} {verb}" for be in ("be", "is") for verb in participles(then.LOWER)))
    raised = Phrase(*(f"{be} {verb}" for be in ("be", "is") for verb in participles(then.RAISE)))
    stay = _verbs(then.STAY)
    even, than = opt(Phrase("even", "still")), opt(Phrase("than before"))
    original = opt(Phrase("of the original value", "of the original", "of the source"))

    def sized(
        _: object, early: Degree, even: Found | None, word: Found, __: object, late: Degree
    ) -> _Predicate:
        found = one_degree(early, late, even, word.at)
        return _Predicate(then.SIZE[word.phrase], "", found, comparative=True)

    def within(_: object, word: Found, bound: Degree, __: object) -> _Predicate:
        if bound.amount is None or bound.comparator is not None or bound.compared is not None:
            raise Objection(word.at, "'within' needs a plain amount")
        return _Predicate(0, "", dataclasses.replace(bound, comparator="at most"))

    def absolute(word: Found, bound: Degree) -> _Predicate:
        if bound.amount is None:
            raise Objection(word.at, f"{word.phrase!r} what is not said", ("lower", "higher", "the same"))
        behind = word.at + len(word.phrase.split())
        raise Objection(behind, "a rule speaks of changes: say by how much it decreases or increases")

    return named(
        alt(
            to(lambda _, d: _Predicate(-1, "", d), alt(_verbs(then.FALL), lowered), degree),
            to(lambda _, d: _Predicate(1, "", d), alt(_verbs(then.RISE), raised), degree),
            to(sized, _verbs(["be", "become", "get"]), degree, even, Phrase(*then.SIZE), than, degree),
            to(lambda *_: _Predicate(0, ""), stay, Phrase(*then.SAME)),
            to(lambda *_: _Predicate(0, ""), Phrase("be kept", "be maintained", "is kept", "is maintained")),
            to(lambda _, d: _Predicate(0, "", d, changes=True), _verbs(then.CHANGE), degree),
            to(within, stay, Phrase("within"), degree, original),
            to(absolute, stay, degree),
            to(
                lambda _, side, d: _Predicate(then.SIDE[side.phrase], "steering", d, at=side.at),
                _verbs(["turn", "move", "go", "shift"]),
                Phrase(*then.SIDE),
                degree,
            ),
        )
    )


def _noun_forms(quantity: Parser, degree: Parser, will: Parser) -> list[Parser]:
    """ "There should be a decrease in speed", "the deceleration should be at least 30 %"."""
    noun, be, exceed = Phrase(*then.NOUNS), Phrase("be", "is", "are"), Phrase(*then.EXCEED)
    article = opt(Phrase("a", "an", "the", "no"))
    of_what = opt(to(lambda _, quantity: quantity, Phrase("in", "of", "to"), quantity))

    def changed(no: Found | None, word: Found, quantity: str | None, degree: Degree) -> Expected:
        way = then.NOUNS[word.phrase]
        if quantity is None and word.phrase not in ("deceleration", "acceleration", "slowdown"):
            raise Objection(word.at, f"{word.phrase!r} of what is not said", ("speed", "steering angle"))
        return _expected(no, None, _Predicate(way, quantity or "speed", degree, changes=way == 0))

    def there_is(
        no: Found | None, article: Found | None, word: Found, quantity: str | None, degree: Degree
    ) -> Expected:
        none = article if article is not None and article.phrase == "no" else None
        if no is not None and none is not None:
            raise Objection(none.at, "'no' is a second negation")
        return changed(no or none, word, quantity, degree)

    def measured(word: Found, quantity: str | None, no: Found | None, by: Found, degree: Degree) -> Expected:
        if degree.amount is None:
            raise Objection(word.at, f"how large the {word.phrase} should be is not said")
        if by.phrase in then.EXCEED:
            if degree.comparator is not None:
                raise Objection(by.at, f"{by.phrase!r} is a bound already")
            degree = dataclasses.replace(degree, comparator="more than")
        return changed(no, word, quantity, degree)

    return [
        to(
            lambda _, no, __, article, which, word, what, d: there_is(no, article, word, which or what, d),
            Phrase("there"),
            will,
            be,
            article,
            opt(quantity),
            noun,
            of_what,
            degree,
        ),
        to(
            lambda what, no, _, article, word, d: there_is(no, article, word, what, d),
            quantity,
            will,
            _verbs(["have", "show"]),
            article,
            noun,
            degree,
        ),
        to(
            lambda _, word, what, no, by, d: measured(word, what, no, by, d),
            opt(Phrase("the")),
            noun,
            of_what,
            will,
            alt(be, exceed),
            degree,
        ),
        to(
            lambda what, word, no, by, d: measured(word, what, no, by, d),
            quantity,
            noun,
            will,
            alt(be, exceed),
            degree,
        ),
    ]


def _neither(ego: Parser, quantity: Parser, of_ego: Parser, of_quantity: Parser) -> list[Parser]:
    """ "Neither accelerate nor brake", "not rise or fall": what does neither stays the same."""
    modal, neither = Phrase(*then.MODALS), Phrase("neither")
    no = to(lambda _, no: no, opt(alt(modal, Phrase("do", "does"))), alt(neither, Phrase("not")))
    side = to(lambda word: _Predicate(then.SIDE[word.phrase], "steering"), Phrase(*then.SIDE))
    either = Phrase("nor", "or")

    def same(no: Found, one: _Predicate, word: Found, other: _Predicate) -> Expected:
        is_plain = NO_DEGREE == one.degree == other.degree
        if one.quantity != other.quantity or one.way * other.way != -1 or not is_plain:
            word = no if no.phrase == "neither" else word
            raise Objection(
                word.at, f"{word.phrase!r} brings a second expectation: write a second rule for it"
            )
        return _expected(None, None, _Predicate(0, one.quantity))

    return [
        to(lambda _, *said: same(*said), opt(ego), no, of_ego, either, alt(of_ego, side)),
        to(
            lambda what, no, one, word, other: same(no, _about(what, one), word, _about(what, other)),
            quantity,
            no,
            of_quantity,
            either,
            of_quantity,
        ),
        to(
            lambda _, __, ___, *said: same(*said),
            opt(ego),
            opt(modal),
            _verbs(then.TURN),
            neither,
            side,
            Phrase("nor"),
            side,
        ),
    ]


def _about(quantity: str, predicate: _Predicate) -> _Predicate:
    """The predicate with its quantity; only steering goes left or right."""
    if predicate.quantity and predicate.quantity != quantity:
        raise Objection(predicate.at, f"the {quantity} cannot go left or right")
    return dataclasses.replace(predicate, quantity=quantity)


def _expected(negation: Found | None, further: Found | None, predicate: _Predicate) -> Expected:
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
        if compared.phrase in then.LESS:
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
    units = then.SPEED_UNITS if quantity == "speed" else then.STEERING_UNITS
    if degree.unit is None:
        return next(iter(units))
    if degree.unit not in (*units, "%"):
        raise Objection(degree.at, f"{quantity} is not measured in {degree.unit}", (*units, "%"))
    return degree.unit
