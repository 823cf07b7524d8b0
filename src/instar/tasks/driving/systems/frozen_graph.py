"""Tensors out of a frozen TensorFlow graph, read as bytes: a protobuf is little more than numbered pieces."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput

__all__ = ["constants"]

NODE, NAME, OP, ATTRIBUTE = 1, 1, 2, 5  # of a graph; of a node
KEY, VALUE, TENSOR = 1, 2, 8  # of an attribute
SHAPE, CONTENT, DIMENSION, SIZE = 2, 4, 2, 1  # of a tensor; of a shape; of a dimension


def constants(graph: bytes) -> dict[str, npt.NDArray[np.float32]]:
    """The constants of a graph by name, those that are arrays of 32-bit floats."""
    try:
        return {name: tensor for node in _parts(graph, NODE) for name, tensor in _constant(node)}
    except (IndexError, ValueError) as error:
        raise BadInput(f"this is no frozen TensorFlow graph: {error}") from None


def _constant(node: bytes) -> Iterator[tuple[str, npt.NDArray[np.float32]]]:
    if _parts(node, OP) != [b"Const"]:
        return
    for attribute in _parts(node, ATTRIBUTE):
        if _parts(attribute, KEY) == [b"value"]:
            (tensor,) = _parts(_parts(attribute, VALUE)[0], TENSOR)
            shape = [_number(d, SIZE) for d in _parts((_parts(tensor, SHAPE) or [b""])[0], DIMENSION)]
            for content in _parts(tensor, CONTENT):
                if len(content) == 4 * int(np.prod(shape, dtype=np.int64)):
                    yield _parts(node, NAME)[0].decode(), np.frombuffer(content, "<f4").reshape(shape)


def _parts(message: bytes, wanted: int) -> list[bytes]:
    return [value for number, value in _fields(message) if number == wanted and isinstance(value, bytes)]


def _number(message: bytes, wanted: int) -> int:
    return next(
        (value for number, value in _fields(message) if number == wanted and isinstance(value, int)), 0
    )


def _fields(message: bytes) -> Iterator[tuple[int, bytes | int]]:
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        if kind == 2:
            length, at = _varint(message, at)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise ValueError(f"a field of kind {kind}")
        if at + length > len(message):
            raise ValueError("it ends too early")
        yield key >> 3, message[at : at + length]
        at += length


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
