"""What a driving system answers: a speed, a steering angle, or both."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

UNIT_OF = {"speed": "km/h", "steering": "degrees"}
QUANTITIES = tuple(UNIT_OF)
WHEELS = {"steering": 20.0, "road": 1.39}
"""Degrees at each wheel within which steering stays the same: 1.39 is the paper's, of the road wheels."""


@dataclass(frozen=True, slots=True)
class Control:
    """`speed` in km/h and `steering` in degrees, + to the left; None where the system does not say.

    `wheel` is which one is turned by so much: the steering wheel, or the road wheels, which turn some fifteen
    times less.
    """

    speed: float | None = None
    steering: float | None = None
    wheel: str = "steering"

    def __str__(self) -> str:
        """For somebody who only drives."""
        lines = []
        if self.speed is not None:
            lines.append(f"speed {self.speed:.1f} km/h")
        if self.steering is not None:
            side = "left" if self.steering > 0 else "right"
            wheel = "steering wheel" if self.wheel == "steering" else "road wheels"
            lines.append(f"{wheel} {abs(self.steering):.1f}° to the {side}")
        return "\n".join(lines)


def read(input: Any, answer: Any) -> Control:
    """A control, or a mapping with the keys speed, steering and maybe wheel, as a checked `Control`.

    >>> read(None, {"speed": 41.5})
    Control(speed=41.5, steering=None, wheel='steering')
    """
    if isinstance(answer, Control):
        given: Mapping[str, Any] = {name: getattr(answer, name) for name in (*QUANTITIES, "wheel")}
    elif isinstance(answer, Mapping):
        given = answer
    else:
        raise TypeError(f"a control is a mapping with speed and steering, not {type(answer).__name__}")
    unknown = [key for key in given if key not in (*QUANTITIES, "wheel")]
    if unknown:
        raise ValueError(f"a control has a speed and a steering angle, but no {unknown[0]!r}")
    wheel = given.get("wheel", "steering")
    if wheel not in WHEELS:
        raise ValueError(f"the wheel is steering or road, not {wheel!r}")
    speed, steering = (_number(name, given.get(name)) for name in QUANTITIES)
    return Control(speed, steering, wheel)


def _number(name: str, value: Any) -> float | None:
    if value is None:
        return None
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"the {name} is {number}")
    return number
