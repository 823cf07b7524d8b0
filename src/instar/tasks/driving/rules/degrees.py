"""How much: "by at least 30 %", "by 10 km/h or more", "even more"."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from instar.tasks.driving.rules.english import NUMBERS
from instar.tasks.driving.rules.grammar import (
    Found,
    Numeral,
    Objection,
    Parser,
    alt,
    named,
    number,
    opt,
    phrase,
    skip,
    to,
)
from instar.tasks.driving.rules.vocabulary import THEN as then
from instar.tasks.driving.rules.vocabulary import invert

__all__ = ["NO_DEGREE", "Degree", "degrees", "one_degree"]


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
UNITS = invert(then["speed_units"] | then["steering_units"] | then["shares"])
BOUNDS, BOUNDS_BEHIND = invert(then["bounds"]), invert(then["bounds_behind"])
SHARES = invert(
    {
        50.0: ("half", "a half", "one half"),
        100 / 3: ("a third", "one third", "a third of its value"),
        200 / 3: ("two thirds",),
        75.0: ("three quarters",),
        10.0: ("a tenth", "one tenth"),
        20.0: ("a fifth", "one fifth"),
        25.0: ("a quarter", "one quarter"),
    }
)


def degrees() -> Parser:
    """The parser of degrees; where none is said, its value is `NO_DEGREE`."""
    count = alt(number(), to(lambda word: Numeral(float(NUMBERS[word.phrase]), word.at), phrase(*NUMBERS)))
    amount = named(
        alt(
            to(
                lambda number, unit: Degree(None, number.value, UNITS[unit.phrase], unit.at),
                count,
                phrase(*UNITS),
            ),
            to(lambda number: Degree(None, number.value, None, number.at), count),
            to(lambda word: Degree(None, SHARES[word.phrase], "%", word.at), phrase(*SHARES)),
        )
    )
    more = phrase(*then["more"], *then["less"])
    return named(
        alt(
            to(
                _bounded,
                skip(opt(phrase("by", "of", "for"))),
                opt(phrase(*BOUNDS)),
                skip(opt(phrase("by"))),
                amount,
                opt(phrase(*BOUNDS_BEHIND)),
                opt(phrase(*then["of_before"])),
                opt(more),
            ),
            to(lambda word: Degree(compared=word), more),
            to(lambda: NO_DEGREE),
        )
    )


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


def _bounded(
    before: Found | None,
    amount: Degree,
    behind: Found | None,
    of_before: Found | None,
    compared: Found | None,
) -> Degree:
    if before is not None and behind is not None:
        raise Objection(behind.at, f"{behind.phrase!r} is a second bound beside {before.phrase!r}")
    if of_before is not None and of_before.phrase.startswith("of") and amount.unit != "%":
        raise Objection(of_before.at, f"{of_before.phrase!r} is said of a share only")
    comparator = None
    if before is not None:
        comparator = BOUNDS[before.phrase]
    elif behind is not None:
        comparator = BOUNDS_BEHIND[behind.phrase]
    return dataclasses.replace(amount, comparator=comparator, compared=compared)
