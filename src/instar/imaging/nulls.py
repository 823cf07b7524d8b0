"""Changes that must not matter to any task that looks at pictures: re-encoding, a grey level, one pixel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from instar.core.frame import Moved
from instar.core.scene import Image, Observation
from instar.core.task import Null, Nulls
from instar.imaging.codecs import jpeg_round_trip
from instar.imaging.photometric import moved, relit


@dataclass(frozen=True)
class Reencode(Null):
    """Through JPEG and back."""

    quality: int

    def apply(self, picture: Image) -> Image:
        return jpeg_round_trip(picture, self.quality)

    def __str__(self) -> str:
        return f"JPEG {self.quality}"


@dataclass(frozen=True)
class Brighten(Null):
    """So many grey levels up or down."""

    levels: int

    def apply(self, picture: Image) -> Image:
        return relit(picture, 1, self.levels)

    def __str__(self) -> str:
        return f"{self.levels:+d} grey levels"


@dataclass(frozen=True)
class Shift(Null):
    """So many pixels right and down."""

    dx: int
    dy: int

    def apply(self, picture: Image) -> Moved:
        return Moved(moved(picture, self.dx, self.dy), [[1, 0, self.dx], [0, 1, self.dy], [0, 0, 1]])

    def __str__(self) -> str:
        return f"moved by ({self.dx}, {self.dy})"


STRIKERS = (
    Reencode(95), Brighten(1), Brighten(-1), Shift(1, 0), Shift(-1, 0), Shift(0, 1), Shift(0, -1),
)  # fmt: skip


def draw_null(source: Observation, rng: np.random.Generator) -> Null:
    """A change that must not matter and is none of the strikers, to measure false alarms with."""
    kind = rng.integers(3)
    if kind == 0:
        return Reencode(int(rng.choice([90, 91, 92, 93, 94, 96, 97, 98])))
    if kind == 1:
        return Brighten(int(rng.choice([-2, 2])))
    return Shift(int(rng.choice([-1, 1])), int(rng.choice([-1, 1])))


def usual_strikers(source: Observation) -> Sequence[Null]:
    return STRIKERS


USUAL_NULLS = Nulls(draw_null, usual_strikers, conditions=(Reencode(95), Shift(1, 0)))
