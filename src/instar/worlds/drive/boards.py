"""Boards of traffic signs, drawn once each."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from instar.worlds.drive.textures import halves

__all__ = ["SIDE", "board"]

SIDE = 128
"""Pixels; the board fills the square."""

WHITE, RED, BLUE, BLACK, YELLOW = (238, 238, 234), (196, 26, 30), (30, 84, 168), (26, 26, 28), (240, 196, 40)
USUAL_SHAPE = {"stop": "octagon", "turn": "square", "crossing": "square", "priority": "diamond"}

Rgba = npt.NDArray[np.uint8]


@lru_cache(maxsize=64)
def board(kind: str, shape: str = "", limit: int = 30) -> tuple[Rgba, ...]:
    """A board from `uint8 (128, 128, 4)` down by halves: stop, speed limit, turn, crossing or priority.

    `shape` is circle, square, octagon or diamond, where it is not the usual one of its kind.
    """
    large = 3 * SIDE
    colour, cover = np.zeros((large, large, 3), np.uint8), np.zeros((large, large), np.uint8)
    shape = shape or USUAL_SHAPE.get(kind, "circle")
    back, rim = {
        "stop": (RED, WHITE),
        "turn": (BLUE, WHITE),
        "crossing": (BLUE, WHITE),
        "priority": (YELLOW, WHITE),
    }.get(kind, (WHITE, RED))
    thin = kind != "speed limit"
    for size, paint in ((0.49, rim), (0.45 if thin else 0.38, back)):
        outline = _outline(shape, large / 2, large * size)
        cv2.fillPoly(colour, [outline], paint)
        if size == 0.49:
            cv2.fillPoly(cover, [outline], 255)
            colour[cover == 0] = paint
    if kind == "turn":
        half = large // 2
        cv2.arrowedLine(colour, (half, large * 3 // 4), (half, half), WHITE, large // 9, tipLength=0.01)
        cv2.arrowedLine(colour, (half, half), (large * 3 // 4, half), WHITE, large // 9, tipLength=0.6)
    elif kind == "crossing":
        triangle = np.array([[0.5, 0.14], [0.86, 0.8], [0.14, 0.8]]) * large
        cv2.fillPoly(colour, [triangle.astype(np.int32)], WHITE)
        cv2.circle(colour, (large // 2, int(0.4 * large)), large // 18, BLACK, cv2.FILLED)
        cv2.line(colour, (large // 2, int(0.46 * large)), (large // 2, int(0.6 * large)), BLACK, large // 16)
        for x in (0.4, 0.6):
            cv2.line(
                colour,
                (large // 2, int(0.6 * large)),
                (int(x * large), int(0.74 * large)),
                BLACK,
                large // 20,
            )
    elif kind in ("stop", "speed limit"):
        _write(
            colour,
            "STOP" if kind == "stop" else str(limit),
            0.24 if kind == "stop" else 0.36,
            WHITE if kind == "stop" else BLACK,
        )
    return halves(np.dstack([_small(colour), _small(cover)]))


def _small(picture: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    return np.asarray(cv2.resize(picture, (SIDE, SIDE), interpolation=cv2.INTER_AREA), np.uint8)


def _write(colour: Rgba, text: str, height: float, ink: tuple[int, int, int]) -> None:
    large = colour.shape[0]
    font, thick = cv2.FONT_HERSHEY_SIMPLEX, max(1, round(large * 0.045))
    (_, tall), _ = cv2.getTextSize(text, font, 10, thick)
    scale = 10 * height * large / tall
    (wide, tall), _ = cv2.getTextSize(text, font, scale, thick)
    cv2.putText(
        colour, text, ((large - wide) // 2, (large + tall) // 2), font, scale, ink, thick, cv2.LINE_AA
    )


def _outline(shape: str, middle: float, radius: float) -> npt.NDArray[np.int32]:
    corners, turned = {"square": (4, np.pi / 4), "octagon": (8, np.pi / 8), "diamond": (4, 0.0)}.get(
        shape, (72, 0.0)
    )
    reach = radius * (2**0.5 if shape == "square" else 1.0)
    angle = np.arange(corners) * (2 * np.pi / corners) + turned
    corner = np.stack([middle + reach * np.cos(angle), middle + reach * np.sin(angle)], 1)
    return np.asarray(np.rint(corner), np.int32)
