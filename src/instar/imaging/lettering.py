"""Words as pixels, in the Hershey fonts that OpenCV draws, and in strokes for a few words of other scripts.

They need no font file, are free for any use, look the same with every installation, and with thick strokes
a person and a locator read them at 16 pixels. Hershey's know the characters of ASCII only; what is drawn
with the font "strokes" is in `strokes.toml`.
"""

from __future__ import annotations

from typing import TypeAlias

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.core.scene import Image
from instar.user_file import load_resource

Coverage: TypeAlias = npt.NDArray[np.uint8]
"""`uint8 (height, width)`: how much of each pixel is ink, of 255."""

FONTS = {
    "simplex": cv2.FONT_HERSHEY_SIMPLEX,
    "duplex": cv2.FONT_HERSHEY_DUPLEX,
    "complex": cv2.FONT_HERSHEY_COMPLEX,
    "triplex": cv2.FONT_HERSHEY_TRIPLEX,
}
STROKES: dict[str, list[npt.NDArray[np.int32]]] = {
    letter: [np.array([*map(int, run)], np.int32).reshape(-1, 2) for run in runs.split()]
    for script in load_resource("instar.imaging", "strokes.toml").values()
    for letter, runs in script.items()
}
"""What the font "strokes" has: of each letter runs of points (x, y), from 0 to `GRID`."""
GRID = 8
STROKE = 0.11  # of the height of a capital: bold enough to be seen, open enough to be read


def drawn_word(text: str, height: int, *, font: str = "duplex") -> Coverage:
    """The ink of a word whose capitals are about `height` pixels high, cropped to the ink."""
    require_drawable(text, font)
    if height < 4:
        raise BadInput(f"a word of {height} pixels cannot be read; its height must be at least 4")
    thickness = max(1, round(STROKE * height))
    if font == "strokes":
        return _in_strokes(text, height, thickness)
    face = FONTS[font]
    scale = cv2.getFontScaleFromHeight(face, height, thickness)
    (width, above), below = cv2.getTextSize(text, face, scale, thickness)
    room = 2 * thickness + 2
    canvas = np.zeros((above + below + 2 * room, width + 2 * room), np.uint8)
    cv2.putText(canvas, text, (room, room + above), face, scale, 255, thickness, cv2.LINE_AA)
    return _cropped(canvas)


def _in_strokes(text: str, height: int, thickness: int) -> Coverage:
    unit = (height - thickness) / GRID
    canvas = np.zeros((height + 4 * thickness, (height + 4 * thickness) * len(text)), np.uint8)
    x = 2.0 * thickness
    for letter in text:
        runs = STROKES[letter]
        points = [np.rint(16 * (run * unit + (x, 2 * thickness))).astype(np.int32) for run in runs]
        cv2.polylines(canvas, points, False, 255, thickness, cv2.LINE_AA, 4)
        x += unit * max(int(run[:, 0].max()) for run in runs) + 2.5 * thickness
    return _cropped(canvas)


def _cropped(canvas: Coverage) -> Coverage:
    left, top, wide, high = cv2.boundingRect(canvas)
    return np.ascontiguousarray(canvas[top : top + high, left : left + wide])


def with_word(image: Image, coverage: Coverage, x: int, y: int, ink: tuple[int, int, int]) -> Image:
    """The picture with ink of that colour where the word covers it; (x, y) is the word's top left."""
    height, width = coverage.shape
    result: Image = image.copy()
    place = result[y : y + height, x : x + width]
    share = coverage[..., None].astype(np.float32) / 255
    place[:] = np.rint(place * (1 - share) + np.array(ink, np.float32) * share).astype(np.uint8)
    return result


def require_drawable(text: str, font: str) -> None:
    """Raise BadInput unless the font is one of ours and has every character of the word.

    >>> require_drawable("naïve", "duplex")
    Traceback (most recent call last):
    instar.core.errors.BadInput: the font 'duplex' cannot draw 'ï' in 'naïve'; it knows printable ASCII only
    """
    if font not in FONTS and font != "strokes":
        raise BadInput(f"font is {font!r}; it is one of {', '.join(FONTS)}, strokes")
    if not text:
        raise BadInput("a word to draw is empty")
    if " " in text:
        raise BadInput(f"{text!r} has a space in it; a watermark is one word")
    for character in text:
        if character not in STROKES if font == "strokes" else not "!" <= character <= "~":
            known = "".join(STROKES) if font == "strokes" else "printable ASCII"
            raise BadInput(f"the font {font!r} cannot draw {character!r} in {text!r}; it knows {known} only")
