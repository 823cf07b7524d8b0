"""Checks of options: what is wrong is said in one line with the owner, the option and its value."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TypeGuard

import numpy as np

from instar.core.errors import BadInput, UnknownName
from instar.core.scene import Image


def split_names(given: str) -> list[str]:
    """`a, b,` is a and b."""
    return [name.strip() for name in given.split(",") if name.strip()]


def require_whole_number(
    system: str, option: str, value: object, *, least: int, most: int | None = None
) -> None:
    if not _is_whole(value, least, math.inf if most is None else most):
        span = f"of at least {least}" if most is None else f"between {least} and {most}"
        raise BadInput(f"{system}: {option} is {value!r}; it must be a whole number {span}")


def require_range(system: str, option: str, value: object, *, least: int) -> tuple[int, int]:
    """The two ends of a range."""
    match value:
        case (low, high) if _is_whole(low, least) and _is_whole(high, low):
            return low, high
    raise BadInput(f"{system}: {option} is {value!r}; give [least, most], whole numbers from {least} on")


def require_strings(system: str, option: str, value: object) -> tuple[str, ...]:
    """Several strings, or one alone."""
    several = (value,) if isinstance(value, str) else value
    if not (isinstance(several, (list, tuple)) and all(isinstance(one, str) for one in several)):
        raise BadInput(f"{system}: {option} is {value!r}; give a list of strings")
    return tuple(several)


def require_number(system: str, option: str, value: object, *, least: float) -> None:
    if isinstance(value, bool) or not (isinstance(value, (int, float)) and least <= value < math.inf):
        raise BadInput(f"{system}: {option} is {value!r}; it must be a number of at least {least:g}")


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


def _is_whole(value: object, least: int, most: float = math.inf) -> TypeGuard[int]:
    return not isinstance(value, bool) and isinstance(value, int) and least <= value <= most
