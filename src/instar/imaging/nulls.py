"""Changes that must do nothing, and conditions that must not matter, alike in every family."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from instar.core.relation import Change
from instar.core.scene import Image, Observation
from instar.imaging.codecs import jpeg_round_trip
from instar.imaging.photometric import brightened, moved

__all__ = [
    "CONDITIONS",
    "Brighten",
    "Conditioned",
    "Reencode",
    "Shift",
    "again",
    "displacement",
    "fixed_nulls",
    "fresh_null",
    "null",
    "null_made",
    "under",
]

CONDITIONS = ("jpeg", "shift")  # under each of them a finding must recur
JPEG_QUALITY = 95
STEP = (1, 0)  # right and down, of the condition "shift"


@dataclass(frozen=True)
class Conditioned(Change):
    """A change that can be repeated under a condition that must not matter."""

    condition: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class Reencode(Conditioned):
    """Through JPEG and back."""

    quality: int

    def __str__(self) -> str:
        return f"JPEG {self.quality}"


@dataclass(frozen=True)
class Brighten(Conditioned):
    """So many grey levels up or down."""

    levels: int

    def __str__(self) -> str:
        return f"{self.levels:+d} grey levels"


@dataclass(frozen=True)
class Shift(Conditioned):
    """So many pixels right and down."""

    dx: int
    dy: int

    def __str__(self) -> str:
        return f"moved by ({self.dx}, {self.dy})"


def null_made(image: Image, change: Change) -> Image:
    """The picture after a change that must do nothing; TypeError for any other change."""
    match change:
        case Reencode():
            return jpeg_round_trip(image, change.quality)
        case Brighten():
            return brightened(image, change.levels)
        case Shift():
            return moved(image, change.dx, change.dy)
    raise TypeError(f"{type(change).__name__} is no change of this family")


def under(image: Image, condition: str) -> Image:
    """The picture under a condition that must not matter; without one, as it is."""
    if condition == "jpeg":
        return jpeg_round_trip(image, JPEG_QUALITY)
    return moved(image, *STEP) if condition == "shift" else image


def displacement(change: Conditioned) -> tuple[int, int]:
    """How far a null change and the condition move everything: right and down, in pixels."""
    dx, dy = (change.dx, change.dy) if isinstance(change, Shift) else (0, 0)
    return (dx + STEP[0], dy + STEP[1]) if change.condition == "shift" else (dx, dy)


def fixed_nulls() -> Iterator[Conditioned]:
    """The seven changes that strike findings out."""
    yield Reencode(95)
    yield from (Brighten(1), Brighten(-1))
    yield from (Shift(1, 0), Shift(-1, 0), Shift(0, 1), Shift(0, -1))


def fresh_null(rng: np.random.Generator) -> Conditioned:
    """A change that must do nothing and is none of the seven, to measure false alarms with."""
    kind = rng.integers(3)
    if kind == 0:
        return Reencode(int(rng.choice([90, 91, 92, 93, 94, 96, 97, 98])))
    if kind == 1:
        return Brighten(int(rng.choice([-2, 2])))
    return Shift(int(rng.choice([-1, 1])), int(rng.choice([-1, 1])))


def null(source: Observation, rng: np.random.Generator) -> Iterator[Change]:
    """`Relation.null`: the fresh one first, then the seven."""
    yield fresh_null(rng)
    yield from fixed_nulls()


def again(source: Observation, change: Any) -> Iterator[Change]:
    """`Relation.again`: the same change under each condition."""
    for condition in CONDITIONS:
        yield replace(change, condition=condition)
