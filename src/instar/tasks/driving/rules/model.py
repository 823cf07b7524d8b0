"""What a rule means: blocks of conditions and an expectation, as plain values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Block", "Condition", "Entity", "Expectation", "Rule"]


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

    `op` is add, remove or replace. `count` is None where the sentence leaves it open ("the cars").
    `position` (on, in front of, behind, left of, right of, near) is relative to `reference`; things that are
    removed "from the road" have a reference and no position. `comparative` (closer, farther, larger,
    smaller, more, less) alters the change of an earlier block, from which everything else is taken over.
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

    @property
    def thing(self) -> Entity:
        return Entity(self.element, self.properties)

    def to_json(self) -> dict[str, Any]:
        """The fields; `reference_properties` only where there are any ("behind a truck")."""
        document = dataclasses.asdict(self)
        if not self.reference_properties:
            del document["reference_properties"]
        return document


@dataclass(frozen=True, slots=True)
class Expectation:
    """How the answer must change.

    `quantity` is speed or steering; `direction` decrease (right), increase (left) or same; `comparator` at
    least, more than, at most, less than or exactly. An amount without a comparator is meant exactly.
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

    def to_json(self) -> dict[str, Any]:
        document = dataclasses.asdict(self)
        if self.amount is not None and self.amount.is_integer():
            document["amount"] = int(self.amount)
        return document


@dataclass(frozen=True, slots=True)
class Block:
    """If all these conditions are made true together, the answer must do this."""

    conditions: tuple[Condition, ...]
    expectation: Expectation


@dataclass(frozen=True, slots=True)
class Rule:
    """Blocks, each with a picture of its own; the rule holds if every block does."""

    blocks: tuple[Block, ...]

    def earlier(self, block: int) -> tuple[Condition, ...]:
        """The conditions of all blocks before the one at this index, in the order they were said."""
        return tuple(condition for one in self.blocks[:block] for condition in one.conditions)
