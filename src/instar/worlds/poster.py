"""Drawn posters: words on an arc, one letter below the other, or turned by any angle, in four scripts.

They are pages otherwise: the words are known, and as plain to see at a hundred grey levels more or less.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from instar.core.scene import Scene
from instar.imaging.lettering import STROKES, Coverage, drawn_word
from instar.imaging.warp import corners_of
from instar.worlds.page import EDGE, Printed, choose_ink, draw_scenes

_VOCABULARY = (
    "CINEMA", "HARBOUR", "Museum", "Theatre", "Welcome", "STATION", "Bakery", "Tickets", "Kitchen", "Bridge",
    "出口", "入口", "日本", "中山", "山口", "田中", "上下", "天王", "大人", "土木工人", "中山出口",
    "ΕΞΟΔΟΣ", "ΛΙΜΑΝΙ", "ΣΤΑΘΜΟΣ", "ΘΕΑΤΡΟ", "ΔΡΟΜΟΣ", "ΠΟΛΗ", "ΨΩΜΙ", "ΦΩΣ",
    "ШКОЛА", "ПОЧТА", "ГОРОД", "ЯБЛОКО", "ВОДА", "ПАРК", "БЮРО", "ЖУК",
)  # fmt: skip
_STRIPS = 6
"""A word on an arc has so many, as annotators of Total-Text see it."""


def scenes(n: int, *, seed: int = 0, size: tuple[int, int] = (480, 640)) -> list[Scene]:
    """`n` posters of `size` (height, width), each the same for the same seed and index."""
    return draw_scenes("poster", n, seed, size, _VOCABULARY, _print)


def _print(
    text: str, paper: npt.NDArray[np.int64], is_light: bool, size: tuple[int, int], rng: np.random.Generator
) -> Printed | None:
    """One word somewhere; None where it would come too close to the edge."""
    height = int(rng.integers(24, 37))
    font = "strokes" if text[0] in STROKES else "duplex"
    way = str(rng.choice(["arc", "column", "turned"]))
    coverage = _stacked(text, height, font) if way == "column" else drawn_word(text, height, font=font)
    outline = corners_of((coverage.shape[0], coverage.shape[1])).astype(np.float64)
    if way == "arc":
        outline = _bent(coverage, math.radians(rng.uniform(60, 130)), down=bool(rng.random() < 0.5))
    angle = math.radians(rng.uniform(-60, 60)) if way == "turned" else 0.0
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    around = (outline - (outline.min(axis=0) + outline.max(axis=0)) / 2) @ turn.T
    placed = around + np.rint([rng.uniform(0, size[1]), rng.uniform(0, size[0])])
    inside = placed.min() >= EDGE and (placed.max(axis=0) <= np.array([size[1], size[0]]) - EDGE).all()
    ink = choose_ink(paper, is_light, rng)
    return Printed(text, coverage, placed.astype(np.float32), ink) if inside else None


def _stacked(text: str, height: int, font: str) -> Coverage:
    """The letters one below the other, with a fifth of their height between."""
    letters = [drawn_word(letter, height, font=font) for letter in text]
    width = max(letter.shape[1] for letter in letters)
    rows = []
    for letter in letters:
        left = (width - letter.shape[1]) // 2
        rows.append(np.pad(letter, ((0, height // 5), (left, width - letter.shape[1] - left))))
    return np.ascontiguousarray(np.concatenate(rows)[: -(height // 5)])


def _bent(coverage: Coverage, arc: float, *, down: bool) -> npt.NDArray[np.float64]:
    """`float64 (2 * _STRIPS + 2, 2)`: the outline of a word along an arc of so many radians, its middle as
    long as the word, hanging `down` in the middle or standing up there.
    """
    rows, columns = coverage.shape
    radius = max(columns / arc, 1.5 * rows)
    widths = [part.shape[1] for part in np.array_split(coverage, _STRIPS, axis=1)]
    angles = (np.cumsum([0, *widths]) - columns / 2) / radius
    sign = 1 if down else -1
    near, far = radius - sign * rows / 2, radius + sign * rows / 2
    top, foot = (np.stack([r * np.sin(angles), sign * r * np.cos(angles)], axis=1) for r in (near, far))
    return np.concatenate([top, foot[::-1]])
