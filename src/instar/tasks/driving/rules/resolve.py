"""From what was said to what is meant: pronouns, "the car", comparatives, weather as replacement."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from instar.tasks.driving.rules.clauses import Clause
from instar.tasks.driving.rules.grammar import Found, Objection
from instar.tasks.driving.rules.model import Condition, Entity
from instar.tasks.driving.rules.ontology import Ontology
from instar.tasks.driving.rules.things import (
    COMPARATIVES,
    INTENSITIES,
    PEOPLE,
    VAGUE,
    Mention,
    Place,
    described,
)
from instar.tasks.driving.rules.vocabulary import NUMBERS, a_or_an

_PLACES = {"position", "direction", "orientation"}
"""Properties that "turns right" does not give: a lane that turns right is still where it was."""
_GROUND = ("road", "lane", "sidewalk", "crosswalk")
_NOT_ONE = (*VAGUE, "all", "all the", "all of the", "every", "each", "other", "another")
_SIDES = {"left of": "left", "right of": "right"}


def resolve(
    ontology: Ontology, clause: Clause, before: Sequence[Condition], earlier: Sequence[Condition]
) -> Condition:
    """The condition that a clause means.

    `before` are all conditions said so far, which pronouns may refer to; `earlier` those of earlier
    blocks only, which comparatives alter.
    """
    if clause.comparative is not None:
        return _altered(ontology, clause, clause.comparative, before, earlier)
    _not_ours(ontology, clause, before)
    thing = _thing(ontology, clause.thing, before)
    place = _place(ontology, clause.place, before)
    if ontology.elements[thing.element].is_environment:
        return _environment(ontology, clause, thing)
    moved = _moved(ontology, clause, thing, place, earlier)
    if moved is not None:
        return moved
    placed = dataclasses.replace(thing, op=clause.op, **place)
    return _replaced(ontology, clause, placed) if clause.op == "replace" else placed


def as_worn(condition: Condition) -> Condition:
    """Worn lines are the lines that were there before, and are not added."""
    if condition.op != "add" or condition.element != "line" or "state" not in condition.properties:
        return condition
    kept = {name: value for name, value in condition.properties.items() if name != "state"}
    return dataclasses.replace(condition, op="replace", properties=kept, new=condition.thing)


def _moved(
    ontology: Ontology,
    clause: Clause,
    thing: Condition,
    place: Mapping[str, Any],
    earlier: Sequence[Condition],
) -> Condition | None:
    """What an earlier block added, so many metres ahead now: "he is 10 m ahead", "the car is 10 m ahead"."""
    mention = clause.thing
    if clause.op != "add" or not (mention.is_pronoun or mention.article == "the"):
        return None
    found = antecedent(ontology, thing.element, thing.properties, earlier)
    if found is None or found.op != "add" or "distance" not in place:
        if mention.is_pronoun:
            raise Objection(
                mention.at, f"what {mention.article!r} refers to is there already; say how it changes"
            )
        return None
    assert clause.place is not None, "a distance is a place"
    if not clause.place.ahead or clause.place.also is not None:
        raise Objection(clause.place.at, "say only how many metres ahead it is now")
    return dataclasses.replace(found, comparative="moved", distance=place["distance"])


def on_each_side(clause: Clause) -> tuple[Clause, ...]:
    """The clause; where something is on both sides of the road, one clause for each."""
    place = clause.place
    if place is None or place.position != "sides":
        return (clause,)
    if place.reference == "scene" or (clause.thing.count or 1) > 1:
        raise Objection(clause.thing.first, "how many are on each side is not said")
    sides = ("left of", "right of")
    return tuple(dataclasses.replace(clause, place=dataclasses.replace(place, position=s)) for s in sides)


def antecedent(
    ontology: Ontology, element: str, properties: Mapping[str, str], before: Sequence[Condition]
) -> Condition | None:
    """The last change that brought in such a thing: one just so described, else one described further."""
    brought = [
        (condition, condition.new if ontology.elements[condition.element].is_environment else condition.thing)
        for condition in reversed(before)
        if condition.op == "add" or ontology.elements[condition.element].is_environment
    ]
    fitting = [(condition, thing) for condition, thing in brought if thing and thing.element == element]
    for condition, thing in fitting:
        if thing.properties == properties:
            return condition
    for condition, thing in fitting:
        if properties.items() <= thing.properties.items():
            return condition
    return None


def _altered(
    ontology: Ontology, clause: Clause, word: Found, before: Sequence[Condition], earlier: Sequence[Condition]
) -> Condition:
    mention = clause.thing
    comparative = COMPARATIVES[word.phrase]
    if mention.is_pronoun:
        is_weather = word.phrase in INTENSITIES
        fitting = [c for c in earlier if ontology.elements[c.element].is_environment == is_weather]
        if not fitting and is_weather:
            raise Objection(
                word.at, f"{word.phrase!r} compares with an earlier block, and none changes weather or time"
            )
        found = _referred(ontology, mention, fitting)
    else:
        candidate = antecedent(ontology, mention.element, mention.properties, earlier)
        if candidate is None:
            raise Objection(
                word.at, f"{word.phrase!r} compares with an earlier block, and none adds a {mention.element}"
            )
        found = candidate
    is_environment = ontology.elements[found.element].is_environment
    if is_environment and comparative not in ("more", "less"):
        raise Objection(word.at, f"{found.element} cannot be {word.phrase!r}")
    if not is_environment and word.phrase in INTENSITIES:
        raise Objection(word.at, f"{a_or_an(found.element)} cannot be {word.phrase!r}")
    if clause.place is not None and is_environment:
        raise Objection(clause.place.at, f"{found.element} has no place")
    return dataclasses.replace(found, comparative=comparative, **_place(ontology, clause.place, before))


def _thing(ontology: Ontology, mention: Mention, before: Sequence[Condition]) -> Condition:
    if mention.is_pronoun:
        found = _referred(ontology, mention, before)
        return dataclasses.replace(found, op="", new=None, comparative=None)
    return Condition("", mention.element, mention.properties, mention.count)


def _referred(ontology: Ontology, mention: Mention, before: Sequence[Condition]) -> Condition:
    """The change whose thing a pronoun means: the last one added, and for "he" the last person."""
    added = [condition for condition in before if condition.op == "add"]
    changed = added or [c for c in before if ontology.elements[c.element].is_environment]
    if mention.article in PEOPLE:
        changed = [c for c in changed if ontology.elements[c.element].person]
    if not changed:
        raise Objection(mention.at, f"{mention.article!r} refers to nothing that was added before")
    return changed[-1]


def _place(ontology: Ontology, place: Place | None, before: Sequence[Condition]) -> dict[str, Any]:
    """The fields of a condition that say where."""
    if place is None:
        return {}
    fields = _one_place(ontology, place, before)
    if place.also is None:
        return fields
    second = _one_place(ontology, place.also, before)
    for one, other, is_ahead in ((fields, second, place.also.ahead), (second, fields, place.ahead)):
        both = _both_places(one, other, is_ahead)
        if both is not None:
            return both
    raise Objection(place.also.at, "that is a second place, and a thing has one")


def _both_places(place: dict[str, Any], seen: dict[str, Any], is_ahead: bool) -> dict[str, Any] | None:
    """What two places say together: in the left lane and 20 m ahead, on the pavement and on the right.

    All ground that is seen is ahead, so that only how far is new.
    """
    if seen["reference"] != "ego-vehicle":
        return None
    own, side = place.get("reference_properties", {}), _SIDES.get(seen["position"], "")
    if side and place["reference"] in ("sidewalk", "lane") and own.get("position", side) == side:
        return {**seen, **place, "reference_properties": {**own, "position": side}}
    is_before_us = seen["position"] == "in front of" and (place["reference"] == "lane" or "distance" in seen)
    if "distance" in place or not (is_ahead or is_before_us):
        return None
    is_beside = place["reference"] == "road" and place["position"] in _SIDES
    if place["reference"] in _GROUND and (place["position"] == "on" or is_beside or "distance" not in seen):
        return {**seen, **place}
    return {**seen, **place} if place["reference"] == "ego-vehicle" and place["position"] in _SIDES else None


def _one_place(ontology: Ontology, place: Place, before: Sequence[Condition]) -> dict[str, Any]:
    reference, described_as = place.reference, {}
    if isinstance(reference, Mention):
        mention = _landmark(ontology, reference, before)
        reference = "ego-vehicle"
        if not _is_ego(ontology, mention, before):
            reference, described_as = mention.element, {"reference_properties": mention.properties}
    position = place.position
    if position == "at":  # at the kerb is on it; at the crosswalk is beside it
        position = "on" if reference in ("road", "scene", "ego-vehicle", "sidewalk", "lane") else "near"
    if reference == "ego-vehicle" and position == "on":
        raise Objection(place.at, "nothing can be seen on or in the ego-vehicle")
    if place.metres is not None and reference != "ego-vehicle":
        raise Objection(place.at, "metres are counted from the ego-vehicle only")
    distance = {} if place.metres is None else {"distance": place.metres}
    return {"position": position, "reference": reference, **described_as, **distance}


def _landmark(ontology: Ontology, mention: Mention, before: Sequence[Condition]) -> Mention:
    """What a place is relative to."""
    if mention.is_pronoun:
        found = _referred(ontology, mention, before)
        mention = dataclasses.replace(mention, element=found.element, properties=found.properties)
    if ontology.elements[mention.element].is_environment:
        raise Objection(mention.at, f"{mention.element} is no place")
    if (mention.count or 1) > 1 or mention.article in _NOT_ONE:
        raise Objection(mention.first, "a place is relative to one thing")
    if mention.still is not None:
        raise Objection(mention.still.at, "a picture does not tell who stands and who moves")
    return mention


def _is_ego(ontology: Ontology, mention: Mention, before: Sequence[Condition]) -> bool:
    """Whether "the car" is our own: it is where no other vehicle was brought in that it could mean."""
    plain = mention.properties in ({}, {"type": "car"})
    known = antecedent(ontology, "vehicle", mention.properties, before)
    return mention.element == "vehicle" and mention.article in ("the", "our") and plain and known is None


def _not_ours(ontology: Ontology, clause: Clause, before: Sequence[Condition]) -> None:
    """Refuse "the car appears" where no other car is there that it could mean."""
    where = clause.place
    is_told_apart = where is not None and where.reference not in ("road", "scene")
    is_ours = clause.thing.article == "our" or (clause.op == "add" and not is_told_apart)
    if is_ours and not clause.thing.is_pronoun and _is_ego(ontology, clause.thing, before):
        raise Objection(clause.thing.first, "that is the ego-vehicle; say 'a car' if another is meant")


def _environment(ontology: Ontology, clause: Clause, thing: Condition) -> Condition:
    """Weather and time are always replaced, however it is said."""
    element = ontology.elements[thing.element]
    if clause.place is not None and not (element.classes and _is_on_the_road(clause.place)):
        raise Objection(clause.place.at, f"{element.name} has no place")
    if clause.op == "add":
        if not thing.properties:
            raise Objection(clause.thing.at, f"which {element.name} is not said")
        return Condition("replace", element.name, new=Entity(element.name, thing.properties))
    if clause.op == "remove":
        if not element.usual or not thing.properties:
            raise Objection(clause.thing.at, f"what {element.name} there is instead is not said")
        if element.usual == thing.properties:
            raise Objection(clause.thing.at, f"that is the usual {element.name}; say what takes its place")
        return Condition("replace", element.name, thing.properties, new=Entity(element.name, element.usual))
    return _replaced(ontology, clause, dataclasses.replace(thing, op="replace"))


def _is_on_the_road(place: Place) -> bool:
    return (
        place.reference == "road" and place.position == "on" and place.metres is None and place.also is None
    )


def _replaced(ontology: Ontology, clause: Clause, thing: Condition) -> Condition:
    assert clause.new is not None, "what is replaced is replaced by something"
    if clause.old is not None:
        old = _other(ontology, clause.old, thing.element, {})
        for name, value in old.properties.items():
            if thing.properties.get(name, value) != value:
                raise Objection(_at(clause.old), f"the {thing.element} is said to be two things at once")
        if old.element != thing.element:
            raise Objection(_at(clause.old), f"{a_or_an(old.element)} is no {thing.element}")
        thing = dataclasses.replace(thing, properties={**thing.properties, **old.properties})
    new = _other(ontology, clause.new, thing.element, thing.properties)
    environments = {e for e in (thing.element, new.element) if ontology.elements[e].is_environment}
    if environments and new.element != thing.element:
        raise Objection(_at(clause.new), f"{a_or_an(thing.element)} cannot become {new.element}")
    if new == thing.thing or not (new.properties or new.element != thing.element):
        raise Objection(_at(clause.new), "nothing is changed by that")
    return dataclasses.replace(thing, new=new)


def _other(
    ontology: Ontology, said: Mention | tuple[Found, ...], element: str, kept: Mapping[str, str]
) -> Entity:
    """A thing out of a mention, or out of adjectives that alter what the element was."""
    if not isinstance(said, Mention):
        altered = described(ontology.elements[element], {}, said)
        if altered.keys() & _PLACES:
            raise Objection(said[0].at, f"that a {element} turns is no replacement; say what takes its place")
        if ontology.elements[element].is_environment and "type" in altered:
            return Entity(element, altered)  # the fog that heavy rain becomes need not be heavy
        return Entity(element, {**kept, **altered})
    if said.is_pronoun:
        raise Objection(said.at, f"{said.article!r} cannot take the place of something; name it")
    if said.article in NUMBERS or said.article[:1].isdigit():
        raise Objection(said.first, "how many take its place cannot be said; leave the number out")
    return Entity(said.element, said.properties)


def _at(said: Mention | tuple[Found, ...]) -> int:
    return said.first if isinstance(said, Mention) else said[0].at
