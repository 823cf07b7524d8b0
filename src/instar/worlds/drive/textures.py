"""Textures, made once and kept: grain, stains, clouds, crowns of trees, house fronts."""

from __future__ import annotations

from functools import cache, lru_cache

import cv2
import numpy as np
import numpy.typing as npt

Plane = npt.NDArray[np.float32]
Rgba = npt.NDArray[np.uint8]

SIDE = 512
CROWNS = 14
FRONTS = 28
PER_METRE = 20  # pixels of a house front
STOREY, BAY = 3.1, 2.6  # metres


@lru_cache(maxsize=1)
def grain() -> Plane:
    """Fine noise around 0, `float32 (512, 512)`; it may be repeated."""
    rng = np.random.default_rng(11)
    fine = rng.normal(0, 1, (SIDE, SIDE)).astype(np.float32)
    wide = np.pad(fine, 8, mode="wrap")
    return np.ascontiguousarray((0.6 * wide + 1.5 * cv2.GaussianBlur(wide, (0, 0), 1.2))[8:-8, 8:-8])


@lru_cache(maxsize=1)
def stains() -> Plane:
    """Large soft noise around 0, `float32 (512, 512)`; it may be repeated."""
    return _soft(np.random.default_rng(12), ((3, 0.5), (10, 0.8), (40, 1.0)))


@lru_cache(maxsize=1)
def clouds() -> Plane:
    """Clouds from 0 to 1, `float32 (512, 512)`, lying."""
    rng = np.random.default_rng(13)
    noise = _soft(rng, ((4, 0.15), (12, 0.3), (36, 0.6), (90, 0.8)))
    lying = cv2.resize(noise, (SIDE * 2, SIDE))[:, :SIDE]
    return np.asarray(np.clip(0.5 + 0.45 * lying / lying.std(), 0, 1), np.float32)


def _soft(rng: np.random.Generator, parts: tuple[tuple[int, float], ...]) -> Plane:
    total = np.zeros((SIDE, SIDE), np.float32)
    for size, weight in parts:
        pad = 4 * size
        noise = np.pad(rng.normal(0, 1, (SIDE, SIDE)).astype(np.float32), pad, mode="wrap")
        blurred = cv2.GaussianBlur(noise, (0, 0), size)[pad:-pad, pad:-pad]
        total += np.float32(weight) * blurred / blurred.std()
    return np.asarray(total / total.std(), np.float32)


@lru_cache(maxsize=CROWNS)
def crown(look: int) -> tuple[Rgba, ...]:
    """A tree from `uint8 (256, 192, 4)` down by halves: trunk, boughs and leaves lit from above."""
    rng = np.random.default_rng([14, look])
    height, width = 256, 192
    cover: npt.NDArray[np.uint8] = np.zeros((height, width), np.uint8)
    colour = np.zeros((height, width, 3), np.float32)
    bark = np.array([74, 62, 52], np.float32) * rng.uniform(0.8, 1.2)
    trunk = np.array([[90, 256], [102, 256], [100, 130], [92, 130]], np.int32)
    wood = np.zeros((height, width), np.uint8)
    cv2.fillPoly(wood, [trunk], 255, cv2.LINE_AA)
    for _ in range(5):
        end = (int(rng.uniform(50, 142)), int(rng.uniform(60, 120)))
        cv2.line(wood, (96, int(rng.uniform(130, 170))), end, 255, 3, cv2.LINE_AA)
    leaf = np.array([[60, 92, 40], [74, 104, 44], [52, 84, 48], [96, 108, 44]][look % 4], np.float32)
    leaf = leaf * rng.uniform(0.85, 1.15)
    slim = rng.uniform(0.7, 1.0)
    light = np.zeros((height, width), np.float32)
    for _ in range(150):
        angle, reach = rng.uniform(0, 2 * np.pi), np.sqrt(rng.uniform(0, 1))
        x = 96 + 78 * slim * reach * np.cos(angle)
        y = 92 + 78 * reach * np.sin(angle)
        radius = int(rng.uniform(7, 19))
        cv2.circle(cover, (int(x), int(y)), radius, 255, cv2.FILLED, cv2.LINE_AA)
        lit = 0.72 + 0.42 * (1 - y / 170) + rng.uniform(-0.12, 0.12) + 0.15 * (96 - x) / 96
        cv2.circle(light, (int(x), int(y)), radius, float(lit), cv2.FILLED)
    noise = cv2.GaussianBlur(rng.normal(0, 1, (height, width)), (0, 0), 1.3)
    speckle = np.clip(1 + 0.22 * noise * 2.2, 0.4, 1.7)
    ragged = rng.random((height, width)) > 0.06
    cover = np.asarray(cv2.GaussianBlur((cover * ragged).astype(np.uint8), (3, 3), 0), np.uint8)
    colour[:] = bark
    leaves = leaf * (cv2.blur(light, (3, 3)) * speckle.astype(np.float32))[..., None]
    share = cover[..., None].astype(np.float32) / 255
    colour = colour * (1 - share) + leaves * share
    return halves(np.dstack([np.clip(colour, 0, 255).astype(np.uint8), np.maximum(cover, wood)]))


def halves(picture: Rgba) -> tuple[Rgba, ...]:
    """The picture, and smaller ones, each half as large as the one before."""
    levels = [picture]
    while min(levels[-1].shape[:2]) > 12:
        half = cv2.resize(levels[-1], None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
        levels.append(np.asarray(half, np.uint8))
    return tuple(levels)


def at_height(levels: tuple[Rgba, ...], height: float) -> Rgba:
    """The smallest of the pictures that is still larger than it will be seen."""
    return next((level for level in reversed(levels) if level.shape[0] >= height), levels[0])


@cache
def front_size(look: int) -> tuple[int, int]:
    """Storeys and bays of a house front."""
    rng = np.random.default_rng([15, look % FRONTS])
    return int(rng.integers(2, 6)), int(rng.integers(3, 7))


@lru_cache(maxsize=FRONTS)
def front(look: int) -> tuple[Rgba, ...]:
    """A house front from its full size down by halves, `uint8 (h, w, 4)`; the last channel is lit windows."""
    storeys, bays = front_size(look)
    rng = np.random.default_rng([16, look % FRONTS])
    roof = 1.4
    height, width = round((storeys * STOREY + roof) * PER_METRE), round(bays * BAY * PER_METRE)
    walls = [
        (176, 152, 128), (150, 96, 76), (196, 184, 162), (134, 132, 130), (186, 170, 140), (164, 112, 92),
        (206, 198, 186), (122, 110, 104), (172, 176, 170), (190, 150, 116),
    ]  # fmt: skip
    wall = np.array(walls[int(rng.integers(len(walls)))], np.float32) * rng.uniform(0.85, 1.05)
    picture = np.empty((height, width, 3), np.float32)
    picture[:] = wall
    top = round(roof * PER_METRE)
    if rng.random() < 0.45:  # bricks
        for y in range(top, height, 5):
            picture[y] *= 0.86
    shine = np.zeros((height, width), np.uint8)
    picture[:top] = (92, 62, 52) if rng.random() < 0.5 else (72, 74, 80)
    picture[:top:6] *= 0.85
    picture[top : top + 5] = wall * 1.16
    shop = rng.random() < 0.4
    pane, wood = np.array([70, 82, 96], np.float32), np.array([86, 58, 42], np.float32)
    frame = wall * 1.22 if rng.random() < 0.6 else np.array([236, 234, 228], np.float32)
    wide, high = rng.uniform(1.0, 1.5), rng.uniform(1.5, 1.95)
    for storey in range(storeys):
        base = height - round(storey * STOREY * PER_METRE)
        if storey:
            picture[base - 3 : base] *= 0.9
        for bay in range(bays):
            centre = (bay + 0.5) * BAY * PER_METRE
            w, h, sill = wide, high, 0.85
            if storey == 0 and shop:
                w, h, sill = 2.2, 2.1, 0.35
            door = storey == 0 and bay == bays // 2
            if door:
                w, h, sill = 1.2, 2.3, 0.0
            x0, x1 = round(centre - w / 2 * PER_METRE), round(centre + w / 2 * PER_METRE)
            y1 = base - round(sill * PER_METRE)
            y0 = y1 - round(h * PER_METRE)
            picture[y0 - 2 : y1 + 3, max(0, x0 - 2) : x1 + 2] = frame
            inside = wood * rng.uniform(0.7, 1.4) if door else pane * rng.uniform(0.7, 1.5)
            ramp = np.linspace(1.25, 0.8, max(1, y1 - y0), dtype=np.float32)[:, None, None]
            picture[y0:y1, x0:x1] = inside * ramp
            if not door:
                picture[y0:y1, (x0 + x1) // 2 : (x0 + x1) // 2 + 1] = frame * 0.9
                picture[y0 : y0 + 4, x0:x1] *= 0.6  # the shadow of the lintel
                if rng.random() < (0.75 if shop and storey == 0 else 0.34):
                    shine[y0:y1, x0:x1] = int(rng.uniform(110, 255))
                if rng.random() < 0.3:  # curtains
                    picture[y0 : (y0 + y1) // 2, x0:x1] = picture[y0 : (y0 + y1) // 2, x0:x1] * 0.4 + 130
            picture[y1 + 3 : y1 + 6, max(0, x0 - 3) : x1 + 3] *= 0.72  # the shadow of the sill
        if storey == 0 and shop:
            band = base - round(2.75 * PER_METRE)
            picture[band : band + 9] = np.array(rng.choice([40, 90, 150, 60], 3), np.float32)
    picture[-8:] *= 0.78
    large = cv2.resize(stains(), (width, height))
    picture *= (1 + 0.035 * large + 0.03 * rng.normal(0, 1, (height, width)).astype(np.float32))[..., None]
    return halves(np.dstack([np.clip(picture, 0, 255).astype(np.uint8), shine]))
