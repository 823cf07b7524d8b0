"""What an ONNX detector is shown: the picture as it was trained to see it, and values for further inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from instar.adapters.sessions import TYPES
from instar.core.errors import BadInput, UnknownName
from instar.core.scene import Image
from instar.tasks.detection.systems.decode import Floats


def value_for(name: str, value: Any, inputs: Mapping[str, Any]) -> npt.NDArray[Any]:
    """A value for a further input, with the axis of the batch."""
    if name not in inputs:
        raise BadInput(f"onnx: also: {UnknownName('input', name, inputs)}")
    try:
        return np.asarray(value, TYPES[inputs[name].type])[None]
    except (KeyError, TypeError, ValueError):
        raise BadInput(f"onnx: also: {name} is {value!r}; it must be {inputs[name].type}") from None


def input_size(
    given: int | Sequence[int] | None, shape: Sequence[Any], layout: str, model: Path
) -> tuple[int, int]:
    wanted = [given, given] if isinstance(given, int) else given
    if wanted is None:
        shape = list(shape)[-3:]  # a network without an axis for the batch has three
        wanted = shape[1:] if layout == "nchw" else shape[:2]
        if not all(isinstance(side, int) for side in wanted):
            raise BadInput(f"onnx: {model} takes pictures of any size; give size, such as size = 640")
    if len(wanted) != 2 or not all(isinstance(side, int) and side > 0 for side in wanted):
        raise BadInput(f"onnx: size is {given!r}; it must be a whole number, or height and width")
    return int(wanted[0] or 0), int(wanted[1] or 0)


def to_bgr(image: Image) -> Floats:
    """`float32 (1, 3, H, W)`, BGR, 0 to 255."""
    return np.asarray(cv2.dnn.blobFromImage(image, swapRB=True), np.float32)


def to_input(
    image: Image,
    *,
    colour: str,
    divide: float,
    mean: float | Sequence[float],
    std: float | Sequence[float],
    layout: str,
) -> Floats:
    """`float32 (1, 3, H, W)` or `(1, H, W, 3)`, as the network was trained to see it."""
    ordered = image if colour == "rgb" else image[..., ::-1]
    values = ordered.astype(np.float32) / np.float32(divide)
    values = (values - np.asarray(mean, np.float32)) / np.asarray(std, np.float32)
    return np.ascontiguousarray(values[None] if layout == "nhwc" else values.transpose(2, 0, 1)[None])
