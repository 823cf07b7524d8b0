"""What a system is asked and what it answers: classes with confidences, and heat maps that explain one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from instar.core.answer_values import numbers, short
from instar.core.errors import BadInput
from instar.core.scene import Image
from instar.imaging.geometry import Box
from instar.tasks.interpretation.trigger import Trigger

HeatMap: TypeAlias = npt.NDArray[np.float32]
"""`float32 (h, w)` in [-1, 1], over the whole picture, at the interpreter's own resolution. What is below
zero speaks against the label; an interpreter that cannot tell gives nothing below.
"""


@dataclass(frozen=True, eq=False)
class Classes:
    """A question: which classes does the classifier see in the picture?"""

    image: Image


@dataclass(frozen=True, eq=False)
class SeenClasses:
    """How sure the classifier is of each label, from 0 to 1.

    A twin with a backdoor also tells its `trigger`: its stamped pictures are asked about.
    """

    confidences: Mapping[str, float]
    trigger: Trigger | None = None


@dataclass(frozen=True, eq=False)
class Asked:
    """A question: why does the picture show a `label`?

    `seed` is where an interpreter that draws lots starts, so that a question has one answer. `trigger` is the
    box of a backdoor's square where one was stamped on the picture: the true reason for the label. `other` is
    another class, which the classifier is next most sure of. Without `explain` only the confidence is asked
    for, and the map may be empty.
    """

    image: Image
    label: str
    seed: int = 0
    trigger: Box | None = None
    other: str = ""
    explain: bool = True


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
        if not (float(self.heat.min()) >= -1 and float(self.heat.max()) <= 1):
            raise ValueError("the heat map has values outside of -1 to 1")


def read(asked: Any, answer: Any) -> Explanation:
    """The answer as an `Explanation`; a mapping with `confidence` and `heat` will do."""
    if isinstance(answer, Explanation):
        return answer
    if not isinstance(answer, Mapping) or not {"confidence", "heat"} <= answer.keys():
        raise TypeError(f"a {type(answer).__name__} is no explanation; give confidence and heat")
    heat = numbers("heat", answer["heat"])
    return Explanation(float(answer["confidence"]), heat, bool(answer.get("random", False)))


def read_classes(answer: Any) -> SeenClasses:
    """The answer to `Classes`; a mapping from labels to confidences will do."""
    if isinstance(answer, SeenClasses):
        return answer
    if isinstance(answer, Mapping) and all(isinstance(one, (int, float)) for one in answer.values()):
        return SeenClasses(answer)
    raise BadInput(
        "the system is no classifier with an interpreter: asked which classes it sees, it gave "
        f"{short(answer)}; it must give a mapping from labels to confidences"
    )
