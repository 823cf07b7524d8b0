"""Free rectangles: every place where one fits is enumerated, none is guessed."""

from __future__ import annotations

from typing import TypeAlias

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Mask

__all__ = ["Sums", "blocked_sums", "clear_places"]

Sums: TypeAlias = npt.NDArray[np.int32]
"""`int32 (H + 1, W + 1)`: how many blocked pixels lie above and left of each corner."""


def blocked_sums(blocked: Mask) -> Sums:
    """What `clear_places` looks up, made once for rectangles of whatever size."""
    return np.asarray(cv2.integral(blocked.view(np.uint8)), np.int32)


def clear_places(sums: Sums, size: tuple[int, int]) -> npt.NDArray[np.bool_]:
    """`bool (H - height + 1, W - width + 1)`: True where a rectangle of `size` (height, width) with its
    top left corner there lies wholly inside and covers no blocked pixel. Empty when it is too large.

    >>> blocked = np.zeros((3, 4), bool)
    >>> blocked[0, 1] = True
    >>> clear_places(blocked_sums(blocked), (2, 2)).astype(int).tolist()
    [[0, 0, 1], [1, 1, 1]]
    """
    height, width = size
    rows, columns = sums.shape[0] - height, sums.shape[1] - width
    if rows <= 0 or columns <= 0:
        return np.zeros((max(rows, 0), max(columns, 0)), np.bool_)
    left_of = sums[height:] - sums[:rows]  # in each strip of that height, blocked pixels left of a column
    return np.asarray(left_of[:, width:] == left_of[:, :columns])
