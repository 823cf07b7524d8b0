"""PP-OCR whole: a locator that finds lines, and a recogniser that reads them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from instar.adapters.picture_system import PictureSystem, hash_files, one_by_one
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.imaging.onnx_session import open_onnx
from instar.tasks.text.answers import Quads
from instar.tasks.text.systems.ppocr import ppocr_v4, ppocr_v6
from instar.tasks.text.systems.rectangles import Floats
from instar.zoo import fetch

HEIGHT = 48
"""Of a line, in pixels, as the recognisers were trained."""
LONGEST = 2400  # pixels; a line that is longer at that height is squeezed
UPRIGHT = 1.5  # times as high as wide: then its letters stand on their side
DECODER = 1
"""Counts up whenever the code gives other answers for the same weights."""


@recorded
def reader_v4(*, limit_side: int = 736, limit_type: str = "min", threads: int = 1) -> PictureSystem[Quads]:
    """PP-OCRv4's lines with their text, Chinese and English; a score is how sure it is of the text.

    The options are those of `ppocr_v4`.
    """
    settings = dict(locals())
    return _make("ppocr-v4", reader_v4, ppocr_v4, settings)


@recorded
def reader_v6(*, limit_side: int = 736, limit_type: str = "min", threads: int = 1) -> PictureSystem[Quads]:
    """PP-OCRv6's lines with their text, many languages; a score is how sure it is of the text.

    The options are those of `ppocr_v4`.
    """
    settings = dict(locals())
    return _make("ppocr-v6", reader_v6, ppocr_v6, settings)


def _make(
    name: str,
    factory: Callable[..., PictureSystem[Quads]],
    locator: Callable[..., PictureSystem[Quads]],
    settings: dict[str, Any],
) -> PictureSystem[Quads]:
    located = locator(**settings)
    (weights,) = fetch(f"{name}-rec")
    session = open_onnx(weights.read_bytes(), settings["threads"])
    (network_input,) = session.get_inputs()
    characters = ["", *session.get_modelmeta().custom_metadata_map["character"].split("\n"), " "]

    def read(image: Image) -> Quads:
        (found,) = located.predict([image])
        lines = []
        for quad in found.quads:
            (chances,) = session.run(None, {network_input.name: _network_input(_cut_out(image, quad))})
            lines.append(_decode(chances[0], characters))
        scores = np.array([score for _, score in lines], np.float32)
        return Quads(found.quads, tuple(text for text, _ in lines), scores)

    fingerprint = f"{name} weights={hash_files(weights)} reader={DECODER} {located.fingerprint}"
    return PictureSystem(
        name, one_by_one(read), fingerprint=fingerprint, recipe=partial(factory, **settings), batch=4
    )


def _cut_out(image: Image, quad: Floats) -> Image:
    """What is in a quad `float32 (4, 2)`, straightened to the height that is read."""
    sides = np.linalg.norm(np.roll(quad, -1, axis=0) - quad, axis=1).tolist()
    wide, high = max(sides[0], sides[2], 1.0), max(sides[1], sides[3], 1.0)
    if high >= UPRIGHT * wide:
        quad, wide, high = np.roll(quad, -1, axis=0), high, wide
    width = int(np.clip(np.ceil(HEIGHT * wide / high), HEIGHT // 2, LONGEST))
    corners = np.array([[0, 0], [width, 0], [width, HEIGHT], [0, HEIGHT]], np.float32)
    matrix = cv2.getPerspectiveTransform(np.ascontiguousarray(quad, np.float32), corners)
    cut = cv2.warpPerspective(
        image, matrix, (width, HEIGHT), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(cut, np.uint8)


def _network_input(line: Image) -> Floats:
    """`float32 (1, 3, 48, W)` in BGR, from -1 to 1."""
    blob = cv2.dnn.blobFromImage(line, 1 / 127.5, mean=(127.5, 127.5, 127.5), swapRB=True)
    return np.asarray(blob, np.float32)


def _decode(chances: npt.NDArray[np.float32], characters: list[str]) -> tuple[str, float]:
    """The text of `float32 (steps, characters)`, repeats being one and the first none, and how sure it is."""
    best, sure = chances.argmax(axis=1), chances.max(axis=1)
    is_new = np.concatenate([[True], best[1:] != best[:-1]]) & (best > 0)
    text = "".join(characters[i] for i in best[is_new])
    return text, float(np.clip(sure[is_new].mean(), 0, 1)) if is_new.any() else 0.0
