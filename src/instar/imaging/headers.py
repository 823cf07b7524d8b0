"""What a picture file says about itself before anything is decoded: kind, size, orientation."""

from __future__ import annotations

import re
from dataclasses import dataclass

from instar.core.errors import UnreadablePicture
from instar.imaging.containers import (
    Buffer,
    jpeg_segments,
    png_chunks,
    riff_chunks,
    tiff_directories,
    unpack,
)

MAX_PIXELS = 100_000_000
"""More than a camera makes; a file of a few kilobytes can claim a thousand times as many."""

ORIENTATION = 0x112
_START_OF_FRAME = {0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF}
# Magic, width, height and maximum, with comments between them allowed.
_PNM = re.compile(rb"P[56]" + rb"(?:\s+|#[^\n]*\n)+(\d{1,9})" * 3 + rb"\s")


@dataclass(frozen=True, slots=True)
class Header:
    """Kind of file, size as stored, and the EXIF orientation (1 to 8) under which it is to be shown."""

    kind: str
    height: int
    width: int
    orientation: int = 1

    @property
    def shown_size(self) -> tuple[int, int]:
        """(height, width) of the picture the right way up."""
        return (self.width, self.height) if self.orientation >= 5 else (self.height, self.width)


def read_header(data: Buffer) -> Header:
    """The header of a JPEG, PNG, GIF, BMP, WebP, TIFF or binary PGM/PPM file.

    Raises UnreadablePicture for anything else, and for a header that makes no sense.
    """
    header = _read_header(data)
    if header.height < 1 or header.width < 1:
        raise UnreadablePicture("no pixels")
    return header


def _read_header(data: Buffer) -> Header:
    magic = bytes(data[:12])
    if not magic:
        raise UnreadablePicture("empty file")
    if magic.startswith(b"\xff\xd8\xff"):
        return _jpeg(data)
    if magic.startswith(b"\x89PNG\r\n\x1a\n"):
        return _png(data)
    if magic[:6] in (b"GIF87a", b"GIF89a"):
        width, height = unpack("<HH", data, 6)
        return Header("gif", height, width)
    if magic.startswith(b"BM"):
        return _bmp(data)
    if magic.startswith(b"RIFF") and magic[8:] == b"WEBP":
        return _webp(data)
    if magic[:4] in (b"II*\0", b"MM\0*"):
        return _tiff(data)
    if magic[:2] in (b"P5", b"P6"):
        return _pnm(data)
    raise UnreadablePicture("not a picture")


def pnm_fields(data: Buffer) -> tuple[int, int, int, int]:
    """Width, height, maximum and where the pixels begin, of a binary PGM or PPM file."""
    match = _PNM.match(data)
    if match is None:
        raise UnreadablePicture("damaged")
    return int(match[1]), int(match[2]), int(match[3]), match.end()


def _jpeg(data: Buffer) -> Header:
    orientation = 1
    for marker, start, end in jpeg_segments(data):
        if marker == 0xE1 and data[start : start + 6] == b"Exif\0\0":
            orientation = _exif_orientation(data[start + 6 : end])
        elif marker in _START_OF_FRAME:
            height, width = unpack(">HH", data, start + 1)
            return Header("jpeg", height, width, orientation)
    raise UnreadablePicture("damaged")


def _png(data: Buffer) -> Header:
    name, width, height = unpack(">4sII", data, 12)
    if name != b"IHDR":
        raise UnreadablePicture("damaged")
    return Header("png", height, width, _png_orientation(data))


def _png_orientation(data: Buffer) -> int:
    try:
        exif = (data[start:end] for name, start, end in png_chunks(data) if name == b"eXIf")
        return _exif_orientation(next(exif, b""))
    except UnreadablePicture:
        return 1  # the file is cut off, which its size need not suffer from


def _bmp(data: Buffer) -> Header:
    (header_bytes,) = unpack("<I", data, 14)
    if header_bytes == 12:  # the first Windows and OS/2
        width, height = unpack("<HH", data, 18)
    elif header_bytes >= 40:
        width, height = unpack("<ii", data, 18)
    else:
        raise UnreadablePicture("not a picture")
    return Header("bmp", abs(height), width)  # a negative height: rows from the top


def _webp(data: Buffer) -> Header:
    size: tuple[int, int] | None = None
    orientation = 1
    for name, start, end in riff_chunks(data):
        if name == b"EXIF":
            exif = data[start:end]
            orientation = _exif_orientation(exif[6:] if exif.startswith(b"Exif\0\0") else exif)
        elif size is not None:
            continue
        elif name == b"VP8X":
            low_w, high_w, low_h, high_h = unpack("<HBHB", data, start + 4)
            size = (low_h + (high_h << 16) + 1, low_w + (high_w << 16) + 1)
        elif name == b"VP8 ":
            width, height = unpack("<HH", data, start + 6)
            size = (height & 0x3FFF, width & 0x3FFF)
        elif name == b"VP8L":
            (bits,) = unpack("<I", data, start + 1)
            size = ((bits >> 14 & 0x3FFF) + 1, (bits & 0x3FFF) + 1)
    if size is None:
        raise UnreadablePicture("damaged")
    return Header("webp", *size, orientation)


def _tiff(data: Buffer) -> Header:
    tags = next(tiff_directories(data), {})
    return Header("tiff", _first(tags, 0x101, 0), _first(tags, 0x100, 0), _orientation_in(tags))


def _pnm(data: Buffer) -> Header:
    width, height, _, _ = pnm_fields(data)
    return Header("pnm", height, width)


def _exif_orientation(exif: bytes) -> int:
    try:
        return _orientation_in(next(tiff_directories(exif), {}))
    except UnreadablePicture:
        return 1  # a camera's broken notes do not make the picture unreadable


def _orientation_in(tags: dict[int, tuple[int, ...]]) -> int:
    orientation = _first(tags, ORIENTATION, 1)
    return orientation if 1 <= orientation <= 8 else 1


def _first(tags: dict[int, tuple[int, ...]], tag: int, default: int) -> int:
    return (tags.get(tag) or (default,))[0]
