"""What lies between a picture and a network, and between a network and an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.driving.answers import Control
from instar.driving.looking import SIZE, as_seen
from instar.errors import BadInput
from instar.scene import Image

__all__ = ["Eye", "Meaning"]

QUANTITIES = ("speed", "steering")


@dataclass(frozen=True, slots=True, kw_only=True)
class Eye:
    """How a picture becomes a network's input: its size, the order of its axes, and what a pixel becomes.

    Pixels that stay bytes are neither scaled nor moved.
    """

    size: tuple[int, int] = SIZE
    channels_first: bool = False
    as_bytes: bool = False
    scale: float = 1.0
    offset: float = 0.0
    bgr: bool = False

    def look(self, image: Image) -> npt.NDArray[Any]:
        """One picture as a batch of one."""
        seen = as_seen(image, self.size)
        if self.bgr:
            seen = seen[..., ::-1]
        if self.channels_first:
            seen = seen.transpose(2, 0, 1)
        seen = np.ascontiguousarray(seen)[None]
        if self.as_bytes:
            return seen
        return np.asarray(seen * np.float32(self.scale) + np.float32(self.offset), np.float32)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a network's numbers are, in order, and what one of each is in km/h or degrees to the left."""

    outputs: tuple[str, ...]
    units: tuple[float, ...]

    @classmethod
    def of(cls, said: str, *, speed_unit: float = 1.0, steering_unit: float = 1.0) -> Meaning:
        """Outputs as a text, such as "speed,steering"."""
        names = tuple(name.strip() for name in said.split(","))
        for name in names:
            if name not in QUANTITIES or names.count(name) > 1:
                raise BadInput(f"outputs {said!r}: give speed, steering or both, each once")
        units = {"speed": float(speed_unit), "steering": float(steering_unit)}
        return cls(names, tuple(units[name] for name in names))

    def control(self, numbers: Sequence[float]) -> Control:
        if len(numbers) != len(self.outputs):
            raise ValueError(f"the network gave {len(numbers)} numbers for {', '.join(self.outputs)}")
        values = {name: float(n) * unit for name, n, unit in zip(self.outputs, numbers, self.units)}
        return Control(**values)
