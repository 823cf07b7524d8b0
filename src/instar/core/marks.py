"""A case as panels: pictures and what is marked on them, for whoever draws it (page, file, workbench)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from instar.core.scene import Image

__all__ = ["Dial", "Fate", "Mark", "Panel"]

Fate: TypeAlias = Literal["matched", "lost", "new", "moved", "renamed", "change", "unsure"]
"""What became of something that was marked; "change" is what the change itself put there, "unsure" what comes
and goes by itself: a difference that was struck out, since null changes show it too or it does not recur.
"""


@dataclass(frozen=True, slots=True)
class Mark:
    """A closed outline in pixels of the picture, what became of what it is around, and a label."""

    outline: tuple[tuple[float, float], ...]
    fate: Fate
    label: str = ""

    @classmethod
    def box(cls, box: Iterable[float], fate: Fate, label: str = "") -> Mark:
        """Around x1, y1, x2, y2.

        >>> Mark.box([0, 0, 4, 2], "lost").outline
        ((0.0, 0.0), (4.0, 0.0), (4.0, 2.0), (0.0, 2.0))
        """
        x1, y1, x2, y2 = map(float, box)
        return cls(((x1, y1), (x2, y1), (x2, y2), (x1, y2)), fate, label)


@dataclass(frozen=True, slots=True)
class Dial:
    """A number beside a picture, such as a speed; `low` and `high` are the ends of its scale."""

    name: str
    value: float
    unit: str
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One picture of a case. `heat` is `float32 (h, w)` in [0, 1], laid over the whole picture."""

    title: str
    picture: Image
    marks: tuple[Mark, ...] = ()
    dials: tuple[Dial, ...] = ()
    heat: npt.NDArray[np.float32] | None = None
