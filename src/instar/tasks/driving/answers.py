"""What a driving system answers: a speed, a steering angle, or both."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["QUANTITIES", "UNIT_OF", "Control", "read"]

UNIT_OF = {"speed": "km/h", "steering": "degrees"}
QUANTITIES = tuple(UNIT_OF)


@dataclass(frozen=True, slots=True)
class Control:
    """`speed` in km/h and `steering` in degrees, + to the left; None where the system does not say."""

    speed: float | None = None
    steering: float | None = None

    def __str__(self) -> str:
        """For somebody who only drives."""
        lines = []
        if self.speed is not None:
            lines.append(f"speed {self.speed:.1f} km/h")
        if self.steering is not None:
            side = "left" if self.steering > 0 else "right"
            lines.append(f"steering wheel {abs(self.steering):.1f}° to the {side}")
        return "\n".join(lines)


def read(input: Any, answer: Any) -> Control:
    """A control, or a mapping with the keys speed and steering, as a checked `Control`.

    >>> read(None, {"speed": 41.5})
    Control(speed=41.5, steering=None)
    """
    if isinstance(answer, Control):
        given: Mapping[str, Any] = {"speed": answer.speed, "steering": answer.steering}
    elif isinstance(answer, Mapping):
        given = answer
    else:
        raise TypeError(f"a control is a mapping with speed and steering, not {type(answer).__name__}")
    unknown = [key for key in given if key not in QUANTITIES]
    if unknown:
        raise ValueError(f"a control has a speed and a steering angle, but no {unknown[0]!r}")
    return Control(**{name: _number(name, given.get(name)) for name in QUANTITIES})


def _number(name: str, value: Any) -> float | None:
    if value is None:
        return None
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"the {name} is {number}")
    return number
