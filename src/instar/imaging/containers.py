"""Walking through picture files without decoding them: JPEG segments, PNG chunks and their like.

Every walker yields (name or number, start, end) of payloads as offsets into the file and raises
UnreadablePicture("truncated") where the file ends too soon. Nothing here looks at pixels.
"""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Iterator
from typing import Any, TypeAlias

from instar.core.errors import UnreadablePicture

Buffer: TypeAlias = bytes | mmap.mmap
"""A file in memory, or mapped so that only the pages looked at are read."""

SOS, EOI = 0xDA, 0xD9
# In entropy-coded data FF is followed by 00 (a literal FF), a restart marker or a fill byte.
_NEXT_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
_TIFF_NUMBERS = {1: "B", 3: "H", 4: "I"}


def unpack(layout: str, data: Buffer, at: int) -> tuple[Any, ...]:
    """`struct.unpack_from` that calls a file too short by its name."""
    try:
        return struct.unpack_from(layout, data, at)
    except struct.error:
        raise UnreadablePicture("truncated") from None


def jpeg_segments(data: Buffer) -> Iterator[tuple[int, int, int]]:
    """The marker segments of a JPEG up to and including the first start of scan."""
    at = 2
    while True:
        lead, marker = unpack(">BB", data, at)
        if lead != 0xFF:
            raise UnreadablePicture("damaged")
        if marker == 0xFF:  # a fill byte
            at += 1
            continue
        (length,) = unpack(">H", data, at + 2)
        yield marker, at + 4, at + 2 + length
        if marker == SOS:
            return
        at += 2 + length


def jpeg_scan_end(data: Buffer, at: int) -> int:
    """Where the picture ends whose first scan's data begin at `at`: behind the end-of-image marker."""
    while True:
        found = _NEXT_MARKER.search(data, at)
        if found is None:
            raise UnreadablePicture("truncated")
        if found[0][1] == EOI:
            return found.end()
        (length,) = unpack(">H", data, found.end())  # tables and the headers of later scans
        at = found.end() + length


def png_chunks(data: Buffer) -> Iterator[tuple[bytes, int, int]]:
    """The chunks of a PNG up to and including IEND; the checksum lies in the 4 bytes behind each."""
    at = 8
    name = b""
    while name != b"IEND":
        length, name = unpack(">I4s", data, at)
        start, at = at + 8, at + 12 + length
        if at > len(data):
            raise UnreadablePicture("truncated")
        yield name, start, start + length


def riff_chunks(data: Buffer) -> Iterator[tuple[bytes, int, int]]:
    """The chunks of a WebP file."""
    (length,) = unpack("<I", data, 4)
    at, end = 12, 8 + length
    while at + 8 <= end:
        name, size = unpack("<4sI", data, at)
        yield name, at + 8, at + 8 + size
        at += 8 + size + size % 2


def gif_frames(data: Buffer) -> Iterator[tuple[int, int, int, int]]:
    """x, y, width and height of every frame of a GIF, having seen each to its end."""
    (flags,) = unpack("<B", data, 10)
    at = 13 + _gif_palette_bytes(flags)
    while True:
        (kind,) = unpack("<B", data, at)
        if kind == 0x3B:
            return
        if kind == 0x21:  # an extension: its label, then blocks
            at = _gif_blocks_end(data, at + 2)
        elif kind == 0x2C:
            x, y, width, height, flags = unpack("<HHHHB", data, at + 1)
            at = _gif_blocks_end(data, at + 11 + _gif_palette_bytes(flags))
            yield x, y, width, height
        else:
            raise UnreadablePicture("damaged")


def _gif_palette_bytes(flags: int) -> int:
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0


def _gif_blocks_end(data: Buffer, at: int) -> int:
    while True:
        (size,) = unpack("<B", data, at)
        at += 1 + size
        if size == 0:
            return at


def tiff_directories(data: Buffer) -> Iterator[dict[int, tuple[int, ...]]]:
    """The directories of a TIFF (or of EXIF, which is one), each a mapping from tag to whole numbers.

    Values of other types (text, fractions) are left out: nothing here needs them.
    """
    order = {b"II": "<", b"MM": ">"}.get(data[:2])
    if order is None:
        raise UnreadablePicture("damaged")
    (at,) = unpack(order + "I", data, 4)
    seen: set[int] = set()
    while at and at not in seen:  # a directory that names itself as the next would never end
        seen.add(at)
        (count,) = unpack(order + "H", data, at)
        tags = {}
        for entry in range(at + 2, at + 2 + 12 * count, 12):
            tag, kind, n = unpack(order + "HHI", data, entry)
            if kind not in _TIFF_NUMBERS:
                continue
            layout = order + f"{n}{_TIFF_NUMBERS[kind]}"
            place = entry + 8
            if struct.calcsize(layout) > 4:
                (place,) = unpack(order + "I", data, place)
            tags[tag] = unpack(layout, data, place)
        yield tags
        (at,) = unpack(order + "I", data, at + 2 + 12 * count)
