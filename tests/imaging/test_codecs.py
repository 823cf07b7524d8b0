"""Pictures are read right, or refused with a reason."""

from __future__ import annotations

import io
import struct
import zlib
from contextlib import suppress
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image, ImageOps

from instar.core.errors import BadInput, UnreadablePicture
from instar.imaging.codecs import (
    decode_picture,
    decode_png_exact,
    encode_png,
    jpeg_round_trip,
    picture_size,
    read_picture,
)

HEIGHT, WIDTH = 24, 40
Y, X = np.mgrid[:HEIGHT, :WIDTH]
RGB = np.stack([X * 6, Y * 10, (X + Y) * 3], -1).astype(np.uint8)
ALPHA = (X * 6).astype(np.uint8)
GREY = RGB[..., 0].copy()
DATA = Path(__file__).parents[2].parent / "shared" / "data"


def saved(picture, format, **options):
    file = io.BytesIO()
    picture.save(file, format, **options)
    return file.getvalue()


def photograph(height=120, width=160):
    """Noise over a slope: long enough in every format to be cut in the middle of its data."""
    noise = np.random.default_rng(1).integers(0, 128, (height, width, 3))
    return Image.fromarray((noise + np.mgrid[:height, :width][1][..., None] % 128).astype(np.uint8))


def as_pillow_reads(data):
    return np.array(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB"))


def over_white(rgb, alpha):
    weight = alpha[..., None] / 255
    return np.floor(rgb * weight + 255 * (1 - weight) + 0.5).astype(np.uint8)


def chunk(name, payload):
    return struct.pack(">I", len(payload)) + name + payload + struct.pack(">I", zlib.crc32(name + payload))


def refusal(data, **options):
    with pytest.raises(UnreadablePicture) as caught:
        decode_picture(data, **options)
    return str(caught.value)


LOSSLESS = {
    "png": saved(Image.fromarray(RGB), "PNG"),
    "bmp": saved(Image.fromarray(RGB), "BMP"),
    "webp": saved(Image.fromarray(RGB), "WEBP", lossless=True),
    "tiff": saved(Image.fromarray(RGB), "TIFF"),
    "tiff-lzw": saved(Image.fromarray(RGB), "TIFF", compression="tiff_lzw"),
    "tiff-deflate": saved(Image.fromarray(RGB), "TIFF", compression="tiff_adobe_deflate"),
    "ppm": saved(Image.fromarray(RGB), "PPM"),
}


@pytest.mark.parametrize("kind", LOSSLESS)
def test_a_lossless_picture_is_read_to_the_last_bit(kind):
    picture = decode_picture(LOSSLESS[kind])
    np.testing.assert_array_equal(picture, RGB)
    assert picture.dtype == np.uint8
    assert picture.flags.c_contiguous


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"subsampling": 0}, {"quality": 30}])
def test_a_jpeg_is_read_as_pillow_reads_it(options):
    data = saved(photograph(), "JPEG", **options)
    np.testing.assert_array_equal(decode_picture(data), as_pillow_reads(data))


@pytest.mark.parametrize("format", ["PNG", "JPEG", "TIFF", "BMP", "GIF", "PPM"])
def test_a_grey_picture_becomes_three_equal_channels(format):
    data = saved(Image.fromarray(GREY), format)
    np.testing.assert_array_equal(decode_picture(data), as_pillow_reads(data))
    assert decode_picture(data).shape == (HEIGHT, WIDTH, 3)


@pytest.mark.parametrize("format", ["PNG", "TIFF", "BMP", "GIF"])
def test_a_palette_picture_shows_its_colours(format):
    data = saved(Image.fromarray(RGB).quantize(16), format)
    np.testing.assert_array_equal(decode_picture(data), as_pillow_reads(data))


@pytest.mark.parametrize("format", ["PNG", "TIFF", "BMP"])
def test_a_picture_of_one_bit_is_black_and_white(format):
    data = saved(Image.fromarray(GREY > 100), format)
    np.testing.assert_array_equal(decode_picture(data), np.repeat((GREY > 100)[..., None] * 255, 3, 2))


@pytest.mark.parametrize(("format", "options"), [("PNG", {}), ("WEBP", {"lossless": True, "exact": True})])
def test_what_is_transparent_shows_white(format, options):
    data = saved(Image.fromarray(np.dstack([RGB, ALPHA])), format, **options)
    np.testing.assert_array_equal(decode_picture(data), over_white(RGB, ALPHA))


def test_grey_with_alpha_shows_white_where_it_is_transparent():
    data = saved(Image.fromarray(np.dstack([GREY, ALPHA]), "LA"), "PNG")
    np.testing.assert_array_equal(decode_picture(data), over_white(np.repeat(GREY[..., None], 3, 2), ALPHA))


@pytest.mark.parametrize("format", ["PNG", "GIF"])
def test_a_transparent_palette_entry_shows_white(format):
    palette = Image.fromarray(RGB).quantize(16)
    picture = decode_picture(saved(palette, format, transparency=3))
    opaque = np.array(palette.convert("RGB"))
    expected = np.where((np.array(palette) == 3)[..., None], 255, opaque)
    np.testing.assert_array_equal(picture, expected)


def test_half_transparent_palette_entries_are_mixed_with_white():
    palette = Image.fromarray(RGB).quantize(16)
    levels = np.arange(0, 160, 10).astype(np.uint8)
    picture = decode_picture(saved(palette, "PNG", transparency=levels.tobytes()))
    expected = over_white(np.array(palette.convert("RGB")), levels[np.array(palette)])
    np.testing.assert_array_equal(picture, expected)


def test_the_one_transparent_colour_of_an_rgb_png_shows_white():
    picture = decode_picture(saved(Image.fromarray(RGB), "PNG", transparency=(6, 10, 6)))
    expected = RGB.copy()
    expected[1, 1] = 255
    np.testing.assert_array_equal(picture, expected)


def test_the_one_transparent_level_of_a_grey_png_shows_white():
    picture = decode_picture(saved(Image.fromarray(GREY), "PNG", transparency=60))
    np.testing.assert_array_equal(picture[..., 1], np.where(GREY == 60, 255, GREY))


def test_the_transparent_level_of_a_grey_png_of_four_bits_is_scaled_like_the_picture():
    rows = b"".join(b"\0" + bytes([0x01, 0x5F]) for _ in range(2))  # levels 0, 1, 5, 15
    data = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 2, 4, 0, 0, 0, 0))
        + chunk(b"tRNS", struct.pack(">H", 5))
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )
    np.testing.assert_array_equal(decode_picture(data)[0, :, 0], [0, 17, 255, 255])


@pytest.mark.parametrize("suffix", [".png", ".tiff"])
@pytest.mark.parametrize("channels", [1, 3])
def test_sixteen_bits_are_scaled_to_the_nearest_of_eight(suffix, channels):
    wide = np.random.default_rng(0).integers(0, 65536, (9, 11, channels), dtype=np.uint16)
    wide[0, 0], wide[0, 1] = 0, 65535
    data = cv2.imencode(suffix, wide[..., ::-1])[1].tobytes()
    expected = np.broadcast_to(np.floor(wide / 257 + 0.5), (9, 11, 3))
    np.testing.assert_array_equal(decode_picture(data), expected)


def test_sixteen_bits_with_alpha_are_scaled_and_laid_over_white():
    wide = np.full((2, 2, 4), 65535, np.uint16)
    wide[0, 0] = (0, 0, 257 * 100, 257 * 51)  # BGRA: red 100, a fifth opaque
    data = cv2.imencode(".png", wide)[1].tobytes()
    np.testing.assert_array_equal(decode_picture(data)[0, 0], [224, 204, 204])


def test_a_sixteen_bit_ppm_is_scaled():
    data = b"P6\n# made by hand\n2 1\n65535\n" + struct.pack(">6H", 0, 257, 65535, 128, 129, 25700)
    np.testing.assert_array_equal(decode_picture(data).ravel(), [0, 1, 255, 0, 1, 100])


def cmyk_jpeg():
    cmyk = np.array(Image.fromarray(RGB).convert("CMYK"))
    cmyk[..., 3] = X * 5
    return saved(Image.fromarray(cmyk, "CMYK"), "JPEG", quality=98)


@pytest.mark.parametrize("transform", [0, 2])  # 2: YCCK
def test_a_cmyk_jpeg_has_the_colours_that_pillow_sees(transform):
    data = bytearray(cmyk_jpeg())
    adobe = data.index(b"Adobe")
    data[adobe + 11] = transform
    picture, expected = decode_picture(bytes(data)), as_pillow_reads(bytes(data))
    # The two libraries round the product of ink and black differently.
    assert np.abs(picture.astype(int) - expected).max() <= 2


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_every_orientation_is_turned_upright(tmp_path, format, orientation):
    exif = Image.Exif()
    exif[0x112] = orientation
    options = {"tiffinfo": {0x112: orientation}} if format == "TIFF" else {"exif": exif.tobytes()}
    data = saved(Image.fromarray(RGB), format, **options)
    expected = as_pillow_reads(data)
    picture = decode_picture(data)
    np.testing.assert_array_equal(picture, expected)
    assert picture.flags.c_contiguous
    (tmp_path / "turned").write_bytes(data)
    assert picture_size(tmp_path / "turned") == expected.shape[:2]


def test_broken_exif_counts_as_none():
    data = saved(Image.fromarray(RGB), "JPEG", exif=b"Exif\0\0II*\0\xff\xff\xff\x7f")
    assert decode_picture(data).shape == RGB.shape


def test_a_bmp_may_begin_with_its_top_row_or_carry_a_meaningless_fourth_channel():
    data = bytearray(LOSSLESS["bmp"])
    struct.pack_into("<i", data, 22, -HEIGHT)
    np.testing.assert_array_equal(decode_picture(bytes(data)), RGB[::-1])
    four = saved(Image.fromarray(np.dstack([RGB, np.zeros_like(GREY)])), "BMP")
    np.testing.assert_array_equal(decode_picture(four), RGB)


def test_an_old_bmp_header_is_understood(tmp_path):
    body = RGB[::-1, :, ::-1].tobytes()
    header = struct.pack("<IHHI", 26 + len(body), 0, 0, 26) + struct.pack("<IHHHH", 12, WIDTH, HEIGHT, 1, 24)
    np.testing.assert_array_equal(decode_picture(b"BM" + header + body), RGB)


FORMATS = {
    "jpeg": ("JPEG", {}),
    "progressive jpeg": ("JPEG", {"progressive": True}),
    "jpeg with thumbnail": ("JPEG", {"exif": b"Exif\0\0" + saved(Image.fromarray(RGB), "JPEG")}),
    "png": ("PNG", {}),
    "gif": ("GIF", {}),
    "bmp": ("BMP", {}),
    "webp": ("WEBP", {}),
    "lossless webp": ("WEBP", {"lossless": True}),
    "tiff": ("TIFF", {}),
    "lzw tiff": ("TIFF", {"compression": "tiff_lzw"}),
    "ppm": ("PPM", {}),
}


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("share", [0.03, 0.3, 0.6, 0.9, 0.999])
def test_a_picture_cut_short_is_refused_and_nothing_is_printed(kind, share, capfd):
    format, options = FORMATS[kind]
    data = saved(photograph(), format, **options)
    assert decode_picture(data).shape == (120, 160, 3)
    assert refusal(data[: int(len(data) * share)]) == "truncated"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("format", ["JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF", "PPM"])
@pytest.mark.parametrize("length", [3, 7, 13, 20, 30])
def test_a_file_cut_off_within_its_header_is_refused(format, length, capfd):
    data = saved(photograph(), format)[:length]
    assert refusal(data) in ("truncated", "damaged", "not a picture")
    assert capfd.readouterr() == ("", "")


def test_a_jpeg_padded_with_zeros_to_its_full_length_is_refused():
    data = saved(photograph(), "JPEG")
    half = len(data) // 2
    assert refusal(data[:half] + bytes(half)) == "truncated"


def test_what_follows_the_end_of_a_jpeg_does_no_harm():
    data = saved(photograph(), "JPEG")
    np.testing.assert_array_equal(decode_picture(data + b"appended by a phone"), decode_picture(data))


@pytest.mark.parametrize("at", [23, 60, 5000, -10])
def test_a_damaged_png_is_refused_and_nothing_is_printed(at, capfd):
    data = bytearray(saved(photograph(), "PNG"))
    data[at] ^= 0x10
    assert refusal(bytes(data)) in ("damaged", "truncated")
    assert capfd.readouterr() == ("", "")


def test_a_file_that_is_no_picture_is_refused(tmp_path):
    assert refusal(b"") == "empty file"
    assert refusal(b"hello, I am a text file\n" * 10) == "not a picture"
    assert refusal(b"%PDF-1.7" + bytes(100)) == "not a picture"
    (tmp_path / "empty.jpg").touch()
    with pytest.raises(UnreadablePicture, match=r"^empty file$"):
        read_picture(tmp_path / "empty.jpg")
    with pytest.raises(UnreadablePicture, match=r"^empty file$"):
        picture_size(tmp_path / "empty.jpg")
    with pytest.raises(UnreadablePicture, match=r"^missing$"):
        read_picture(tmp_path / "none.jpg")
    with pytest.raises(UnreadablePicture, match=r"^is a directory$"):
        read_picture(tmp_path)


def huge_headers():
    """A file of each kind that claims 30000 x 30000 pixels and has none of them."""
    exif_free_sof = b"\xff\xd8\xff\xc0\x00\x11\x08" + struct.pack(">HH", 30000, 30000) + bytes(10)
    tags = [(256, 30000), (257, 30000)]
    directory = struct.pack("<H", 2) + b"".join(struct.pack("<HHII", t, 4, 1, v) for t, v in tags)
    extended = struct.pack("<IHBHB", 0, 29999, 0, 29999, 0)
    return {
        "png": b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 30000, 30000, 8, 2, 0, 0, 0)),
        "jpeg": exif_free_sof,
        "gif": b"GIF89a" + struct.pack("<HHBBB", 30000, 30000, 0, 0, 0),
        "bmp": b"BM" + bytes(12) + struct.pack("<IiiHHI", 40, 30000, 30000, 1, 24, 0) + bytes(20),
        "webp": b"RIFF" + struct.pack("<I", 22) + b"WEBPVP8X" + struct.pack("<I", 10) + extended,
        "tiff": b"II*\0" + struct.pack("<I", 8) + directory + bytes(4),
        "ppm": b"P6 30000 30000 255\n",
    }


@pytest.mark.parametrize("kind", huge_headers())
def test_a_decompression_bomb_is_refused_by_its_header(kind):
    assert refusal(huge_headers()[kind]) == "too many pixels (30000 x 30000)"


def test_the_limit_of_pixels_is_the_callers():
    assert refusal(LOSSLESS["png"], max_pixels=HEIGHT * WIDTH - 1) == "too many pixels (40 x 24)"
    assert decode_picture(LOSSLESS["png"], max_pixels=HEIGHT * WIDTH).shape == RGB.shape


@pytest.mark.parametrize("format", ["GIF", "PNG", "WEBP"])
def test_an_animation_is_refused_and_a_single_frame_is_not(format):
    frames = [Image.fromarray(np.roll(RGB, 5 * i, 1)) for i in range(3)]
    moving = saved(frames[0], format, save_all=True, append_images=frames[1:])
    assert refusal(moving) == "animated"
    assert decode_picture(saved(frames[0], format)).shape == RGB.shape


def test_kinds_that_would_be_read_wrong_are_refused():
    assert refusal(b"P6\n2 1\n1023\n" + bytes(12)) == "PPM of an unusual kind"
    assert refusal(saved(Image.fromarray(np.dstack([RGB, ALPHA])), "TIFF")) == "TIFF with transparency"
    assert refusal(saved(Image.fromarray(GREY).convert("F"), "TIFF")) == "TIFF of an unusual kind"
    assert refusal(saved(Image.fromarray(RGB).convert("LAB"), "TIFF")) == "TIFF of an unusual kind"
    pages = saved(Image.fromarray(RGB), "TIFF", save_all=True, append_images=[Image.fromarray(RGB)])
    assert refusal(pages) == "several pages"
    lossless_jpeg = bytearray(saved(photograph(), "JPEG"))
    lossless_jpeg[lossless_jpeg.index(b"\xff\xc0") + 1] = 0xC3
    assert refusal(bytes(lossless_jpeg)) == "JPEG of an unusual kind"
    run_length = bytearray(LOSSLESS["bmp"])
    struct.pack_into("<I", run_length, 30, 1)
    assert refusal(bytes(run_length)) == "BMP of an unusual kind"


def test_a_tiff_whose_directories_go_round_in_a_circle_ends():
    directory = struct.pack("<H", 1) + struct.pack("<HHII", 256, 4, 1, 9) + struct.pack("<I", 8)
    assert refusal(b"II*\0" + struct.pack("<I", 8) + directory) == "no pixels"


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(FORMATS)), st.data())
def test_whatever_is_done_to_a_file_the_answer_is_a_picture_or_a_refusal(kind, data):
    format, options = FORMATS[kind]
    file = bytearray(saved(photograph(12, 16), format, **options))
    for _ in range(data.draw(st.integers(1, 4))):
        # The first bytes hold the structure; that is where a parser can be led astray.
        at = data.draw(st.integers(0, min(len(file), 200) - 1))
        file[at] = data.draw(st.integers(0, 255))
    with suppress(UnreadablePicture):
        picture = decode_picture(bytes(file), max_pixels=100_000)
        assert picture.dtype == np.uint8
        assert picture.ndim == 3
        assert picture.shape[2] == 3


@settings(max_examples=100, deadline=None)
@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"II*\0"]),
)
def test_random_bytes_are_never_a_picture(tail, magic):
    assert refusal(magic + tail)


def test_a_path_with_letters_of_all_sorts_is_read(tmp_path):
    path = tmp_path / "Straße 東京 фото.png"
    path.write_bytes(LOSSLESS["png"])
    np.testing.assert_array_equal(read_picture(path), RGB)
    np.testing.assert_array_equal(read_picture(str(path)), RGB)
    assert picture_size(path) == (HEIGHT, WIDTH)


@pytest.mark.parametrize("kind", FORMATS)
def test_the_size_is_known_from_the_header(tmp_path, kind):
    format, options = FORMATS[kind]
    data = saved(photograph(30, 70), format, **options)
    (tmp_path / "picture").write_bytes(data)
    assert picture_size(tmp_path / "picture") == (30, 70)


@given(
    hnp.arrays(
        np.uint8,
        st.one_of(
            st.tuples(st.integers(1, 9), st.integers(1, 9)),
            st.tuples(st.integers(1, 9), st.integers(1, 9), st.sampled_from([3, 4])),
        ),
    )
)
def test_a_png_keeps_every_sample_and_channel(picture):
    back = decode_png_exact(encode_png(picture))
    np.testing.assert_array_equal(back, picture)
    assert back.dtype == np.uint8


def test_a_png_has_its_channels_in_the_order_of_the_standard():
    with Image.open(io.BytesIO(encode_png(np.dstack([RGB, ALPHA])))) as picture:
        np.testing.assert_array_equal(np.array(picture), np.dstack([RGB, ALPHA]))
    with Image.open(io.BytesIO(encode_png(RGB))) as picture:
        np.testing.assert_array_equal(np.array(picture), RGB)


def test_only_pictures_of_bytes_are_written_as_png():
    for odd in (np.zeros((3, 3), np.float32), np.zeros((3, 3, 2), np.uint8), np.zeros((0, 3, 3), np.uint8)):
        with pytest.raises(BadInput, match="cannot be written as PNG"):
            encode_png(odd)


def test_exact_reading_takes_png_of_eight_bits_only():
    with pytest.raises(UnreadablePicture, match=r"^not a PNG$"):
        decode_png_exact(LOSSLESS["bmp"])
    with pytest.raises(UnreadablePicture, match=r"^not of 8 bits a channel$"):
        decode_png_exact(cv2.imencode(".png", np.zeros((2, 2), np.uint16))[1].tobytes())
    with pytest.raises(UnreadablePicture, match=r"^truncated$"):
        decode_png_exact(LOSSLESS["png"][:-20])


def test_a_jpeg_round_trip_changes_little_and_always_the_same():
    before = RGB.copy()
    once, twice = jpeg_round_trip(RGB, 95), jpeg_round_trip(RGB, 95)
    np.testing.assert_array_equal(once, twice)
    np.testing.assert_array_equal(RGB, before)
    error = np.abs(once.astype(int) - RGB).mean()
    assert 0 < error < np.abs(jpeg_round_trip(RGB, 20).astype(int) - RGB).mean() < 10
    with pytest.raises(BadInput, match="JPEG quality 0 is not from 1 to 100"):
        jpeg_round_trip(RGB, 0)


@pytest.mark.skipif(not DATA.is_dir(), reason="shared/data is not here")
def test_real_photographs_are_read_as_pillow_reads_them():
    paths = sorted(DATA.glob("*/images/*.jpg"))[::40]
    assert len(paths) > 20
    for path in paths:
        picture = read_picture(path)
        assert picture_size(path) == picture.shape[:2]
        # Pillow's libjpeg may be another one; they agree within a rounding of the colour conversion.
        assert np.abs(picture.astype(int) - as_pillow_reads(path.read_bytes())).max() <= 3
