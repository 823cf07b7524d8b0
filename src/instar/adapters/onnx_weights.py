"""Reading weights out of an ONNX file, without the library that writes them.

What is needed of it is a list of operations and the tensors they use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.adapters.protobuf import read_fields, read_varint
from instar.core.errors import BadInput

__all__ = ["OnnxGraph", "OnnxNode", "read_onnx"]

FLOAT32, INT64 = 1, 7


@dataclass(frozen=True, slots=True)
class OnnxNode:
    """An operation: its kind ("Conv"), the names of its inputs and outputs, and its numbers by name."""

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    numbers: dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class OnnxGraph:
    """The operations in the order in which they are done, and the tensors by name."""

    nodes: tuple[OnnxNode, ...]
    tensors: dict[str, npt.NDArray[Any]]


def read_onnx(content: bytes) -> OnnxGraph:
    """The graph in an ONNX file."""
    try:
        graph = next(value for field, value in read_fields(memoryview(content)) if field == 7)
        parts = list(read_fields(graph))
        nodes = tuple(_node(value) for field, value in parts if field == 1)
        tensors = dict(_tensor(value) for field, value in parts if field == 5)
    except (StopIteration, IndexError, ValueError, UnicodeDecodeError) as error:
        raise BadInput(f"this is no ONNX file, or a damaged one ({error or 'it has no graph'})") from error
    return OnnxGraph(nodes, tensors)


def _node(message: memoryview) -> OnnxNode:
    inputs, outputs, kind, numbers = [], [], "", {}
    for field, value in read_fields(message):
        if field == 1:
            inputs.append(_text(value))
        elif field == 2:
            outputs.append(_text(value))
        elif field == 4:
            kind = _text(value)
        elif field == 5:
            name, number = _attribute(value)
            numbers[name] = number
    return OnnxNode(kind, tuple(inputs), tuple(outputs), numbers)


def _attribute(message: memoryview) -> tuple[str, Any]:
    name, many, one = "", [], None
    for field, value in read_fields(message):
        if field == 1:
            name = _text(value)
        elif field == 2:
            one = float(np.frombuffer(value, "<f4")[0])
        elif field == 3:
            one = _signed(value)
        elif field == 8:
            many += _packed(value)
    return name, one if one is not None else tuple(many)


def _tensor(message: memoryview) -> tuple[str, npt.NDArray[Any]]:
    shape: list[int] = []
    name, kind, raw, floats = "", 0, b"", b""
    integers: list[int] = []
    for field, value in read_fields(message):
        if field == 1:
            shape += _packed(value)
        elif field == 2:
            kind = value
        elif field == 4:
            floats += bytes(value)
        elif field == 7:
            integers += _packed(value)
        elif field == 8:
            name = _text(value)
        elif field == 9:
            raw = bytes(value)
    if kind == FLOAT32:
        values: npt.NDArray[Any] = np.frombuffer(raw or floats, "<f4")
    elif kind == INT64:
        values = np.frombuffer(raw, "<i8") if raw else np.array(integers, np.int64)
    else:
        return name, np.zeros(0, np.float32)  # nothing that a network of floats is made of
    return name, values.reshape(shape).copy()


def _packed(value: Any) -> list[int]:
    """Integers, one as it is or several packed."""
    if isinstance(value, int):
        return [_signed(value)]
    numbers, at = [], 0
    while at < len(value):
        number, at = read_varint(value, at)
        numbers.append(_signed(number))
    return numbers


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def _text(value: memoryview) -> str:
    return bytes(value).decode("utf-8")
