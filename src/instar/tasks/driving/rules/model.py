"""What a rule means: blocks of conditions and an expectation, as plain values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

FACTS = ("given", "unless")


@dataclass(frozen=True, slots=True)
class Entity:
    """An element of the ontology with some of its properties: a black car, heavy rain."""

    element: str
    properties: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True)
class Condition:
    """One change of the scene.

    `op` is add, remove or replace; or given or unless, which change nothing: the scene must show such a
    thing already, or must not. `count` is None where the sentence leaves it open ("the cars").
    `position` (on, in front of, behind, left of, right of, near) is relative to `reference`; things that are
    removed "from the road" have a reference and no position. `comparative` (closer, farther, larger,
    smaller, more, less, moved) alters the change of an earlier block, from which everything else is taken
    over; what is moved has another distance.
    `distance` is the least and the most in metres from the ego-vehicle, None where there is no most.
    """

    op: str
    element: str
    properties: Mapping[str, str] = field(default_factory=dict)
    count: int | None = None
    reference: str | None = None
    position: str | None = None
    new: Entity | None = None
    comparative: str | None = None
    reference_properties: Mapping[str, str] = field(default_factory=dict)
    distance: tuple[float, float | None] | None = None

    @property
    def is_change(self) -> bool:
        return self.op not in FACTS

    @property
    def thing(self) -> Entity:
        return Entity(self.element, self.properties)

    def to_json(self) -> dict[str, Any]:
        """The fields; `reference_properties` and `distance` only where there are any ("behind a truck")."""
        document = dataclasses.asdict(self)
        for name in ("reference_properties", "distance"):
            if not document[name]:
                del document[name]
        return document


@dataclass(frozen=True, slots=True)
class Expectation:
    """How the answer must change.

    `quantity` is speed or steering; `direction` decrease (right), increase (left), same, or value, where the
    answer itself is bounded and not how it changes. `comparator` is at least, more than, at most, less than,
    exactly or between, which goes from `amount` to `most`; an amount without one is meant as at least.
    `unit` is km/h, mph, m/s, degrees, radians or %. `relative_to_block` counts from 1: the block whose
    picture the answer is compared with ("decrease more"); None is the source.
    """

    quantity: str
    direction: str
    comparator: str | None = None
    amount: float | None = None
    unit: str | None = None
    negated: bool = False
    relative_to_block: int | None = None
    most: float | None = None

    def to_json(self) -> dict[str, Any]:
        document = dataclasses.asdict(self)
        if self.most is None:
            del document["most"]
        for name in ("amount", "most"):
            if document.get(name) is not None and float(document[name]).is_integer():
                document[name] = int(document[name])
        return document


@dataclass(frozen=True, slots=True)
class Block:
    """If all these conditions are made true together, the answer must do this, and `also` that."""

    conditions: tuple[Condition, ...]
    expectation: Expectation
    also: tuple[Expectation, ...] = ()

    @property
    def expectations(self) -> tuple[Expectation, ...]:
        return (self.expectation, *self.also)

    @property
    def changes(self) -> tuple[Condition, ...]:
        """The conditions that change the picture."""
        return tuple(condition for condition in self.conditions if condition.is_change)


@dataclass(frozen=True, slots=True)
class Rule:
    """Blocks, each with a picture of its own; the rule holds if every block does."""

    blocks: tuple[Block, ...]

    def earlier(self, block: int) -> tuple[Condition, ...]:
        """The conditions of all blocks before the one at this index, in the order they were said."""
        return tuple(condition for one in self.blocks[:block] for condition in one.conditions)
