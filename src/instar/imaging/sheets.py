"""Pictures for people: panels of one size, dashed lines, and panels put together under a line of words."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from instar.core.scene import Image

Colour = tuple[int, int, int]
INK: Colour = (28, 32, 38)
PAPER: Colour = (255, 255, 255)
FONT = cv2.FONT_HERSHEY_SIMPLEX
BAR = 30
LINE = 18  # pixels from one line of words to the next
GAP = 6


def panel(image: Image, *, side: int, most: float = 2.0) -> tuple[Image, float]:
    """A copy to draw on with a longer side of `side` pixels, enlarged `most` times at most; and the scale."""
    scale = min(most, side / max(image.shape[:2]))
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    scaled = cv2.resize(image, None, fx=scale, fy=scale, interpolation=how)
    return np.ascontiguousarray(scaled, np.uint8), scale


def dashed_line(
    image: Image, start: tuple[int, int], end: tuple[int, int], colour: Colour, *, thickness: int = 2
) -> None:
    """Draw a dashed line into the image, from (x, y) to (x, y)."""
    a, b = np.array(start, np.float64), np.array(end, np.float64)
    length = max(1.0, float(np.abs(b - a).max()))
    for at in np.arange(0, length, 12):
        p, q = (np.rint(a + min(1.0, t / length) * (b - a)).astype(int).tolist() for t in (at, at + 7))
        cv2.line(image, p, q, colour, thickness, cv2.LINE_AA)


def sheet(panels: Sequence[Image], sentence: str, *, beside: bool | None = None) -> Image:
    """Panels `beside` each other, by default unless they are wide, or one above the other, under a sentence.

    Smaller panels get a white edge; the letters shrink a little, and the sentence is broken where it is long.
    """
    sentence = drawable(sentence)
    height, width = (max(one.shape[axis] for one in panels) for axis in (0, 1))
    beside = width <= 1.6 * height if beside is None else beside
    framed = []
    for number, one in enumerate(panels):
        gap = GAP if number < len(panels) - 1 else 0
        frame = np.full((height, width + gap, 3) if beside else (height + gap, width, 3), 255, np.uint8)
        frame[: one.shape[0], : one.shape[1]] = one
        framed.append(frame)
    body = (np.hstack if beside else np.vstack)(framed)
    size, width = 0.5, body.shape[1] - 16
    while size > 0.4 and _width(sentence, size) > width:
        size -= 0.02
    lines = [""]
    for word in sentence.split():
        longer = f"{lines[-1]} {word}".strip()
        lines = [*lines[:-1], longer] if _width(longer, size) <= width else [*lines, word]
    bar = np.full((BAR + LINE * (len(lines) - 1), body.shape[1], 3), 255, np.uint8)
    for number, line in enumerate(lines):
        cv2.putText(bar, line, (8, 20 + LINE * number), FONT, size, INK, 1, cv2.LINE_AA)
    return np.ascontiguousarray(np.vstack([bar, body]))


def drawable(text: str) -> str:
    """The text in the letters that pictures can show: one "?" for any other."""
    return text.replace("…", "...").encode("ascii", "replace").decode()


def _width(text: str, size: float) -> int:
    return cv2.getTextSize(text, FONT, size, 1)[0][0]
