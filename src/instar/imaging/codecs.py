"""Pictures from files and bytes, and back: read right, or refused with a reason."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput, UnreadablePicture
from instar.core.scene import Image
from instar.imaging.containers import png_chunks, unpack
from instar.imaging.headers import MAX_PIXELS, Header, read_header
from instar.imaging.soundness import check_sound

_MAX_FILE_BYTES = 2**30
_BAND_PIXELS = 4_000_000

Samples: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]
"""Grey, BGR or BGRA as OpenCV decodes them, of 8 or 16 bits."""


def read_picture(path: str | Path) -> Image:
    """The picture in a file as a person sees it: `uint8 (H, W, 3)`, RGB, the right way up.

    JPEG, PNG, GIF, BMP, WebP, TIFF and binary PGM/PPM are known by their content, not by their name.
    EXIF orientation is applied, 16 bits are scaled to 8, grey and CMYK become RGB, and what is
    transparent shows white, as it does in a browser (a BMP's fourth channel counts for nothing).

    Raises UnreadablePicture with the reason alone ("truncated", "animated", ...): empty, damaged or
    cut off, not a picture, too many pixels by its header, more than one frame, or of a kind
    that would be read wrong or not at all (OpenCV 4.10 knows no GIF). The reason is short and without
    the path, so that reasons can be counted.
    """
    with _opened(path) as file:
        if os.fstat(file.fileno()).st_size > _MAX_FILE_BYTES:
            raise UnreadablePicture("file too large")
        data = file.read()
    return decode_picture(data)


def decode_picture(data: bytes, *, max_pixels: int = MAX_PIXELS) -> Image:
    """The picture in the bytes of a file; the rules are those of `read_picture`."""
    header = read_header(data)
    pixels = _decode_sound(data, header, max_pixels)
    if header.kind == "png" and pixels.ndim == 2:
        pixels = _whiten_transparent_grey(pixels, data)
    picture = _shown(pixels)
    if header.kind != "tiff":  # its decoder has turned it already
        picture = _turned(picture, header.orientation)
    if picture.shape[:2] != header.shown_size:
        raise UnreadablePicture("damaged")
    return np.ascontiguousarray(picture)


def picture_size(path: str | Path) -> tuple[int, int]:
    """(height, width) of the picture that `read_picture` would give, from the file's header alone.

    Raises UnreadablePicture where there is no such header; the pixels behind it are not looked at.
    """
    with _opened(path) as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise UnreadablePicture("empty file")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return read_header(data).shown_size


def encode_png(image: npt.NDArray[np.uint8]) -> bytes:
    """A grey `(H, W)`, RGB `(H, W, 3)` or RGBA `(H, W, 4)` picture of uint8 as PNG, without loss.

    >>> picture = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    >>> bool((decode_png_exact(encode_png(picture)) == picture).all())
    True
    """
    channels = image.shape[2] if image.ndim == 3 else 1
    if image.dtype != np.uint8 or image.ndim not in (2, 3) or channels not in (1, 3, 4) or not image.size:
        raise BadInput(f"a picture of {image.dtype} {image.shape} cannot be written as PNG")
    _, data = cv2.imencode(".png", image if channels == 1 else _swap_red_and_blue(image))
    return data.tobytes()


def decode_png_exact(data: bytes) -> npt.NDArray[np.uint8]:
    """The samples of an 8-bit PNG as they are; for pictures that instar wrote."""
    if read_header(data).kind != "png":
        raise UnreadablePicture("not a PNG")
    return decode_exact(data)


def decode_exact(data: bytes) -> npt.NDArray[np.uint8]:
    """The samples of a picture of 8 bits as they are: `(H, W)` grey, `(H, W, 3)` RGB or `(H, W, 4)` RGBA.

    For label maps: nothing is composited, scaled or turned.
    """
    pixels = _decode_sound(data, read_header(data), MAX_PIXELS)
    if pixels.dtype != np.uint8:
        raise UnreadablePicture("not of 8 bits a channel")
    return np.ascontiguousarray(pixels if pixels.ndim == 2 else _swap_red_and_blue(pixels), dtype=np.uint8)


def encode_jpeg(image: Image, quality: int) -> bytes:
    """The RGB picture as JPEG at `quality` (1 to 100)."""
    if not 1 <= quality <= 100:
        raise BadInput(f"JPEG quality {quality} is not from 1 to 100")
    _, data = cv2.imencode(".jpg", _swap_red_and_blue(image), [cv2.IMWRITE_JPEG_QUALITY, quality])
    return data.tobytes()


def jpeg_round_trip(image: Image, quality: int) -> Image:
    """The RGB picture after being saved as JPEG at `quality` (1 to 100) and read back."""
    return _to_rgb(_decode(encode_jpeg(image, quality), Header("jpeg", *image.shape[:2])))


@contextmanager
def _opened(path: str | Path) -> Iterator[BinaryIO]:
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below; only its opening may fail here
    except FileNotFoundError:
        raise UnreadablePicture("missing") from None
    except OSError as error:
        raise UnreadablePicture((error.strerror or "cannot be opened").lower()) from None
    except ValueError:  # a zero in its name
        raise UnreadablePicture("no name of a file") from None
    with file:
        yield file


def _decode_sound(data: bytes, header: Header, max_pixels: int) -> Samples:
    if header.height * header.width > max_pixels:
        raise UnreadablePicture(f"too many pixels ({header.width} x {header.height})")
    check_sound(data, header)
    return _decode(data, header)


def _decode(data: bytes, header: Header) -> Samples:
    """What OpenCV makes of the file: not turned, unless it is a TIFF."""
    # OpenCV reads an OS/2 BMP wrongly as UNCHANGED, and takes a missing alpha channel for a clear one.
    mode = cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION if header.kind == "bmp" else cv2.IMREAD_UNCHANGED
    try:
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), mode)
    except cv2.error:
        pixels = None
    if pixels is None or pixels.dtype not in (np.uint8, np.uint16):
        raise UnreadablePicture("cannot be decoded")
    return cast("Samples", pixels)


def _whiten_transparent_grey(grey: Samples, data: bytes) -> Samples:
    """A grey PNG may name one level as transparent, which OpenCV passes over."""
    (depth,) = unpack(">B", data, 24)
    for name, start, end in png_chunks(data):
        if name == b"tRNS" and end - start == 2:
            (level,) = unpack(">H", data, start)
            white = np.iinfo(grey.dtype).max
            level = level * 255 // (2**depth - 1) if depth < 8 else level
            return np.where(grey == level, white, grey).astype(grey.dtype)
    return grey


def _shown(pixels: Samples) -> Image:
    """RGB of 8 bits, made in bands: the largest pictures, of 16 bits, would need gigabytes at once."""
    height, width = pixels.shape[:2]
    band = max(1, _BAND_PIXELS // width)
    if height <= band:
        return _to_rgb(_to_8_bits(pixels))
    shown = np.empty((height, width, 3), np.uint8)
    for top in range(0, height, band):
        shown[top : top + band] = _to_rgb(_to_8_bits(pixels[top : top + band]))
    return shown


def _to_8_bits(pixels: Samples) -> npt.NDArray[np.uint8]:
    if pixels.dtype == np.uint16:
        return ((pixels.astype(np.uint32) + 128) // 257).astype(np.uint8)  # 65535 / 255 = 257
    return pixels.astype(np.uint8, copy=False)


def _to_rgb(pixels: Samples) -> Image:
    """Three channels out of BGR, BGRA (over white) or grey, all uint8."""
    if pixels.ndim == 2:
        return cv2.cvtColor(pixels, cv2.COLOR_GRAY2RGB).astype(np.uint8, copy=False)
    rgb = _swap_red_and_blue(pixels)
    if rgb.shape[2] == 3:
        return rgb
    alpha = rgb[..., 3:].astype(np.uint16)
    over_white = rgb[..., :3] * alpha + 255 * (255 - alpha)
    return ((over_white + 127) // 255).astype(np.uint8)


def _swap_red_and_blue(pixels: Samples) -> npt.NDArray[np.uint8]:
    code = cv2.COLOR_BGR2RGB if pixels.shape[2] == 3 else cv2.COLOR_BGRA2RGBA
    return cv2.cvtColor(pixels, code).astype(np.uint8, copy=False)


def _turned(picture: Image, orientation: int) -> Image:
    """The picture the right way up. Orientations 5 to 8 are 1 to 4 with rows and columns exchanged."""
    if orientation >= 5:
        picture = picture.transpose(1, 0, 2)
    mirrored_x = orientation in (2, 3, 6, 7)
    mirrored_y = orientation in (3, 4, 7, 8)
    return picture[:: -1 if mirrored_y else 1, :: -1 if mirrored_x else 1]
