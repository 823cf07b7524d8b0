"""Pedestrians and bicyclists: jointed figures of some metres' worth of pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from instar.worlds.drive.canvas import SURFACES, Camera, Canvas, Paint, in_shade
from instar.worlds.drive.plan import Thing

ROUND = [(math.cos(i * math.pi / 6), math.sin(i * math.pi / 6)) for i in range(12)]
PERSON = 1.75  # metres tall

SKIN: tuple[Paint, ...] = ((224, 178, 148), (196, 144, 112), (142, 98, 72), (96, 66, 50))
HAIR: tuple[Paint, ...] = ((44, 34, 28), (86, 60, 40), (150, 120, 76), (120, 116, 112))
COATS: tuple[Paint, ...] = (
    (170, 44, 44), (40, 66, 122), (58, 92, 66), (196, 168, 60), (60, 60, 66), (150, 108, 76), (206, 206, 202),
    (98, 62, 112), (214, 122, 52), (72, 124, 148),
)  # fmt: skip
TROUSERS: tuple[Paint, ...] = ((44, 52, 78), (50, 48, 48), (98, 88, 74), (72, 76, 84), (38, 44, 44))
BLACK: Paint = (26, 26, 28)


class _Figure:
    """Collects shapes in metres around the feet (x to the right, y up), and paints them all at once."""

    def __init__(self, canvas: Canvas, thing: Thing, view: Camera, owner: int, size: float) -> None:
        foot = view.project(thing.offset, 0.0, thing.distance)
        self.foot, self.scale = foot, view.scale(thing.distance) * size
        self.canvas, self.owner, self.near = canvas, owner, 1 / thing.distance
        self.mirror = -1.0 if thing.look % 2 else 1.0
        self.points: list[tuple[float, float]] = []
        self.lengths: list[int] = []
        self.colours: list[Paint] = []
        self.owners: list[int] = []

    def shape(self, points: Sequence[tuple[float, float]], colour: Paint, own: bool = True) -> None:
        self.points += points
        self.lengths.append(len(points))
        self.colours.append(colour)
        self.owners.append(self.owner if own else -1)

    def limb(
        self, start: tuple[float, float], end: tuple[float, float], w0: float, w1: float, colour: Paint
    ) -> None:
        (x0, y0), (x1, y1) = start, end
        length = max(math.hypot(x1 - x0, y1 - y0), 1e-9)
        sx, sy = -(y1 - y0) / length / 2, (x1 - x0) / length / 2
        one = [(x0 + sx * w0, y0 + sy * w0), (x1 + sx * w1, y1 + sy * w1)]
        other = [(x1 - sx * w1, y1 - sy * w1), (x0 - sx * w0, y0 - sy * w0)]
        self.shape([*one, *other], colour)

    def oval(self, centre: tuple[float, float], rx: float, ry: float, colour: Paint) -> None:
        self.shape([(centre[0] + rx * x, centre[1] + ry * y) for x, y in ROUND], colour)

    def shadow(self, half: float) -> None:
        self.canvas.shade(self.foot + np.array(ROUND) * (half * self.scale, 0.16 * half * self.scale), 0.5)

    def paint(self) -> None:
        pixels = self.foot + np.array(self.points) * (self.mirror * self.scale, -self.scale)
        self.canvas.polygons(pixels, self.lengths, self.colours, self.owners, self.near)


def _one_of(colours: Sequence[Paint], rng: np.random.Generator) -> Paint:
    return colours[int(rng.integers(len(colours)))]


def paint_pedestrian(canvas: Canvas, thing: Thing, view: Camera, owner: int) -> None:
    """Someone walking, 1.55 to 1.9 m tall."""
    rng = np.random.default_rng([31, thing.look])
    tall = float(rng.uniform(1.58, 1.88)) / PERSON * thing.scale
    figure = _Figure(canvas, thing, view, owner, tall)
    coat, legs, skin, hair = (_one_of(kind, rng) for kind in (COATS, TROUSERS, SKIN, HAIR))
    stride = float(rng.uniform(0.05, 0.3))
    skirt = rng.random() < 0.2
    figure.shadow(0.42)
    for side, dark in ((-1.0, 0.72), (1.0, 1.0)):  # the far leg first
        knee = (side * stride * 0.45, 0.48)
        foot = (side * stride, 0.06)
        tone = in_shade(legs if not skirt else skin, dark)
        figure.limb((side * 0.06, 0.88), knee, 0.17, 0.13, tone)
        figure.limb(knee, foot, 0.13, 0.09, tone)
        x = foot[0]
        figure.shape([(x - 0.06, 0.0), (x + 0.16, 0.0), (x + 0.12, 0.08), (x - 0.06, 0.09)], BLACK)
    hand = (-stride * 0.7, 0.82)
    figure.limb((0.0, 1.38), hand, 0.11, 0.08, in_shade(coat, 0.7))
    hem = 0.62 if skirt or rng.random() < 0.3 else 0.84
    figure.shape([(-0.19, hem), (-0.21, 1.32), (-0.13, 1.46), (0.13, 1.46), (0.21, 1.32), (0.19, hem)], coat)
    fold = [(0.05, hem), (0.08, 1.44), (0.13, 1.46), (0.21, 1.32), (0.19, hem)]
    figure.shape(fold, in_shade(coat, 0.8), own=False)
    if rng.random() < 0.4:  # a rucksack or a bag
        bag = [(-0.3, 1.0), (-0.3, 1.36), (-0.14, 1.4), (-0.14, 0.98)]
        figure.shape(bag, in_shade(_one_of(COATS, rng), 0.8))
    figure.limb((0.17, 1.38), (stride * 0.8 + 0.1, 0.84), 0.11, 0.08, in_shade(coat, 0.9))
    figure.oval((stride * 0.8 + 0.1, 0.8), 0.05, 0.06, skin)
    figure.limb((0.0, 1.44), (0.01, 1.54), 0.11, 0.1, in_shade(skin, 0.85))
    figure.oval((0.01, 1.62), 0.1, 0.13, skin)
    figure.shape(
        [(-0.1, 1.58), (-0.115, 1.68), (-0.04, 1.76), (0.06, 1.755), (0.1, 1.7), (0.0, 1.68), (-0.05, 1.56)],
        hair,
    )
    figure.paint()


def paint_bicyclist(canvas: Canvas, thing: Thing, view: Camera, owner: int) -> None:
    """A rider seen from behind or from the front; wheels and frame belong to the bicycle."""
    rng = np.random.default_rng([32, thing.look])
    bicycle = SURFACES["bicycle"]
    figure = _Figure(canvas, thing, view, bicycle, thing.scale)
    coat, legs, skin, helmet = (_one_of(kind, rng) for kind in (COATS, TROUSERS, SKIN, COATS))
    figure.shadow(0.5)
    figure.oval((0.0, 0.34), 0.05, 0.34, BLACK)
    figure.limb((0.0, 0.3), (0.0, 0.85), 0.05, 0.05, in_shade(helmet, 0.7))
    figure.owner = owner
    figure.limb((-0.1, 0.9), (-0.16, 0.55), 0.17, 0.13, in_shade(legs, 0.85))
    figure.limb((-0.16, 0.55), (-0.13, 0.2), 0.12, 0.09, in_shade(legs, 0.8))
    figure.limb((0.1, 0.9), (0.17, 0.66), 0.17, 0.13, legs)
    figure.limb((0.17, 0.66), (0.13, 0.34), 0.12, 0.09, legs)
    for x, y in ((-0.13, 0.16), (0.13, 0.3)):
        figure.shape([(x - 0.06, y), (x + 0.07, y), (x + 0.06, y + 0.08), (x - 0.06, y + 0.08)], BLACK)
    figure.limb((-0.18, 1.34), (-0.27, 1.02), 0.11, 0.08, in_shade(coat, 0.85))
    figure.limb((0.18, 1.34), (0.27, 1.02), 0.11, 0.08, in_shade(coat, 0.85))
    figure.shape([(-0.17, 0.86), (-0.22, 1.3), (-0.12, 1.44), (0.12, 1.44), (0.22, 1.3), (0.17, 0.86)], coat)
    fold = [(0.03, 0.86), (0.05, 1.44), (0.12, 1.44), (0.22, 1.3), (0.17, 0.86)]
    figure.shape(fold, in_shade(coat, 0.82), own=False)
    figure.oval((0.0, 1.57), 0.1, 0.13, skin)
    figure.shape([(-0.12, 1.58), (-0.11, 1.69), (0.0, 1.74), (0.11, 1.69), (0.12, 1.58)], helmet)
    figure.owner = bicycle
    figure.limb((-0.29, 1.0), (0.29, 1.0), 0.04, 0.04, BLACK)
    if thing.away:
        figure.oval((0.0, 0.78), 0.04, 0.04, (190, 26, 26))
    else:
        figure.oval((0.0, 0.95), 0.05, 0.05, (236, 236, 220))
    figure.paint()
