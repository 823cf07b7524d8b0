"""What stands along the street for good: trees, signs, traffic lights and lamps."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from instar.worlds.drive.boards import board
from instar.worlds.drive.canvas import Canvas, Colour, Points
from instar.worlds.drive.plan import Thing
from instar.worlds.drive.textures import CROWNS, at_height, crown
from instar.worlds.drive.view import Camera

__all__ = ["LAMP_HEIGHT", "paint_lamp", "paint_light", "paint_sign", "paint_tree"]

STEEL: Colour = (104, 106, 110)
LAMP_HEIGHT = 6.5
LAMPS: Mapping[str, Colour] = {"red": (255, 40, 30), "yellow": (255, 190, 40), "green": (50, 240, 120)}
ROUND = np.stack([np.cos(np.arange(14) * (np.pi / 7)), np.sin(np.arange(14) * (np.pi / 7))], axis=1)
SIGN_BOTTOM, SIGN_SIDE = 1.9, 0.72  # metres


def paint_tree(canvas: Canvas, thing: Thing, view: Camera, owner: int) -> None:
    """A tree with its trunk where the thing stands."""
    x, y = view.project(thing.offset, 0.0, thing.distance)
    scale = view.scale(thing.distance)
    high = (5.0 + 3.5 * ((thing.look * 7) % 11) / 10) * thing.scale * scale
    _spot(canvas, x, y, 1.3 * scale * thing.scale, 0.35)
    levels = crown(thing.look % CROWNS)
    canvas.sprite(
        at_height(levels, high), x - high * 0.375, y - high, high * 0.75, high, owner, 1 / thing.distance
    )


def paint_sign(canvas: Canvas, thing: Thing, view: Camera, owner: int, pole: int) -> None:
    """A board on a pole; the variant is its kind, maybe a number and a shape: "speed limit 30/square"."""
    x, y = view.project(thing.offset, 0.0, thing.distance)
    scale = view.scale(thing.distance) * thing.scale
    near = 1 / thing.distance
    _spot(canvas, x, y, 0.25 * scale, 0.35)
    bottom, side = SIGN_BOTTOM * scale, SIGN_SIDE * scale
    _bar(canvas, x, y, y - bottom - side * 0.6, max(0.07 * scale, 0.7), STEEL, pole, near)
    name, _, outline = thing.variant.partition("/")
    kind, _, limit = name.rpartition(" ")
    if not limit.isdigit():
        kind, limit = name, "30"
    levels = board(kind or "speed limit", outline, int(limit))
    canvas.sprite(at_height(levels, side), x - side / 2, y - bottom - side, side, side, owner, near)


def paint_light(canvas: Canvas, thing: Thing, view: Camera, owner: int, pole: int) -> None:
    """A traffic light; the variant is the lamp that is lit."""
    x, y = view.project(thing.offset, 0.0, thing.distance)
    scale = view.scale(thing.distance) * thing.scale
    near = 1 / thing.distance
    _spot(canvas, x, y, 0.25 * scale, 0.35)
    bottom, high, wide = 2.3 * scale, 1.0 * scale, 0.38 * scale
    _bar(canvas, x, y, y - bottom, max(0.11 * scale, 0.8), (70, 72, 74), pole, near)
    box = np.array([[-wide / 2, 0], [wide / 2, 0], [wide / 2, high], [-wide / 2, high]])
    canvas.polygon((x, y - bottom) - box * (-1, 1), (34, 36, 38), owner, near)
    for place, name in ((0.8, "red"), (0.5, "yellow"), (0.2, "green")):
        lit = name == thing.variant
        colour = LAMPS[name] if lit else (58.0, 56.0, 52.0)
        ring = _circle(x, y - bottom - place * high, 0.36 * wide)
        canvas.polygon(ring, colour)
        if lit:
            canvas.shine(ring, LAMPS[name])


def paint_lamp(canvas: Canvas, thing: Thing, view: Camera, pole: int) -> None:
    """A street lamp whose arm reaches over the road."""
    x, y = view.project(thing.offset, 0.0, thing.distance)
    scale, near = view.scale(thing.distance), 1 / thing.distance
    toward = -1.0 if thing.offset > 0 else 1.0
    top = y - LAMP_HEIGHT * scale
    _spot(canvas, x, y, 0.25 * scale, 0.3)
    _bar(canvas, x, y, top, max(0.13 * scale, 0.8), (86, 90, 92), pole, near)
    reach = toward * 1.5 * scale
    thick = max(0.1 * scale, 0.7)
    arm = np.array(
        [[x, top], [x + reach, top - 0.15 * scale], [x + reach, top - 0.15 * scale + thick], [x, top + thick]]
    )
    canvas.polygon(arm, (86, 90, 92), pole, near)
    head = np.array([[0, 0], [0.6, 0], [0.55, 0.16], [0.05, 0.16]]) * scale * (toward, 1) + (
        x + reach,
        top - 0.15 * scale,
    )
    canvas.polygon(head, (196, 196, 186), pole, near)
    canvas.shine(head, (255, 224, 168))


def _bar(
    canvas: Canvas, x: float, low: float, high: float, wide: float, colour: Colour, owner: int, near: float
) -> None:
    half = wide / 2
    canvas.polygon(
        np.array([[x - half, low], [x + half, low], [x + half, high], [x - half, high]]), colour, owner, near
    )


def _spot(canvas: Canvas, x: float, y: float, half: float, strength: float) -> None:
    if half > 1.5:
        canvas.shade(ROUND * (half, 0.2 * half) + (x, y), strength)


def _circle(x: float, y: float, radius: float) -> Points:
    return ROUND * radius + (x, y)
