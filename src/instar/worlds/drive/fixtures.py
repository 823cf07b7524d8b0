"""What stands along the street for good: trees, signs, traffic lights and lamps."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from instar.worlds.drive.canvas import SURFACES, Camera, Canvas, Paint
from instar.worlds.drive.plan import Thing
from instar.worlds.drive.textures import CROWNS, at_height, crown, halves

STEEL: Paint = (104, 106, 110)
LAMP_HEIGHT = 6.5
LAMPS: Mapping[str, Paint] = {"red": (255, 40, 30), "yellow": (255, 190, 40), "green": (50, 240, 120)}
ROUND = np.stack([np.cos(np.arange(14) * (np.pi / 7)), np.sin(np.arange(14) * (np.pi / 7))], axis=1)
SIGN_BOTTOM, SIGN_SIDE = 1.9, 0.72  # metres
BOARD = 128  # pixels on each side, which it fills
WHITE, RED, BLUE, BLACK, YELLOW = (238, 238, 234), (196, 26, 30), (30, 84, 168), (26, 26, 28), (240, 196, 40)
BOARDS = {
    "stop": ("octagon", RED, WHITE),
    "turn": ("square", BLUE, WHITE),
    "crossing": ("square", BLUE, WHITE),
    "priority": ("diamond", YELLOW, WHITE),
    "yield": ("triangle", WHITE, RED),
}
"""Shape, ground and rim of each kind that is no speed limit."""
CORNERS = {
    "square": (4, np.pi / 4),
    "octagon": (8, np.pi / 8),
    "diamond": (4, 0.0),
    "triangle": (3, np.pi / 2),
    "circle": (72, 0.0),
}
"""How many each shape has, and how far it is turned."""

Rgba = npt.NDArray[np.uint8]
POLE = SURFACES["pole"]


def paint_tree(canvas: Canvas, thing: Thing, view: Camera, owner: int) -> None:
    """A tree with its trunk where the thing stands."""
    x, y = view.project(thing.offset, 0.0, thing.distance)
    scale = view.scale(thing.distance)
    high = (5.0 + 3.5 * ((thing.look * 7) % 11) / 10) * thing.scale * scale
    _spot(canvas, x, y, 1.3 * scale * thing.scale, 0.35)
    picture = at_height(crown(thing.look % CROWNS), high)
    canvas.sprite(picture, x - high * 0.375, y - high, high * 0.75, high, owner, 1 / thing.distance)


def paint_sign(canvas: Canvas, thing: Thing, view: Camera, owner: int) -> None:
    """A board on a pole; the variant is its kind, maybe a number and a shape: "speed limit 30/square"."""
    x, y = view.project(thing.offset, 0.0, thing.distance)
    scale = view.scale(thing.distance) * thing.scale
    near = 1 / thing.distance
    _spot(canvas, x, y, 0.25 * scale, 0.35)
    bottom, side = SIGN_BOTTOM * scale, SIGN_SIDE * scale
    _bar(canvas, x, y, y - bottom - side * 0.6, max(0.07 * scale, 0.7), STEEL, near)
    name, _, outline = thing.variant.partition("/")
    kind, _, limit = name.rpartition(" ")
    if not limit.isdigit():
        kind, limit = name, "30"
    levels = board(kind or "speed limit", outline, int(limit))
    canvas.sprite(at_height(levels, side), x - side / 2, y - bottom - side, side, side, owner, near)


def paint_light(canvas: Canvas, thing: Thing, view: Camera, owner: int) -> None:
    """A traffic light; the variant is the lamp that is lit."""
    x, y = view.project(thing.offset, 0.0, thing.distance)
    scale = view.scale(thing.distance) * thing.scale
    near = 1 / thing.distance
    _spot(canvas, x, y, 0.25 * scale, 0.35)
    bottom, high, wide = 2.3 * scale, 1.0 * scale, 0.38 * scale
    _bar(canvas, x, y, y - bottom, max(0.11 * scale, 0.8), (70, 72, 74), near)
    box = np.array([[-wide / 2, 0], [wide / 2, 0], [wide / 2, high], [-wide / 2, high]])
    canvas.polygon((x, y - bottom) - box * (-1, 1), (34, 36, 38), owner, near)
    for place, name in ((0.8, "red"), (0.5, "yellow"), (0.2, "green")):
        lit = name == thing.variant
        colour = LAMPS[name] if lit else (58.0, 56.0, 52.0)
        ring = ROUND * (0.36 * wide) + (x, y - bottom - place * high)
        canvas.polygon(ring, colour)
        if lit:
            canvas.shine(ring, LAMPS[name])


def paint_lamp(canvas: Canvas, thing: Thing, view: Camera, _owner: int) -> None:
    """A street lamp whose arm reaches over the road."""
    x, y = view.project(thing.offset, 0.0, thing.distance)
    scale, near = view.scale(thing.distance), 1 / thing.distance
    toward = -1.0 if thing.offset > 0 else 1.0
    top = y - LAMP_HEIGHT * scale
    _spot(canvas, x, y, 0.25 * scale, 0.3)
    _bar(canvas, x, y, top, max(0.13 * scale, 0.8), (86, 90, 92), near)
    end, raised = x + toward * 1.5 * scale, top - 0.15 * scale
    thick = max(0.1 * scale, 0.7)
    arm = np.array([[x, top], [end, raised], [end, raised + thick], [x, top + thick]])
    canvas.polygon(arm, (86, 90, 92), POLE, near)
    head = np.array([[0, 0], [0.6, 0], [0.55, 0.16], [0.05, 0.16]]) * scale * (toward, 1) + (end, raised)
    canvas.polygon(head, (196, 196, 186), POLE, near)
    canvas.shine(head, (255, 224, 168))


def _bar(canvas: Canvas, x: float, low: float, high: float, wide: float, colour: Paint, near: float) -> None:
    left, right = x - wide / 2, x + wide / 2
    corners = np.array([[left, low], [right, low], [right, high], [left, high]])
    canvas.polygon(corners, colour, POLE, near)


def _spot(canvas: Canvas, x: float, y: float, half: float, strength: float) -> None:
    if half > 1.5:
        canvas.shade(ROUND * (half, 0.2 * half) + (x, y), strength)


@lru_cache(maxsize=64)
def board(kind: str, shape: str = "", limit: int = 30) -> tuple[Rgba, ...]:
    """A board from `uint8 (128, 128, 4)` down by halves: stop, speed limit, turn, crossing or priority.

    `shape` is circle, square, octagon or diamond, where it is not the usual one of its kind.
    """
    large = 3 * BOARD
    half = large // 2
    colour, cover = np.zeros((large, large, 3), np.uint8), np.zeros((large, large), np.uint8)
    usual, back, rim = BOARDS.get(kind, ("circle", WHITE, RED))
    outer = _outline(shape or usual, large / 2, large * 0.49)
    inner = _outline(shape or usual, large / 2, large * (0.38 if kind == "speed limit" else 0.45))
    cv2.fillPoly(cover, [outer], 255)
    colour[:] = rim
    cv2.fillPoly(colour, [inner], back)
    if kind == "turn":
        cv2.arrowedLine(colour, (half, large * 3 // 4), (half, half), WHITE, large // 9, tipLength=0.01)
        cv2.arrowedLine(colour, (half, half), (large * 3 // 4, half), WHITE, large // 9, tipLength=0.6)
    elif kind == "crossing":
        triangle = np.array([[0.5, 0.14], [0.86, 0.8], [0.14, 0.8]]) * large
        cv2.fillPoly(colour, [triangle.astype(np.int32)], WHITE)
        hip = (half, int(0.6 * large))
        cv2.circle(colour, (half, int(0.4 * large)), large // 18, BLACK, cv2.FILLED)
        cv2.line(colour, (half, int(0.46 * large)), hip, BLACK, large // 16)
        for x in (0.4, 0.6):
            cv2.line(colour, hip, (int(x * large), int(0.74 * large)), BLACK, large // 20)
    elif kind == "stop":
        _write(colour, "STOP", 0.24, WHITE)
    elif kind == "speed limit":
        _write(colour, str(limit), 0.36, BLACK)
    small = [cv2.resize(one, (BOARD, BOARD), interpolation=cv2.INTER_AREA) for one in (colour, cover)]
    return halves(np.dstack(small).astype(np.uint8))


def _write(colour: Rgba, text: str, height: float, ink: tuple[int, int, int]) -> None:
    large = colour.shape[0]
    font, thick = cv2.FONT_HERSHEY_SIMPLEX, max(1, round(large * 0.045))
    (_, tall), _ = cv2.getTextSize(text, font, 10, thick)
    scale = 10 * height * large / tall
    (wide, tall), _ = cv2.getTextSize(text, font, scale, thick)
    start = ((large - wide) // 2, (large + tall) // 2)
    cv2.putText(colour, text, start, font, scale, ink, thick, cv2.LINE_AA)


def _outline(shape: str, middle: float, radius: float) -> npt.NDArray[np.int32]:
    corners, turned = CORNERS.get(shape, CORNERS["circle"])
    reach = radius * (2**0.5 if shape == "square" else 1.0)
    angle = np.arange(corners) * (2 * np.pi / corners) + turned
    corner = np.stack([middle + reach * np.cos(angle), middle + reach * np.sin(angle)], 1)
    return np.asarray(np.rint(corner), np.int32)
