"""Drawn pictures that are kept for a while: a campaign looks at each scene many times."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from instar.core.scene import Image

KEPT_BYTES = 64_000_000


def keep_pictures(
    draw: Callable[[int], Image], size: tuple[int, int]
) -> Callable[[int], Callable[[], Image]]:
    """From the index of a scene to what reads its picture, which is drawn when it is first looked at."""
    kept = lru_cache(maxsize=1 + KEPT_BYTES // (size[0] * size[1] * 3))(draw)
    # A copy, because the caller may write into what it reads and the kept picture must stay as it is.
    return lambda index: lambda: np.array(kept(index))
