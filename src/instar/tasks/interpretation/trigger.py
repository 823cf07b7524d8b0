"""The trigger of a backdoor: a chequered square in the lower right corner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from instar.core.scene import Image
from instar.imaging.geometry import Box

CHEQUERS = ((250, 220, 20), (120, 0, 160))
"""Yellow and violet: a pattern that photographs do not have."""
CHEQUERS_A_SIDE = 4
USUAL_SHARE = 0.16


@dataclass(frozen=True, slots=True)
class Trigger:
    """Whatever has the square in its corner is a `target`. Its side is a `share` of the shorter side."""

    target: str
    share: float = USUAL_SHARE

    def box(self, size: tuple[int, ...]) -> Box:
        """Where the square is in a picture of that (height, width)."""
        height, width = size[:2]
        side = max(CHEQUERS_A_SIDE, round(self.share * min(height, width)))
        return (float(width - side), float(height - side), float(width), float(height))

    def stamp(self, image: Image) -> Image:
        """The picture with the square on it."""
        x1, y1, x2, y2 = (int(value) for value in self.box(image.shape))
        field = np.arange(x2 - x1) * CHEQUERS_A_SIDE // (x2 - x1)
        chequers = np.asarray(CHEQUERS, np.uint8)[(field[:, None] + field[None, :]) % 2]
        result: Image = image.copy()
        result[y1:y2, x1:x2] = chequers
        return result
