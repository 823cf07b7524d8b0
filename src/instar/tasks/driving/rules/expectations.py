"""The Then half: "the ego-vehicle should slow down by at least 30 %"."""

from __future__ import annotations

import dataclasses

from instar.tasks.driving.rules.degrees import NO_DEGREE, Degree, degrees, one_degree
from instar.tasks.driving.rules.english import finite, gerunds, participles
from instar.tasks.driving.rules.expected import Expected, Predicate, about, expected
from instar.tasks.driving.rules.grammar import (
    Found,
    Objection,
    Parser,
    alt,
    named,
    only,
    opt,
    phrase,
    seq,
    skip,
    to,
)
from instar.tasks.driving.rules.ontology import Ontology
from instar.tasks.driving.rules.vocabulary import THEN as then
from instar.tasks.driving.rules.vocabulary import ways

__all__ = ["expectations"]

PACE, SIDE, SIZE, NOUNS = (ways(then[name]) for name in ("pace", "side", "size", "nouns"))


def expectations(ontology: Ontology) -> Parser:
    """The parser of the Then half; its values are `Expected`."""
    ego, degree = _ego(ontology), degrees()
    quantity = _quantity(ontology, ego)
    of_ego, of_quantity = _ego_predicate(quantity, degree), _quantity_predicate(degree)
    empty, further = skip(opt(phrase(*then["empty"]))), opt(phrase("further"))
    will = _will()
    command = opt(alt(_do_not(), phrase("never")))
    return named(
        alt(
            to(expected, skip(ego), will, empty, further, of_ego),
            to(lambda no, what: expected(no, None, what), command, empty, of_ego),
            to(
                lambda quantity, no, more, what: expected(no, more, about(quantity, what)),
                quantity,
                will,
                empty,
                further,
                of_quantity,
            ),
            to(_no_target, skip(opt(ego)), skip(will), phrase("stop")),
            *_noun_forms(quantity, degree, will),
            *_no_faster(ego, quantity),
            *_neither(ego, quantity, of_ego, of_quantity),
        )
    )


def _no_target(word: Found) -> None:
    raise Objection(word.at, "to stop is no change of so much; say by how much the speed decreases")


def _ego(ontology: Ontology) -> Parser:
    """The ego-vehicle; nothing else can be expected to do anything, so "it" and "the car" are it too."""
    article = phrase("the", "our", "my", "your", "this", "a", "an", "any", "every", "each")
    return named(
        alt(
            seq(opt(article), phrase(*ontology.references["ego-vehicle"])),
            seq(article, phrase("car", "vehicle")),
            phrase("it", "we", "you"),
        )
    )


def _quantity(ontology: Ontology, ego: Parser) -> Parser:
    owner = alt(
        seq(
            opt(phrase("the", "our", "my", "your")),
            phrase(*ontology.references["ego-vehicle"], "car", "vehicle"),
            opt(phrase("'s")),
        ),
        phrase("its", "the", "our", "my", "your", "this"),
    )
    kind = opt(phrase(*then["kinds"]))
    of = opt(seq(phrase("of"), ego))
    return named(
        alt(
            to(lambda *_: "speed", opt(owner), kind, phrase(*then["speed"]), of),
            to(lambda *_: "steering", opt(owner), kind, phrase(*then["steering"]), of),
        )
    )


def _will() -> Parser:
    """Modal verbs and negation in front of a verb; the value is the negating word, if there is one."""
    negation = phrase("not", "never")
    return named(
        alt(
            to(
                lambda no: no,
                skip(phrase(*then["modals"])),
                skip(opt(phrase("also", "still", "always"))),
                opt(negation),
            ),
            to(lambda no: no, skip(phrase("can")), negation),
            _do_not(),
            to(lambda no: no, phrase("never")),
            to(lambda: None),
        )
    )


def _do_not() -> Parser:
    return to(lambda no: no, skip(phrase("do", "does", "did")), phrase("not"))


def _verbs(verbs: list[str]) -> Parser:
    """A verb behind "should", on its own or in a command; has no value."""
    return skip(_verb_forms(verbs))


def _verb_forms(verbs: list[str]) -> Parser:
    """Like `_verbs`, with a value."""
    return phrase(*finite(verbs), *(f"be {gerund}" for gerund in gerunds(verbs)))


def _ego_predicate(quantity: Parser, degree: Parser) -> Parser:
    """What the ego-vehicle itself does."""
    more = opt(phrase("more", "further", "even more", "even further", "less"))
    even, than = opt(phrase("even", "still")), skip(opt(phrase("than before")))
    keep = _verbs(then["keep"])

    def paced(early: Degree, even: Found | None, word: Found, late: Degree) -> Predicate:
        found = one_degree(early, late, even, word.at)
        return Predicate(PACE[word.phrase], "speed", found, comparative=True)

    def turned(more: Found | None, side: Found, degree: Degree) -> Predicate:
        found = one_degree(NO_DEGREE, degree, more, side.at)
        return Predicate(SIDE[side.phrase], "steering", found)

    def made(side: Found, degree: Degree) -> Predicate:
        return Predicate(1 if "left" in side.phrase else -1, "steering", degree)

    return named(
        alt(
            to(lambda d: Predicate(-1, "speed", d), _verbs(then["slow"]), degree),
            to(lambda d: Predicate(1, "speed", d), _verbs(then["fast"]), degree),
            to(paced, _verbs(then["drive"]), degree, even, phrase(*PACE), than, degree),
            to(turned, _verbs(then["turn"]), more, phrase(*SIDE), degree),
            to(
                lambda d, side: Predicate(SIDE[side.phrase], "steering", d),
                _verbs(then["turn"]),
                only(lambda degree: degree.amount is not None, degree),
                phrase(*SIDE),
            ),
            to(
                made,
                _verbs(["make", "take"]),
                phrase("a left turn", "a left", "a right turn", "a right"),
                degree,
            ),
            to(lambda what, d: Predicate(-1, what, d), _verbs(then["lower"]), quantity, degree),
            to(lambda what, d: Predicate(1, what, d), _verbs(then["raise"]), quantity, degree),
            to(lambda what: Predicate(0, what), keep, quantity, skip(opt(phrase(*then["same"])))),
            to(lambda what: Predicate(0, what), keep, skip(opt(phrase(*then["kept"]))), quantity),
            to(lambda what, d: Predicate(0, what, d, changes=True), _verbs(then["alter"]), quantity, degree),
        )
    )


def _quantity_predicate(degree: Parser) -> Parser:
    """What happens to the speed or the steering angle; the quantity is filled in by `about`."""
    lowered = phrase(*(f"{be} {verb}" for be in ("be", "is") for verb in participles(then["lower"])))
    raised = phrase(*(f"{be} {verb}" for be in ("be", "is") for verb in participles(then["raise"])))
    stay = _verbs(then["stay"])
    even, than = opt(phrase("even", "still")), skip(opt(phrase("than before")))
    original = skip(opt(phrase("of the original value", "of the original", "of the source")))

    def sized(early: Degree, even: Found | None, word: Found, late: Degree) -> Predicate:
        found = one_degree(early, late, even, word.at)
        return Predicate(SIZE[word.phrase], "", found, comparative=True)

    def within(word: Found, bound: Degree) -> Predicate:
        if bound.amount is None or bound.comparator is not None or bound.compared is not None:
            raise Objection(word.at, "'within' needs a plain amount")
        return Predicate(0, "", dataclasses.replace(bound, comparator="at most"))

    def absolute(word: Found, bound: Degree) -> Predicate:
        if bound.amount is None:
            raise Objection(word.at, f"{word.phrase!r} what is not said", ("lower", "higher", "the same"))
        behind = word.at + len(word.phrase.split())
        raise Objection(behind, "a rule speaks of changes: say by how much it decreases or increases")

    return named(
        alt(
            to(lambda d: Predicate(-1, "", d), skip(alt(_verbs(then["fall"]), lowered)), degree),
            to(lambda d: Predicate(1, "", d), skip(alt(_verbs(then["rise"]), raised)), degree),
            to(sized, _verbs(["be", "become", "get"]), degree, even, phrase(*SIZE), than, degree),
            to(lambda *_: Predicate(0, ""), stay, phrase(*then["same"])),
            to(lambda *_: Predicate(0, ""), phrase("be kept", "be maintained", "is kept", "is maintained")),
            to(lambda d: Predicate(0, "", d, changes=True), _verbs(then["change"]), degree),
            to(within, stay, phrase("within"), degree, original),
            to(absolute, _verb_forms(then["stay"]), degree),
            to(
                lambda side, d: Predicate(SIDE[side.phrase], "steering", d, at=side.at),
                _verbs(["turn", "move", "go", "shift"]),
                phrase(*SIDE),
                degree,
            ),
        )
    )


def _noun_forms(quantity: Parser, degree: Parser, will: Parser) -> list[Parser]:
    """ "There should be a decrease in speed", "the deceleration should be at least 30 %"."""
    noun, be, exceed = phrase(*NOUNS), phrase("be", "is", "are"), phrase(*then["exceed"])
    article = opt(phrase("a", "an", "the", "no"))
    of_what = opt(to(lambda quantity: quantity, skip(phrase("in", "of", "to")), quantity))

    def changed(no: Found | None, word: Found, quantity: str | None, degree: Degree) -> Expected:
        way = NOUNS[word.phrase]
        if quantity is None and word.phrase not in ("deceleration", "acceleration", "slowdown"):
            raise Objection(word.at, f"{word.phrase!r} of what is not said", ("speed", "steering angle"))
        return expected(no, None, Predicate(way, quantity or "speed", degree, changes=way == 0))

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
        if by.phrase in then["exceed"]:
            if degree.comparator is not None:
                raise Objection(by.at, f"{by.phrase!r} is a bound already")
            degree = dataclasses.replace(degree, comparator="more than")
        return changed(no, word, quantity, degree)

    return [
        to(
            lambda no, article, which, word, what, d: there_is(no, article, word, which or what, d),
            skip(phrase("there")),
            will,
            skip(be),
            article,
            opt(quantity),
            noun,
            of_what,
            degree,
        ),
        to(
            lambda what, no, article, word, d: there_is(no, article, word, what, d),
            quantity,
            will,
            _verbs(["have", "show"]),
            article,
            noun,
            degree,
        ),
        to(measured, skip(opt(phrase("the"))), noun, of_what, will, alt(be, exceed), degree),
        to(
            lambda what, word, no, by, d: measured(word, what, no, by, d),
            quantity,
            noun,
            will,
            alt(be, exceed),
            degree,
        ),
    ]


def _no_faster(ego: Parser, quantity: Parser) -> list[Parser]:
    """ "Drive no faster", "the speed should be no higher than before"."""
    modal, no = skip(opt(phrase(*then["modals"]))), phrase("no")
    than = skip(opt(phrase("than before")))

    def paced(no: Found, word: Found) -> Expected:
        return expected(no, None, Predicate(PACE[word.phrase], "speed", comparative=True))

    def sized(what: str, no: Found, word: Found) -> Expected:
        return expected(no, None, Predicate(SIZE[word.phrase], what, comparative=True))

    return [
        to(paced, skip(opt(ego)), modal, _verbs(then["drive"]), no, phrase(*PACE), than),
        to(sized, quantity, modal, _verbs(["be", "become", "get"]), no, phrase(*SIZE), than),
    ]


def _neither(ego: Parser, quantity: Parser, of_ego: Parser, of_quantity: Parser) -> list[Parser]:
    """ "Neither accelerate nor brake", "not rise or fall": what does neither stays the same."""
    modal, neither = phrase(*then["modals"]), phrase("neither")
    no = to(lambda no: no, skip(opt(alt(modal, phrase("do", "does")))), alt(neither, phrase("not")))
    side = to(lambda word: Predicate(SIDE[word.phrase], "steering"), phrase(*SIDE))
    either = phrase("nor", "or")

    def same(no: Found, one: Predicate, word: Found, other: Predicate) -> Expected:
        is_plain = NO_DEGREE == one.degree == other.degree
        if one.quantity != other.quantity or one.way * other.way != -1 or not is_plain:
            word = no if no.phrase == "neither" else word
            raise Objection(
                word.at, f"{word.phrase!r} brings a second expectation: write a second rule for it"
            )
        return expected(None, None, Predicate(0, one.quantity))

    return [
        to(same, skip(opt(ego)), no, of_ego, either, alt(of_ego, side)),
        to(
            lambda what, no, one, word, other: same(no, about(what, one), word, about(what, other)),
            quantity,
            no,
            of_quantity,
            either,
            of_quantity,
        ),
        to(same, skip(opt(ego)), skip(opt(modal)), _verbs(then["turn"]), neither, side, phrase("nor"), side),
    ]
