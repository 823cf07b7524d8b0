"""What every text locator requires of its options and of its pictures."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from instar.errors import BadInput, UnknownName
from instar.scene import Image

__all__ = ["require_fraction", "require_one_of", "require_picture", "require_whole_number"]


def require_whole_number(system: str, option: str, value: object, *, least: int) -> None:
    if isinstance(value, bool) or not (isinstance(value, int) and value >= least):
        raise BadInput(f"{system}: {option} is {value!r}; it must be a whole number of at least {least}")


def require_fraction(system: str, option: str, value: object) -> None:
    if isinstance(value, bool) or not (isinstance(value, (int, float)) and 0 <= value <= 1):
        raise BadInput(f"{system}: {option} is {value!r}; it must be a number between 0 and 1")


def require_one_of(system: str, option: str, value: object, known: Collection[str]) -> None:
    if value not in known:
        raise BadInput(f"{system}: {UnknownName(option, str(value), known)}")


def require_picture(image: Image) -> None:
    """A picture with at least one pixel; systems raise ValueError, which a campaign counts as a failure."""
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or image.size == 0:
        raise ValueError(f"the picture is {image.dtype} {image.shape}; it must be uint8 (H, W, 3)")
