"""Tensors out of a frozen TensorFlow graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.adapters.protobuf import read_fields
from instar.core.errors import BadInput

__all__ = ["constants"]

NODE, NAME, OP, ATTRIBUTE = 1, 1, 2, 5  # of a graph; of a node
KEY, VALUE, TENSOR = 1, 2, 8  # of an attribute
SHAPE, CONTENT, DIMENSION, SIZE = 2, 4, 2, 1  # of a tensor; of a shape; of a dimension


def constants(graph: bytes) -> dict[str, npt.NDArray[np.float32]]:
    """The constants of a graph by name, those that are arrays of 32-bit floats."""
    try:
        return {name: tensor for node in _parts(memoryview(graph), NODE) for name, tensor in _constant(node)}
    except (IndexError, ValueError) as error:
        raise BadInput(f"this is no frozen TensorFlow graph: {error}") from None


def _constant(node: memoryview) -> Iterator[tuple[str, npt.NDArray[np.float32]]]:
    if _parts(node, OP) != [b"Const"]:
        return
    for attribute in _parts(node, ATTRIBUTE):
        if _parts(attribute, KEY) == [b"value"]:
            (tensor,) = _parts(_parts(attribute, VALUE)[0], TENSOR)
            (shape,) = _parts(tensor, SHAPE) or [memoryview(b"")]
            sizes = [(_parts(dimension, SIZE) or [0])[0] for dimension in _parts(shape, DIMENSION)]
            for content in _parts(tensor, CONTENT):
                if len(content) == 4 * int(np.prod(sizes, dtype=np.int64)):
                    name = bytes(_parts(node, NAME)[0]).decode()
                    yield name, np.frombuffer(content, "<f4").reshape(sizes)


def _parts(message: memoryview, wanted: int) -> list[Any]:
    return [value for number, value in read_fields(message) if number == wanted]
