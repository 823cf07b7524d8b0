"""A rule back in words, which read as the same rule again, and as a formula over the answers.

In the formula x1 is the answer on the source; x2, x3, ... are those on the pictures of the blocks.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from decimal import Decimal

from instar.tasks.driving.answers import WHEELS
from instar.tasks.driving.rules.model import Condition, Entity, Expectation, Rule
from instar.tasks.driving.rules.ontology import Ontology, usual_ontology
from instar.tasks.driving.rules.resolve import antecedent
from instar.tasks.driving.rules.vocabulary import a_or_an, plural

_POSITIONS = {"left of": "to the left of", "right of": "to the right of"}
_CLOSER = {
    "closer": "closer to the ego-vehicle",
    "farther": "farther away from the ego-vehicle",
    "larger": "larger",
    "smaller": "smaller",
}
_STRONGER = {"more": "becomes stronger", "less": "becomes weaker"}

DELTAS = {"speed": (10.0, "%"), "steering": (WHEELS["steering"], "degrees")}
"""How far an answer may move and still be the same; at the road wheels less (section 4 of the paper)."""

_SIGNS = {
    ("at least", False): ">=", ("at least", True): "<", ("more than", False): ">", ("more than", True): "<=",
    ("at most", False): "<=", ("at most", True): ">", ("less than", False): "<", ("less than", True): ">=",
    ("exactly", False): "=",
}  # fmt: skip


def format_rule(rule: Rule, *, ontology: Ontology | None = None) -> str:
    """The rule as a sentence that `read_rule` reads as the same rule.

    >>> from instar.tasks.driving.rules.read import read_rule
    >>> format_rule(read_rule("if it rains hard, brake"))
    'If: the weather changes to heavy rain, Then: the speed should decrease.'
    """
    ontology = ontology or usual_ontology()
    sentences = []
    for index, block in enumerate(rule.blocks):
        changes = [_condition(ontology, condition, rule.earlier(index)) for condition in block.changes]
        expected = " and ".join(map(_expectation, block.expectations))
        facts = [_fact(ontology, condition) for condition in block.conditions if not condition.is_change]
        sentences.append(f"If: {' and '.join(changes)}, Then: {' '.join([expected, *facts])}.")
    return " ".join(sentences)


def _name(ontology: Ontology, thing: Entity, *, is_plural: bool = False) -> str:
    """The thing without an article: "black truck", "heavy rain"."""
    element = ontology.elements[thing.element]
    noun, adjectives = element.synonyms[0], []
    said = [element.properties[name][value] for name, value in thing.properties.items()]
    for words in sorted(said, key=lambda words: bool(words.adjectives)):  # what is no adjective is the noun
        if words.nouns and noun == element.synonyms[0]:
            noun = words.nouns[0]
        else:
            adjectives.append(words.adjectives[0])
    return " ".join([*adjectives, plural(noun) if is_plural else noun])


def _amount(amount: float, unit: str | None) -> str:
    """An amount with its unit, in digits that read as the same number."""
    number = format(Decimal(repr(amount)), "f")
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return number if unit is None else number + unit if unit == "%" else f"{number} {unit}"


def _fact(ontology: Ontology, condition: Condition) -> str:
    """What the scene must show, or must not."""
    several = "are" if condition.count != 1 else "is"
    word = "where" if condition.op == "given" else "unless"
    return f"{word} there {several} {_counted(ontology, condition)}{_place(ontology, condition)}"


def _condition(ontology: Ontology, condition: Condition, earlier: Sequence[Condition]) -> str:
    if condition.comparative is not None:
        return _comparative(ontology, condition, condition.comparative, earlier)
    if ontology.elements[condition.element].is_environment:
        assert condition.new is not None, "weather and time are always replaced"
        new = _name(ontology, condition.new)
        was = f"from {_name(ontology, condition.thing)} " if condition.properties else ""
        return f"the {ontology.elements[condition.element].synonyms[0]} changes {was}to {new}"
    several, place = condition.count != 1, _place(ontology, condition)
    verb = "are" if several else "is"
    if condition.op == "add":
        return f"{_counted(ontology, condition)} {verb} added{place}"
    if condition.op == "remove":
        return f"{_counted(ontology, condition, open_article='the ')} {verb} removed{place}"
    assert condition.new is not None, "what is replaced is replaced by something"
    new = _name(ontology, condition.new, is_plural=several)
    return (
        f"{_counted(ontology, condition, open_article='the ')}{place} {verb} replaced with "
        f"{new if several else a_or_an(new)}"
    )


def _comparative(
    ontology: Ontology, condition: Condition, comparative: str, earlier: Sequence[Condition]
) -> str:
    thing = condition.new if ontology.elements[condition.element].is_environment else condition.thing
    assert thing is not None, "weather and time are always replaced"
    found = antecedent(ontology, thing.element, thing.properties, earlier)
    same = found is not None and dataclasses.replace(found, comparative=comparative) == condition
    several = condition.count != 1
    if ontology.elements[condition.element].is_environment:
        return f"the {_name(ontology, thing)} {_STRONGER[comparative]}"
    if comparative == "moved":
        assert condition.distance is not None, "it was moved so far"
        verb = "are" if several else "is"
        return f"the {_name(ontology, thing, is_plural=several)} {verb} {_metres(condition.distance)} ahead"
    place = "" if same else _place(ontology, condition)
    if comparative in ("more", "less"):
        word = "more" if comparative == "more" else "fewer"
        return f"there are {word} {_name(ontology, thing, is_plural=True)}{place}"
    if same:
        gets = f"get{'' if several else 's'} {_CLOSER[comparative]}"
        return f"the {_name(ontology, thing, is_plural=several)} {gets}"
    return f"a {comparative} {_name(ontology, thing)} is added{place}"


def _counted(ontology: Ontology, condition: Condition, *, open_article: str = "") -> str:
    thing = condition.thing
    if condition.count is None:
        return open_article + _name(ontology, thing, is_plural=True)
    if condition.count == 1:
        return a_or_an(_name(ontology, thing))
    return f"{condition.count} {_name(ontology, thing, is_plural=True)}"


def _place(ontology: Ontology, condition: Condition) -> str:
    if condition.reference is None:
        return f" at a distance of {_metres(condition.distance)}" if condition.distance else ""
    if condition.reference in ontology.references:
        reference = f"the {condition.reference}"
    else:
        name = _name(ontology, Entity(condition.reference, condition.reference_properties))
        # "The vehicle" would be our own.
        reference = a_or_an(name) if condition.reference == "vehicle" else f"the {name}"
    if condition.position is None:
        return f" from {reference}"
    if condition.position == "on" and condition.reference == "scene":
        return f" in {reference}"
    where = f"{_POSITIONS.get(condition.position, condition.position)} {reference}"
    if condition.distance is None:
        return f" {where}"
    metres, is_from_us = _metres(condition.distance), condition.reference == "ego-vehicle"
    is_aside = condition.position in _POSITIONS or not is_from_us
    return f" {where} {metres} ahead" if is_aside else f" {metres} {where}"


def _metres(distance: tuple[float, float | None]) -> str:
    """A distance in words: 20 m, within 20 m, more than 20 m, between 10 and 20 m."""
    least, most = distance
    if most is None:
        return f"more than {_amount(least, 'm')}"
    if least == most:
        return _amount(most, "m")
    return (
        f"between {_amount(least, None)} and {_amount(most, 'm')}"
        if least
        else f"within {_amount(most, 'm')}"
    )


def _expectation(expectation: Expectation) -> str:
    subject = "the speed" if expectation.quantity == "speed" else "the steering angle"
    comparator, negated, verb = expectation.comparator, expectation.negated, expectation.direction
    if expectation.direction == "value":
        return f"{subject} should be {_bounds(expectation)}"
    if expectation.direction == "same":
        if expectation.amount is None:
            return f"{subject} should {'change' if negated else 'keep the same'}"
        verb = "change"
        if negated:
            comparator = {"at most": "more than", "less than": "at least"}[comparator or ""]
            negated = False
    words = [subject, "should not" if negated else "should", verb]
    if expectation.amount is not None:
        words += ["by", _bounds(dataclasses.replace(expectation, comparator=comparator))]
    if expectation.relative_to_block is not None:
        is_less = expectation.amount is None and comparator == "less than"
        words.append("less" if is_less else "more")
    return " ".join(words)


def _bounds(expectation: Expectation) -> str:
    """How much: "at least 10 km/h", "between 10 and 20%"."""
    assert expectation.amount is not None, "bounds have an amount"
    if expectation.most is not None:
        return (
            f"between {_amount(expectation.amount, None)} and {_amount(expectation.most, expectation.unit)}"
        )
    amount = _amount(expectation.amount, expectation.unit)
    return f"{expectation.comparator} {amount}" if expectation.comparator else amount


def rule_formula(rule: Rule) -> str:
    """All blocks, which must hold together."""
    return " and ".join(f"({block_formula(rule, number)})" for number in range(1, len(rule.blocks) + 1))


def block_formula(rule: Rule, number: int) -> str:
    """One block, counted from 1: what is done to the source, and what must hold then.

    >>> from instar.tasks.driving.rules.read import read_rule
    >>> block_formula(read_rule("If a person stands on the kerb, slow down by at least 30 percent"), 1)
    'add(1 pedestrian, on, sidewalk) -> (x1 - x2)/|x1| >= 30%'
    """
    block = rule.blocks[number - 1]
    changes = " and ".join(map(_change, block.conditions))
    expected = [_inequality(expectation, number) for expectation in block.expectations]
    if len({one.quantity for one in block.expectations}) > 1:
        expected = [f"{one.quantity} {formula}" for one, formula in zip(block.expectations, expected)]
    return f"{changes} -> {' and '.join(expected)}"


def _change(condition: Condition) -> str:
    what = _thing(condition.thing)
    parts = [what if condition.count is None else f"{condition.count} {what}"]
    parts += [condition.position] if condition.position else []
    if condition.reference:
        parts.append(_thing(Entity(condition.reference, condition.reference_properties)))
    if condition.new is not None:
        parts.append(_thing(condition.new))
    parts += [_metres(condition.distance)] if condition.distance else []
    parts += [condition.comparative] if condition.comparative else []
    return f"{condition.op}({', '.join(parts)})"


def _thing(thing: Entity) -> str:
    values = "".join(f"[{name}={value}]" for name, value in thing.properties.items())
    return thing.element + values


def _inequality(expectation: Expectation, number: int) -> str:
    before = "x1" if expectation.relative_to_block is None else f"x{expectation.relative_to_block + 1}"
    after = f"x{number + 1}"
    if expectation.direction == "value":
        return _within(expectation, after)
    if expectation.direction == "same":
        amount, unit = DELTAS[expectation.quantity]
        if expectation.amount is not None:
            amount, unit = expectation.amount, expectation.unit or unit
        sign = _SIGNS[expectation.comparator or "at most", expectation.negated]
        return f"{_part(f'|{before} - {after}|', unit, before)} {sign} {_amount(amount, unit)}"
    falls = expectation.direction == "decrease"
    difference = f"{before} - {after}" if falls else f"{after} - {before}"
    if expectation.amount is None:
        if expectation.comparator == "less than":
            first = f"x1 - {after}" if falls else f"{after} - x1"
            other = f"x1 - {before}" if falls else f"{before} - x1"
            return f"0 < {first} < {other}"
        sign = _SIGNS["more than" if falls else "less than", expectation.negated]
        return f"{before} {sign} {after}"
    value = _part(f"({difference})" if expectation.unit == "%" else difference, expectation.unit, before)
    if expectation.most is not None:
        return _within(expectation, value)
    bound = _amount(expectation.amount, expectation.unit)
    sign = _SIGNS[expectation.comparator or "at least", expectation.negated]
    is_between = not expectation.negated and expectation.comparator in ("at most", "less than")
    return f"0 {sign} {value} {sign} {bound}" if is_between else f"{value} {sign} {bound}"


def _within(expectation: Expectation, value: str) -> str:
    """The value between its bounds, or on the right side of the one that it has."""
    assert expectation.amount is not None, "bounds have an amount"
    bound = _amount(expectation.amount, expectation.unit)
    if expectation.most is not None:
        return f"{bound} <= {value} <= {_amount(expectation.most, expectation.unit)}"
    return f"{value} {_SIGNS[expectation.comparator or 'at least', False]} {bound}"


def _part(difference: str, unit: str | None, before: str) -> str:
    return f"{difference}/|{before}|" if unit == "%" else difference
