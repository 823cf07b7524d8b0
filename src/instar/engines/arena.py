"""Memory that two processes share, through which pictures go from one to the other."""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
from collections.abc import Sequence
from typing import Any


class Arena:
    """Memory that both processes see: one writes pictures into it, the other copies them out."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._memory: mmap.mmap | None = None

    def fileno(self) -> int:
        return int(self._file.fileno())

    def close(self) -> None:
        self._memory = None
        self._file.close()

    def put(self, buffers: Sequence[pickle.PickleBuffer]) -> list[int]:
        """Write them one behind the other; their lengths."""
        parts = [buffer.raw() for buffer in buffers]
        lengths = [part.nbytes for part in parts]
        if sum(lengths) > os.fstat(self.fileno()).st_size:
            os.ftruncate(self.fileno(), sum(lengths))
        memory, start = self._mapped(sum(lengths)), 0
        for part, length in zip(parts, lengths):
            memory[start : start + length] = part
            start += length
        return lengths

    def take(self, lengths: Sequence[int]) -> list[bytearray]:
        """Copies of what was put there."""
        memory, start, parts = self._mapped(sum(lengths)), 0, []
        for length in lengths:
            parts.append(bytearray(memory[start : start + length]))
            start += length
        return parts

    def _mapped(self, size: int) -> memoryview:
        if size and (self._memory is None or len(self._memory) < size):
            self._memory = mmap.mmap(self.fileno(), 0)
        return memoryview(self._memory or b"")


class InlineMemory:
    """A stand-in for shared memory: pictures are sent over the connection, which copies them."""

    def put(self, buffers: Sequence[pickle.PickleBuffer]) -> list[bytes]:
        return [bytes(buffer.raw()) for buffer in buffers]

    def take(self, parts: Sequence[bytes]) -> list[bytearray]:
        return list(map(bytearray, parts))

    def close(self) -> None:
        pass


def anonymous_file() -> Any:
    """A file in memory that has no name, so that nothing is left of it however we end."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("instar"), "r+b")
    return tempfile.TemporaryFile()
