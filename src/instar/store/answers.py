"""Answers as bytes and back, without loss and without running anything.

An answer may be made of None, booleans, numbers, strings, sequences, string-keyed mappings, NumPy
arrays and dataclasses of those. The layout is a JSON header, in which every array is a reference, and
behind it the arrays' bytes; infinities, which JSON lacks, are spelt out. Large answers (heat maps) are
compressed.
"""

from __future__ import annotations

import dataclasses
import json
import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from instar.core.change import named_dataclass
from instar.core.errors import BadInput
from instar.store.foreign_values import to_plain

PLAIN, COMPRESSED = b"p", b"z"
MOST_BYTES = 2**30
COMPRESS_FROM = 4096  # below this, compressing costs more than it saves


def encode_answer(answer: Any, *, compress: bool = True) -> bytes:
    """The answer as bytes; TypeError names a part that cannot be kept. Foreign arrays become NumPy's.

    >>> decode_answer(encode_answer({"speed": 41.5, "where": np.arange(3)}))
    {'speed': 41.5, 'where': array([0, 1, 2])}
    """
    arrays = bytearray()
    header = json.dumps(_to_plain(to_plain(answer), arrays), separators=(",", ":"), allow_nan=False).encode()
    body = len(header).to_bytes(4, "little") + header + arrays
    if len(body) < COMPRESS_FROM or not compress:
        return PLAIN + body
    return COMPRESSED + zlib.compress(body, 1)


def decode_answer(data: bytes) -> Any:
    """The answer that was encoded."""
    body = _decompressed(data[1:]) if data[:1] == COMPRESSED else data[1:]
    length = int.from_bytes(body[:4], "little")
    return _from_plain(json.loads(body[4 : 4 + length]), memoryview(body)[4 + length :])


def _decompressed(data: bytes) -> bytes:
    """What was compressed, and no more than any answer has."""
    unpacking = zlib.decompressobj()
    body = unpacking.decompress(data, MOST_BYTES)
    if not unpacking.eof:
        raise ValueError("an answer is cut off or too long")
    return body


def _to_plain(value: Any, arrays: bytearray) -> Any:
    if type(value) is str:  # most parts are, and the rest takes time
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(float(value))}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind not in "biufc":
            raise TypeError(f"an array of {value.dtype} cannot be kept")
        start = len(arrays)
        arrays += value.tobytes()
        name = "array" if isinstance(value, np.ndarray) else "scalar"
        return {name: [value.dtype.str, list(value.shape), start]}
    if isinstance(value, (list, tuple)):
        name = "tuple" if isinstance(value, tuple) else "list"
        return {name: [_to_plain(item, arrays) for item in value]}
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a mapping whose keys are not strings cannot be kept")
        return {"mapping": {key: _to_plain(item, arrays) for key, item in value.items()}}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        path = f"{type(value).__module__}:{type(value).__qualname__}"
        if named_dataclass(path) is not type(value):
            raise TypeError(f"{path} is another class by now; an answer of it cannot be kept")
        fields = {f.name: _to_plain(getattr(value, f.name), arrays) for f in dataclasses.fields(value)}
        return {"dataclass": [path, fields]}
    raise TypeError(f"an answer with a {type(value).__qualname__} cannot be kept")


def _from_plain(plain: Any, data: memoryview) -> Any:
    if not isinstance(plain, dict):
        return plain
    ((what, content),) = plain.items()
    if what == "float":
        return float(content)
    if what in ("array", "scalar"):
        dtype, shape, start = content
        count = math.prod(shape)
        if np.dtype(dtype).kind not in "biufc" or min(shape, default=0) < 0:
            raise ValueError(f"an array of {dtype} {shape}")
        flat = np.frombuffer(data, np.dtype(dtype), count=count, offset=start)
        array = flat.reshape(shape).copy()
        return array if what == "array" else array[()]
    if what == "list":
        return [_from_plain(item, data) for item in content]
    if what == "tuple":
        return tuple(_from_plain(item, data) for item in content)
    if what == "mapping":
        return {key: _from_plain(item, data) for key, item in content.items()}
    path, parts = content
    fields = {name: _from_plain(item, data) for name, item in parts.items()}
    try:
        return named_dataclass(path)(**fields)
    except BadInput:  # of a user's module that only the system's process has imported
        return fields
