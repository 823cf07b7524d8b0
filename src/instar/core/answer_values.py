"""Reading what a system answered: numbers out of anything, or a line that says what is wrong with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

MOST_OBJECTS = 10_000


def numbers(what: str, values: Any) -> npt.NDArray[np.float32]:
    """Lists, tensors or whatever numpy can read, as float32; TypeError names what cannot be read."""
    try:
        array = np.asarray(values)
    except Exception as error:  # whatever the foreign array type raises
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise TypeError(f"{what} cannot be read as numbers: {reason}") from None
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{what} cannot be read as numbers: {short(values)}")
    with np.errstate(over="ignore"):  # too large for float32 becomes infinite and is refused as that
        return array.astype(np.float32, copy=False)


def plain_list(what: str, values: Any, kind: str) -> list[Any] | tuple[Any, ...]:
    """A list out of a list, tuple or array of `kind`; a lone string is none."""
    if hasattr(values, "__array__"):
        values = np.asarray(values).tolist()
    if isinstance(values, str) or not isinstance(values, (list, tuple)):
        raise TypeError(f"{what} is {short(values)}; it must be a list of {kind}")
    return values


def require_float32(what: str, values: Any) -> None:
    """TypeError unless it is a numpy array of float32."""
    if not isinstance(values, np.ndarray) or values.dtype != np.float32:
        kind = f"an array of {values.dtype}" if isinstance(values, np.ndarray) else short(values)
        raise TypeError(f"{what} is {kind}; it must be a numpy array of float32")


def require_in_unit(what: str, values: npt.NDArray[np.float32]) -> None:
    """ValueError naming the first of the values that is not between 0 and 1; NaN is not."""
    in_range = (values >= 0) & (values <= 1)
    if not in_range.all():
        i = int(in_range.argmin())
        raise ValueError(f"{what} {i} is {values[i]!s}; it must be between 0 and 1")


def require_few(what: str, number: int) -> None:
    """ValueError where an answer has more of something than any picture has."""
    if number > MOST_OBJECTS:
        raise ValueError(f"the answer has {number:,} {what}, over the limit of {MOST_OBJECTS:,}")


def short(value: Any) -> str:
    """A value in a few words, for an error.

    >>> short([1, 2])
    'a list, [1, 2]'
    """
    text = " ".join(repr(value).split())
    return f"a {type(value).__name__}, {text if len(text) <= 60 else text[:57] + '...'}"
