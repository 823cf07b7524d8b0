"""From a picture to a network's input, and from a network's output to an answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.core.scene import Image
from instar.core.system import describe_error
from instar.tasks.driving.answers import QUANTITIES, Control

SIZE = (160, 320)
"""Height and width, as in the paper."""


def preprocess(image: Image, size: tuple[int, int] = SIZE) -> Image:
    """The picture at that size (height, width), undistorted.

    Of a picture that is too tall the top rows go, as in the paper, because what matters stands below; of one
    that is too wide both sides.
    """
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(f"the picture is {image.dtype} {image.shape}; it must be uint8 (H, W, 3)")
    tall, wide = size
    kept = image[crop_slices(image.shape[:2], size)]
    if kept.shape[:2] == size:
        return np.ascontiguousarray(kept)
    shrinks = kept.shape[0] >= tall
    seen = cv2.resize(kept, (wide, tall), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)
    return np.asarray(seen, np.uint8)


def crop_slices(shape: tuple[int, int], size: tuple[int, int] = SIZE) -> tuple[slice, slice]:
    """The rows and columns of a picture of that shape (height, width) that are looked at."""
    (height, width), (tall, wide) = shape, size
    rows, columns = min(height, round(width * tall / wide)), min(width, round(height * wide / tall))
    left = (width - columns) // 2
    return slice(height - rows, height), slice(left, left + columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInput:
    """How a picture becomes a network's input: its size, the order of its axes, and what a pixel becomes.

    Pixels that stay bytes are neither scaled nor moved.
    """

    size: tuple[int, int] = SIZE
    channels_first: bool = False
    as_bytes: bool = False
    scale: float = 1.0
    offset: float = 0.0
    bgr: bool = False

    def __post_init__(self) -> None:
        for name, side in zip(("height", "width"), self.size):
            if isinstance(side, bool) or not (isinstance(side, int) and side >= 1):
                raise BadInput(f"{name} is {side!r}; it must be a whole number of at least 1")
        for name in ("scale", "offset"):
            _require_number(name, getattr(self, name))
        if not isinstance(self.bgr, bool):
            raise BadInput(f"bgr is {self.bgr!r}; it must be true or false")

    def prepare(self, image: Image) -> npt.NDArray[Any]:
        """One picture as a batch of one."""
        seen = preprocess(image, self.size)
        if self.bgr:
            seen = seen[..., ::-1]
        if self.channels_first:
            seen = seen.transpose(2, 0, 1)
        seen = np.ascontiguousarray(seen)[None]
        if self.as_bytes:
            return seen
        return np.asarray(seen * np.float32(self.scale) + np.float32(self.offset), np.float32)


@dataclass(frozen=True, slots=True)
class NetworkOutput:
    """What a network's numbers are, in order, and what one of each is in km/h or degrees to the left."""

    outputs: tuple[str, ...]
    units: tuple[float, ...]

    @classmethod
    def of(cls, said: str, *, speed_unit: float = 1.0, steering_unit: float = 1.0) -> NetworkOutput:
        """Outputs as a text, such as "speed,steering"."""
        names = tuple(name.strip() for name in str(said).split(","))
        for name in names:
            if name not in QUANTITIES or names.count(name) > 1:
                raise BadInput(f"outputs {said!r}: give speed, steering or both, each once")
        units = {"speed": speed_unit, "steering": steering_unit}
        for name, unit in units.items():
            _require_number(f"{name}_unit", unit)
            if unit == 0:
                raise BadInput(f"{name}_unit is 0; it must say what one unit of {name} is")
        return cls(names, tuple(float(units[name]) for name in names))

    def read(self, numbers: Sequence[float]) -> Control:
        if len(numbers) != len(self.outputs):
            raise ValueError(f"the network gave {len(numbers)} numbers for {', '.join(self.outputs)}")
        values = {name: float(n) * unit for name, n, unit in zip(self.outputs, numbers, self.units)}
        return Control(values.get("speed"), values.get("steering"))


def require_answer(
    name: str, predict: Callable[[Sequence[Image]], Sequence[Control]], size: tuple[int, int]
) -> None:
    """Ask about a black picture, so that a network that cannot answer is refused before anything is run."""
    try:
        predict([np.zeros((*size, 3), np.uint8)])
    except Exception as error:
        raise BadInput(f"{name} cannot be asked: {describe_error(error)}") from error


def _require_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not (isinstance(value, (int, float)) and math.isfinite(value)):
        raise BadInput(f"{name} is {value!r}; it must be a number")
