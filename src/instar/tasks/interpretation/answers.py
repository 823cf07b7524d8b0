"""What an interpreter is asked and what it answers: a picture and a class, a confidence and a heat map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from instar.core.answer_values import numbers
from instar.core.scene import Image

__all__ = ["Asked", "Box", "Explanation", "HeatMap", "accept"]

HeatMap: TypeAlias = npt.NDArray[np.float32]
"""`float32 (h, w)` in [0, 1], over the whole picture, at the interpreter's own resolution."""

Box: TypeAlias = tuple[float, float, float, float]
"""x1, y1, x2, y2 in pixels of the picture, right and bottom exclusive."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A question: why does the picture show a `label`?

    `seed` is where an interpreter that draws lots starts, so that a question has one answer. `trigger` is the
    box of a backdoor's square where one was stamped on the picture: the true reason for the label.
    """

    image: Image
    label: str
    seed: int = 0
    trigger: Box | None = None


@dataclass(frozen=True, eq=False)
class Explanation:
    """How sure the classifier is of the label, from 0 to 1, and where in the picture that comes from.

    `random` says that the interpreter draws lots, which the seed of the question decides.
    """

    confidence: float
    heat: HeatMap
    random: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.confidence <= 1:
            raise ValueError(f"the confidence is {self.confidence}; it must lie between 0 and 1")
        if self.heat.ndim != 2 or not self.heat.size:
            raise ValueError(f"the heat map has shape {self.heat.shape}; it must be (height, width)")
        if not (float(self.heat.min()) >= 0 and float(self.heat.max()) <= 1):
            raise ValueError("the heat map has values outside of 0 to 1")


def accept(asked: Any, answer: Any) -> Explanation:
    """The answer as an `Explanation`; a mapping with `confidence` and `heat` will do."""
    if isinstance(answer, Explanation):
        return answer
    if not isinstance(answer, Mapping) or not {"confidence", "heat"} <= answer.keys():
        raise TypeError(f"a {type(answer).__name__} is no explanation; give confidence and heat")
    heat = numbers("heat", answer["heat"])
    return Explanation(float(answer["confidence"]), heat, bool(answer.get("random", False)))
