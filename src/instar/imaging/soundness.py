"""Which picture files are decoded, and which are refused with a reason.

OpenCV decodes a good deal wrongly without a word: half a JPEG as half a grey picture, the first frame
of an animation, a 10-bit PPM as an almost black one. Whatever it would not read right is refused here
first, which also keeps the decoders' complaints off the terminal.
"""

from __future__ import annotations

import struct
import zlib

from instar.core.errors import UnreadablePicture
from instar.imaging.containers import (
    Buffer,
    gif_frames,
    jpeg_scan_end,
    jpeg_segments,
    png_chunks,
    riff_chunks,
    tiff_directories,
    unpack,
)
from instar.imaging.headers import Header, pnm_fields

# What OpenCV was seen to read right: white is zero, black is zero, RGB, palette, CMYK, YCbCr.
_COLOURS_8 = {(0,), (1,), (2,), (3,), (5,), (6,)}
_COLOURS_16 = {(1,), (2,)}


def check_sound(data: Buffer, header: Header) -> None:
    """Raise UnreadablePicture unless the file is whole, still, and of a sort that is read right.

    Damage inside the compressed data of a JPEG, WebP or LZW-packed TIFF leaves no trace that could be
    found without decoding it a second time, and is not found.
    """
    check = {
        "jpeg": _check_jpeg,
        "png": _check_png,
        "gif": _check_gif,
        "bmp": _check_bmp,
        "webp": _check_webp,
        "tiff": _check_tiff,
        "pnm": _check_pnm,
    }[header.kind]
    check(data, header)


def _check_jpeg(data: Buffer, header: Header) -> None:
    scan = 0
    for marker, start, end in jpeg_segments(data):
        scan = end
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            (bits,) = unpack(">B", data, start)
            if marker > 0xC2 or bits != 8:
                raise UnreadablePicture("JPEG of an unusual kind")
    jpeg_scan_end(data, scan)


def _check_png(data: Buffer, header: Header) -> None:
    view = memoryview(data)
    pixels = False
    for name, start, end in png_chunks(data):
        if zlib.crc32(view[start - 4 : end]) != unpack(">I", data, end)[0]:
            raise UnreadablePicture("damaged")
        if name == b"acTL" and unpack(">I", data, start)[0] > 1:
            raise UnreadablePicture("animated")
        pixels = pixels or name == b"IDAT"
    if not pixels:
        raise UnreadablePicture("damaged")


def _check_gif(data: Buffer, header: Header) -> None:
    frames = 0
    for frame in gif_frames(data):
        frames += 1
        if frames > 1:
            raise UnreadablePicture("animated")
        if frame != (0, 0, header.width, header.height):
            raise UnreadablePicture("GIF frame that does not fill its canvas")
    if not frames:
        raise UnreadablePicture("no pixels")


def _check_bmp(data: Buffer, header: Header) -> None:
    offset, header_bytes = unpack("<II", data, 10)
    if header_bytes == 12:
        (bits,), packing = unpack("<H", data, 24), 0
    else:
        bits, packing = unpack("<HI", data, 28)
    plain_masks = packing == 3 and bits == 32 and unpack("<III", data, 54) == (0xFF0000, 0xFF00, 0xFF)
    if bits not in (1, 4, 8, 24, 32) or not (packing == 0 or plain_masks):
        raise UnreadablePicture("BMP of an unusual kind")
    row_bytes = (header.width * bits + 31) // 32 * 4
    if offset + row_bytes * header.height > len(data):
        raise UnreadablePicture("truncated")


def _check_webp(data: Buffer, header: Header) -> None:
    (length,) = unpack("<I", data, 4)
    if 8 + length > len(data):
        raise UnreadablePicture("truncated")
    for name, _, end in riff_chunks(data):
        if name in (b"ANIM", b"ANMF"):
            raise UnreadablePicture("animated")
        if end > len(data):
            raise UnreadablePicture("damaged")


def _check_tiff(data: Buffer, header: Header) -> None:
    directories = tiff_directories(data)
    tags = next(directories, {})
    if next(directories, None) is not None:
        raise UnreadablePicture("several pages")
    bits, colour = set(tags.get(258, (1,))), tags.get(262)
    usual = colour in (_COLOURS_8 if bits <= {1, 4, 8} else _COLOURS_16 if bits == {16} else ())
    whole_numbers = set(tags.get(339, (1,))) == {1}
    together = tags.get(284, (1,)) == (1,)
    if not (usual and whole_numbers and together):
        raise UnreadablePicture("TIFF of an unusual kind")
    if 338 in tags:
        raise UnreadablePicture("TIFF with transparency")
    starts = tags.get(273) or tags.get(324) or ()
    sizes = tags.get(279) or tags.get(325) or ()
    if not starts or len(starts) != len(sizes):
        raise UnreadablePicture("damaged")
    if any(start + size > len(data) for start, size in zip(starts, sizes)):
        raise UnreadablePicture("truncated")


def _check_pnm(data: Buffer, header: Header) -> None:
    _, _, maximum, start = pnm_fields(data)
    if maximum not in (255, 65535):
        raise UnreadablePicture("PPM of an unusual kind")
    samples = header.height * header.width * (3 if data[:2] == b"P6" else 1)
    if start + samples * struct.calcsize("B" if maximum == 255 else "H") > len(data):
        raise UnreadablePicture("truncated")
