"""Words that are known to be in a picture, from annotations or because they were drawn there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True, eq=False)
class Word:
    """An outline with its text; a scene keeps them as `knowledge["words"]`.

    `outline` is `float32 (k, 2)`, corners (x, y) in pixels, clockwise from the top left of the text; four
    of them in most data sets. A word that is `ignored` is there, but nobody can be expected to find it
    or blamed for doing so ("###" in ICDAR's files); its text is then empty.
    """

    outline: npt.NDArray[np.float32]
    text: str
    ignored: bool = False

    @property
    def box(self) -> tuple[float, float, float, float]:
        """x1, y1, x2, y2 around the outline."""
        x1, y1 = self.outline.min(axis=0).tolist()
        x2, y2 = self.outline.max(axis=0).tolist()
        return x1, y1, x2, y2
