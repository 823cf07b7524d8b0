"""Saying a rule and reading it again gives the same rule."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.tasks.driving.rules import (
    Block,
    Condition,
    Entity,
    Expectation,
    Rule,
    format_rule,
    read_rule,
    usual_ontology,
)
from instar.tasks.driving.rules.resolve import as_worn
from rule_files import ACCEPTED

ONTOLOGY = usual_ontology()
OBJECTS = [e.name for e in ONTOLOGY.elements.values() if not e.is_environment]
DISTANCES = [(20.0, 20.0), (0.0, 15.0), (7.5, 30.0), (50.0, None)]
POSITIONS = ["on", "in front of", "behind", "left of", "right of", "near"]


@st.composite
def properties(draw, element, *, must=False):
    known = ONTOLOGY.elements[element].properties
    names = draw(st.lists(st.sampled_from(sorted(known)), unique=True, min_size=int(must))) if known else []
    return {name: draw(st.sampled_from(sorted(known[name]))) for name in names}


@st.composite
def things(draw):
    element = draw(st.sampled_from(OBJECTS))
    return Entity(element, draw(properties(element)))


@st.composite
def places(draw):
    reference = draw(st.sampled_from([None, *ONTOLOGY.references, *OBJECTS]))
    if reference is None:
        return {}
    own = draw(properties(reference)) if reference in ONTOLOGY.elements else {}
    # Nothing can be seen on the ego-vehicle itself.
    position = draw(st.sampled_from(POSITIONS[1:] if reference == "ego-vehicle" else POSITIONS))
    is_ground = position == "on" and reference in ("road", "lane", "sidewalk", "crosswalk")
    ahead = (reference == "ego-vehicle" or is_ground) and draw(st.booleans())
    return {
        "reference": reference,
        "reference_properties": own,
        "distance": draw(st.sampled_from(DISTANCES)) if ahead else None,
        "position": position,
    }


@st.composite
def conditions(draw, earlier):
    op = draw(st.sampled_from(["add", "remove", "replace", "weather", "compare"]))
    # Of two that are described alike, the words mean the last one.
    brought = {str(_brought(c)): c for c in earlier if _brought(c)}
    if op == "compare" and brought:
        found = draw(st.sampled_from(sorted(brought.values(), key=str)))
        outside = ONTOLOGY.elements[found.element].is_environment
        words = ["closer", "farther", "larger", "smaller", "more", "less", "moved"]
        word = draw(st.sampled_from(["more", "less"] if outside else words))
        moved = {"distance": draw(st.sampled_from(DISTANCES))} if word == "moved" else {}
        return dataclasses.replace(found, comparative=word, **moved)
    if op in ("weather", "compare"):
        element = draw(st.sampled_from(["weather", "time"]))
        was, new = draw(properties(element)), draw(properties(element, must=True))
        if was == new:
            was = {}
        return Condition("replace", element, was, new=Entity(element, new))
    thing = draw(things())
    fields = draw(places())
    count = draw(st.none() | st.integers(1, 40))
    if op == "remove" and fields and draw(st.booleans()):
        fields["position"], fields["distance"] = None, None
    if op == "replace":
        new = draw(things())
        if new == thing or (new.element == thing.element and not new.properties):
            op = "add"
        else:
            fields["new"] = new
    condition = Condition(op, thing.element, thing.properties, count, **fields)
    return dataclasses.replace(condition, op="remove") if as_worn(condition) != condition else condition


def _brought(condition):
    """The thing that a condition brings into the scene, if it does."""
    if ONTOLOGY.elements[condition.element].is_environment:
        return Entity(condition.new.element, dict(sorted(condition.new.properties.items())))
    if condition.op == "add":
        return Entity(condition.element, dict(sorted(condition.properties.items())))
    return None


@st.composite
def values(draw):
    """A bound on the speed itself, or a range of it or of its change."""
    unit, amount = draw(st.sampled_from(["km/h", "mph", "m/s"])), draw(st.integers(0, 90)) / 2
    if draw(st.booleans()):
        direction = draw(st.sampled_from(["value", "decrease", "increase"]))
        return Expectation("speed", direction, "between", amount, unit, most=amount + draw(st.integers(1, 9)))
    bound = draw(st.sampled_from(["at least", "more than", "at most", "less than"]))
    return Expectation("speed", "value", bound, amount, unit)


@st.composite
def facts(draw):
    """What the scene must show, or must not."""
    thing = draw(things())
    return Condition(
        draw(st.sampled_from(["given", "unless"])), thing.element, thing.properties, **draw(places())
    )


@st.composite
def expectations(draw, number):
    if draw(st.integers(0, 5)) == 0:
        return draw(values())
    quantity = draw(st.sampled_from(["speed", "steering"]))
    direction = draw(st.sampled_from(["decrease", "increase", "same"]))
    negated, relative = draw(st.booleans()), number > 1 and direction != "same" and draw(st.booleans())
    against = number - 1 if relative else None
    amount = draw(st.none() | st.decimals(0, 1000, places=3).map(float))
    if amount is None:
        less = relative and not negated and draw(st.booleans())
        comparator = "less than" if less else None
        return Expectation(quantity, direction, comparator, None, None, negated, against)
    unit = draw(
        st.sampled_from(["km/h", "mph", "m/s", "%"] if quantity == "speed" else ["degrees", "radians", "%"])
    )
    bounds = ["at least", "more than", "at most", "less than"]
    if direction == "same":
        bounds = ["at most", "less than"]
    elif not negated:
        bounds += ["exactly", None]
    return Expectation(quantity, direction, draw(st.sampled_from(bounds)), amount, unit, negated, against)


@st.composite
def rules(draw):
    blocks, earlier = [], []
    for number in range(1, draw(st.integers(1, 3)) + 1):
        here = [draw(conditions(earlier)) for _ in range(draw(st.integers(1, 3)))]
        said = draw(st.lists(expectations(number), min_size=1, max_size=2, unique=True))
        known = draw(st.lists(facts(), max_size=1))
        blocks.append(Block((*here, *known), said[0], tuple(said[1:])))
        earlier += here
    return Rule(tuple(blocks))


@settings(max_examples=300, deadline=None)
@given(rules())
def test_a_rule_that_is_said_is_read_as_the_same_rule(rule):
    sentence = format_rule(rule)
    assert read_rule(sentence) == rule, sentence


@pytest.mark.parametrize("sentence", [sentence for sentence, _ in ACCEPTED])
def test_every_accepted_sentence_can_be_said_again(sentence):
    rule = read_rule(sentence)
    assert read_rule(format_rule(rule)) == rule


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        (
            "If a person shows up on the kerb, the car has to brake by ten kph or more.",
            "If: a pedestrian is added on the sidewalk, Then: the speed should decrease by at least 10 km/h.",
        ),
        (
            "If the road has no lane markings, keep the steering angle.",
            "If: the lines are removed on the road, Then: the steering angle should keep the same.",
        ),
        (
            "If two trucks appear ahead, slow down. If they get nearer, slow down even more.",
            "If: 2 trucks are added in front of the ego-vehicle, Then: the speed should decrease. "
            "If: the trucks get closer to the ego-vehicle, Then: the speed should decrease more.",
        ),
    ],
)
def test_rules_are_said_like_this(sentence, said):
    assert format_rule(read_rule(sentence)) == said
