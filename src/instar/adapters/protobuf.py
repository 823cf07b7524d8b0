"""Protobuf messages, read without their library: numbered fields, varints and pieces of bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5


def read_fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """(number, value) of each field: an int, or a piece of the message."""
    at = 0
    while at < len(message):
        key, at = read_varint(message, at)
        field, kind = key >> 3, key & 7
        if kind == VARINT:
            value, at = read_varint(message, at)
            yield field, value
            continue
        if kind == BYTES:
            length, at = read_varint(message, at)
        elif kind in (EIGHT_BYTES, FOUR_BYTES):
            length = 8 if kind == EIGHT_BYTES else 4
        else:
            raise ValueError(f"a field of kind {kind}")
        if at + length > len(message):
            raise ValueError("it ends too early")
        yield field, message[at : at + length]
        at += length


def read_varint(message: memoryview, at: int) -> tuple[int, int]:
    """The number that begins there, and where it ends."""
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at
