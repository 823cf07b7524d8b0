"""What a Then half adds to the conditions of its block, and its expectations."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from instar.tasks.driving.rules.amounts import NO_DEGREE, Degree
from instar.tasks.driving.rules.clauses import Clauses
from instar.tasks.driving.rules.expected import Expected, Predicate, expected, sized
from instar.tasks.driving.rules.grammar import Found, Objection
from instar.tasks.driving.rules.model import Condition, Expectation
from instar.tasks.driving.rules.ontology import Ontology
from instar.tasks.driving.rules.resolve import resolve
from instar.tasks.driving.rules.things import Mention

Fact = tuple[Found, str, Clauses]
"""The word for something that the scene must show or must not, given or unless, and what."""


@dataclass(frozen=True, slots=True)
class Then:
    """A Then half: expectations, what they compare with ("than by day"), and facts with the word for them."""

    expected: tuple[Expected, ...]
    than: tuple[Found, Mention] | None = None
    facts: tuple[Fact, ...] = ()


def then(
    first: Expected,
    rest: Sequence[Expected],
    than: tuple[Found, Mention] | None,
    facts: Sequence[Fact],
    both: Found | None = None,
) -> Then:
    if both is not None and not rest and first.also is None:
        raise Objection(both.at, "'both' needs two expectations")
    return Then((first, *rest), than, tuple(facts))


def halting(predicate: Predicate, no: Found | None = None) -> Then:
    return Then((expected(predicate, no),))


def alone(said: Expected) -> Then:
    return Then((said,))


def less_than(
    word: Found,
    than: tuple[Found, Mention],
    late: Degree,
    facts: Sequence[Fact],
    quantity: str,
    no: Found | None = None,
) -> Then:
    """ "Lower than in dry weather by at least 10 %"."""
    return Then((expected(sized(NO_DEGREE, None, word, late), no, quantity=quantity),), than, tuple(facts))


def lowered_from(
    quantity: str,
    than: tuple[Found, Mention],
    late: Degree,
    facts: Sequence[Fact],
    no: Found | None = None,
) -> Then:
    """ "Reduced from its daytime value by 5 km/h"."""
    return Then((expected(Predicate(-1, quantity, late, comparative=True), no),), than, tuple(facts))


def than(word: Found, air: Mention) -> tuple[Found, Mention]:
    return word, air


def fact(word: Found, clauses: Clauses, op: str) -> Fact:
    """Something that the scene must show, or must not."""
    for clause in clauses:
        if clause.op != "add" or clause.comparative is not None or clause.thing.is_pronoun:
            raise Objection(word.at, f"{word.phrase!r} needs something that is there or not")
    return word, op, clauses


def in_block(then: Then, number: int) -> tuple[Expectation, tuple[Expectation, ...]]:
    """The first expectation of the block with this number, and the others; said twice is said once."""
    said: list[Expectation] = []
    for one in then.expected:
        said += [one.in_block(number), *([one.also] if one.also is not None else [])]
    first, *rest = dict.fromkeys(said)
    return first, tuple(rest)


def compare_with(conditions: Sequence[Condition], then: Then) -> list[Condition]:
    """The conditions; "slower than by day" says what the weather or the time was before."""
    if then.than is None:
        return list(conditions)
    word, was = then.than
    is_said = [one.comparative or one.expectation.direction == "same" for one in then.expected]
    if not any(is_said):
        raise Objection(word.at, "'than' needs a word such as slower")
    result = [
        dataclasses.replace(condition, properties=was.properties)
        if condition.element == was.element and condition.is_change and not condition.properties
        else condition
        for condition in conditions
    ]
    said = any(
        condition.element == was.element and condition.properties == was.properties for condition in result
    )
    if not said:
        raise Objection(word.at, f"the If half says nothing of another {was.element}")
    return result


def facts_of(ontology: Ontology, then: Then, before: Sequence[Condition]) -> list[Condition]:
    """What the scene must show, or must not; what the rule brings in itself is there."""
    facts: list[Condition] = []
    for word, op, clauses in then.facts:
        for clause in clauses:
            condition = resolve(ontology, clause, before, ())
            if ontology.elements[condition.element].is_environment:
                raise Objection(word.at, f"{word.phrase!r} is said of things only: the weather is no thing")
            if (condition.count or 1) > 1:
                raise Objection(clause.thing.first, "how many are there is not counted")
            facts.append(dataclasses.replace(condition, op=op, count=None))
    brought = {condition.element for condition in before if condition.op in ("add", "replace")}
    for one in then.expected:
        given = one.given
        if given is not None and given.element and given.element not in brought:
            facts.append(Condition("given", given.element, given.properties))
    return facts


MEANINGS = (alone, fact, halting, less_than, lowered_from, than, then)
