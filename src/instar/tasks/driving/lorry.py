"""Lorries drawn finely enough to stand in a photograph: doors, bars, lamps, tyres, and the dark below."""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
import numpy.typing as npt

Canvas = npt.NDArray[np.uint8]
Colour = tuple[int, int, int]

SCALE = 110  # pixels of a metre
FINER = 2  # drawn so many times larger, for smooth edges
WIDE, TALL, ASIDE = 2.5, 3.4, 0.22  # metres; aside are mirrors
BODIES: tuple[Colour, ...] = ((226, 226, 222), (205, 206, 204), (216, 212, 200), (66, 84, 120), (126, 50, 46))
CAB = 2.9  # metres high, with the load behind it higher
BLACK, RUBBER, STEEL, LIGHT = (16, 16, 18), (27, 27, 28), (62, 63, 66), (150, 152, 154)
GLASS, RED, AMBER, PALE = (38, 46, 52), (150, 22, 26), (196, 104, 28), (214, 216, 214)
YELLOW, WHITE = (214, 182, 44), (222, 222, 216)


def lorries() -> Iterator[Canvas]:
    """`uint8 (h, w, 4)`: each colour from behind and from before, standing on the lower edge."""
    for number, body in enumerate(BODIES):
        rng = np.random.default_rng(number)
        yield _finished(_rear(body), rng)
        yield _finished(_front(body, BODIES[(number + 1) % 3]), rng)


class _Sheet:
    """A canvas whose places are metres from the middle and above the ground."""

    def __init__(self) -> None:
        self.unit = SCALE * FINER
        shape = (round(TALL * self.unit), round((WIDE + 2 * ASIDE) * self.unit), 4)
        self.pixels: Canvas = np.zeros(shape, np.uint8)

    def at(self, x: float, y: float) -> tuple[int, int]:
        return (
            round((x + WIDE / 2 + ASIDE) * self.unit),
            round((TALL - y) * self.unit),
        )

    def box(self, x1: float, y1: float, x2: float, y2: float, colour: Colour, cover: int = 255) -> None:
        """A box from its lower left to its upper right corner."""
        cv2.rectangle(self.pixels, self.at(x1, y2), self.at(x2, y1), (*colour, cover), -1)

    def both(self, x1: float, y1: float, x2: float, y2: float, colour: Colour) -> None:
        """A box and its mirror image on the other side."""
        self.box(x1, y1, x2, y2, colour)
        self.box(-x2, y1, -x1, y2, colour)

    def shape(self, points: list[tuple[float, float]], colour: Colour) -> None:
        corners = np.array([self.at(*point) for point in points], np.int32)
        cv2.fillPoly(self.pixels, [corners], (*colour, 255))

    def shade(self, x1: float, y1: float, x2: float, y2: float, upper: float, lower: float) -> None:
        """Lighter or darker from the upper edge of a box to its lower one."""
        (left, top), (right, bottom) = self.at(x1, y2), self.at(x2, y1)
        part = self.pixels[top:bottom, left:right, :3]
        ramp = np.linspace(upper, lower, part.shape[0], dtype=np.float32)[:, None, None]
        part[:] = np.clip(part * ramp, 0, 255).astype(np.uint8)


def _below(sheet: _Sheet, *tyres: float) -> None:
    """Tyres, so far from the middle, and between them what no light reaches."""
    sheet.box(-1.18, 0.16, 1.18, 1.0, BLACK)
    sheet.box(-1.05, 0.0, 1.05, 0.16, BLACK, 150)  # its shadow on the road
    for side in (-1, 1):
        for x in tyres:
            left, right = sorted((side * x - 0.14, side * x + 0.14))
            sheet.box(left, 0.06, right, 0.95, RUBBER)
            sheet.box(left + 0.03, 0.0, right - 0.03, 0.06, RUBBER)
            for step in np.arange(0.1, 0.9, 0.055):
                sheet.box(left, step, right, step + 0.02, BLACK)
    sheet.box(-0.6, 0.38, 0.6, 0.52, (34, 33, 33))
    cv2.circle(sheet.pixels, sheet.at(0, 0.45), round(0.19 * sheet.unit), (*(38, 37, 36), 255), -1)


def _rear(body: Colour) -> Canvas:
    sheet = _Sheet()
    _below(sheet, 1.06, 0.74)
    sheet.both(0.56, 0.3, 1.2, 0.98, (21, 21, 22))  # mud flaps
    sheet.both(0.6, 0.06, 1.16, 0.3, RUBBER)
    edge = _times(body, 0.8)
    sheet.box(-WIDE / 2, 1.0, WIDE / 2, TALL, edge)
    sheet.box(-1.17, 1.1, 1.17, TALL - 0.09, body)
    sheet.shade(-WIDE / 2, 1.0, WIDE / 2, TALL, 1.03, 0.84)
    sheet.box(-0.014, 1.1, 0.014, TALL - 0.09, _times(body, 0.35))
    for x in (0.16, 0.78):
        for side in (-1, 1):
            at = side * x
            sheet.box(at + 0.02, 1.08, at + 0.045, TALL - 0.1, _times(body, 0.62))
            sheet.box(at - 0.02, 1.06, at + 0.02, TALL - 0.09, _mixed(body, LIGHT))
            for height in (1.12, 1.75, 2.5, 3.2):
                sheet.box(at - 0.05, height, at + 0.05, height + 0.07, _times(_mixed(body, LIGHT), 0.75))
            sheet.box(at - 0.02, 1.52, at + 0.24, 1.56, STEEL)  # its handle
    for height in (1.25, 1.85, 2.45, 3.05):
        sheet.both(1.1, height, 1.21, height + 0.1, _times(body, 0.6))
    sheet.both(1.02, TALL - 0.06, 1.14, TALL - 0.03, RED)
    sheet.box(-1.2, 0.78, 1.2, 1.02, STEEL)
    sheet.shade(-1.2, 0.78, 1.2, 1.02, 0.5, 0.95)
    sheet.both(0.78, 0.8, 1.18, 0.95, BLACK)
    sheet.both(1.0, 0.815, 1.16, 0.935, RED)
    sheet.both(0.9, 0.815, 0.985, 0.935, AMBER)
    sheet.both(0.8, 0.815, 0.885, 0.935, PALE)
    sheet.box(-0.27, 0.81, 0.27, 0.94, YELLOW)
    _letters(sheet, 0.81)
    sheet.box(-1.15, 0.46, 1.15, 0.56, LIGHT)
    sheet.shade(-1.15, 0.46, 1.15, 0.56, 0.9, 0.5)
    sheet.both(0.4, 0.56, 0.46, 0.8, STEEL)
    return sheet.pixels


def _front(body: Colour, load: Colour) -> Canvas:
    sheet = _Sheet()
    _below(sheet, 1.02)
    sheet.box(-WIDE / 2, 1.0, WIDE / 2, TALL, _times(load, 0.82))
    sheet.shade(-WIDE / 2, 1.0, WIDE / 2, TALL, 1.0, 0.7)
    slope = [(-1.17, 0.55), (-1.19, 1.7), (-1.1, CAB - 0.12), (-1.0, CAB), (1.0, CAB), (1.1, CAB - 0.12)]
    sheet.shape([*slope, (1.19, 1.7), (1.17, 0.55)], body)
    sheet.shade(-1.2, 0.55, 1.2, CAB, 1.02, 0.9)
    sheet.shape([(-1.1, 1.68), (-1.02, 2.52), (1.02, 2.52), (1.1, 1.68)], BLACK)
    sheet.shape([(-1.06, 1.72), (-0.99, 2.49), (0.99, 2.49), (1.06, 1.72)], GLASS)
    sheet.shade(-1.06, 1.72, 1.06, 2.49, 1.9, 0.7)
    for seat in (-0.5, 0.5):
        sheet.shape(
            [(seat - 0.2, 1.8), (seat - 0.14, 2.15), (seat + 0.14, 2.15), (seat + 0.2, 1.8)], (26, 28, 30)
        )
    sheet.box(-1.04, 1.72, 1.04, 1.82, (24, 25, 27))  # its dashboard
    for x in (-0.75, 0.1):
        cv2.line(
            sheet.pixels,
            sheet.at(x, 1.72),
            sheet.at(x + 0.62, 1.84),
            (*BLACK, 255),
            3 * FINER // 2,
            cv2.LINE_AA,
        )
    sheet.box(-1.03, 2.46, 1.03, 2.58, _times(body, 0.45))  # a visor
    sheet.box(-0.85, 0.98, 0.85, 1.55, _times(body, 0.55))
    for height in np.arange(1.02, 1.5, 0.09):
        sheet.box(-0.82, float(height), 0.82, float(height) + 0.055, (30, 31, 33))
    cv2.circle(sheet.pixels, sheet.at(0, 1.5), round(0.07 * sheet.unit), (*LIGHT, 255), -1, cv2.LINE_AA)
    sheet.box(-1.2, 0.36, 1.2, 0.94, _mixed(STEEL, body))
    sheet.shade(-1.2, 0.36, 1.2, 0.94, 1.1, 0.8)
    sheet.both(0.74, 0.66, 1.16, 0.9, BLACK)
    sheet.both(0.77, 0.69, 0.98, 0.87, (186, 190, 192))
    sheet.both(1.0, 0.69, 1.13, 0.87, AMBER)
    sheet.both(0.83, 0.74, 0.92, 0.82, (238, 240, 240))
    sheet.box(-0.55, 0.42, 0.55, 0.56, (28, 28, 30))
    sheet.box(-0.27, 0.6, 0.27, 0.72, WHITE)
    _letters(sheet, 0.6)
    sheet.both(1.12, 1.78, 1.2, 1.84, BLACK)
    sheet.both(1.2, 1.62, 1.42, 2.2, (24, 25, 27))
    sheet.both(1.14, 2.1, 1.3, 2.14, BLACK)
    return sheet.pixels


def _letters(sheet: _Sheet, bottom: float) -> None:
    """Seven dark marks on a number plate, too small to be read."""
    for place in (-0.22, -0.16, -0.1, -0.04, 0.06, 0.12, 0.18):
        sheet.box(place, bottom + 0.03, place + 0.035, bottom + 0.095, (40, 38, 34))


def _finished(drawn: Canvas, rng: np.random.Generator) -> Canvas:
    """Smaller, with uneven panels, dirt from below and the soft edges that a lens leaves."""
    height, width = drawn.shape[0] // FINER, drawn.shape[1] // FINER
    small = cv2.resize(drawn, (width, height), interpolation=cv2.INTER_AREA)
    colours = cv2.GaussianBlur(small[..., :3], (0, 0), 0.7).astype(np.float32)
    uneven = cv2.GaussianBlur(rng.normal(0, 1, (height, width)).astype(np.float32), (0, 0), 30)
    streaks = cv2.GaussianBlur(rng.normal(0, 1, (height, width)).astype(np.float32), (0, 0), 5, sigmaY=30)
    grime = 1 + 0.025 * uneven / uneven.std() + 0.008 * streaks / streaks.std()
    low = np.clip((np.arange(height) / height - 0.45) / 0.4, 0, 1)[:, None] * 0.12
    dirty = colours * np.asarray(grime, np.float32)[..., None]
    dusty = dirty + (np.array([104, 98, 90], np.float32) - dirty) * low.astype(np.float32)[..., None]
    columns = np.flatnonzero(small[..., 3].any(axis=0))
    made = np.dstack([np.clip(np.rint(dusty), 0, 255).astype(np.uint8), small[..., 3]])
    return np.ascontiguousarray(made[:, columns[0] : columns[-1] + 1])


def _times(colour: Colour, share: float) -> Colour:
    red, green, blue = (round(level * share) for level in colour)
    return red, green, blue


def _mixed(one: Colour, other: Colour) -> Colour:
    red, green, blue = ((a + b) // 2 for a, b in zip(one, other))
    return red, green, blue
