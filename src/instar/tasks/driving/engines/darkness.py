"""Dusk and night: little light from the sky, and lamps, windows and headlights that shine."""

from __future__ import annotations

import cv2
import numpy as np

from instar.core.scene import Mask
from instar.tasks.driving.engines.surroundings import Light, Surroundings, greyed

WARM, WHITE, RED = ((1.0, 0.72, 0.38), (1.0, 0.96, 0.86), (1.0, 0.10, 0.05))
SKY = ((0.022, 0.026, 0.046), (0.100, 0.075, 0.062))  # overhead, and near the horizon where a town glows
LEAST_POLE = 0.16  # of the height: a lower pole carries no lamp
LEAST_CAR = 0.02  # of the height
MOST_CAR = 0.3  # a nearer car's lamps would have to be drawn, not just shine
CROWN = 0.45  # of their light: no lamp reaches the crowns of trees, and the sun on their branches is gone
GRAIN = 0.010


def night(
    light: Light, even: Light, around: Surroundings, strength: float, rng: np.random.Generator
) -> Light:
    """Hardly any light but that of lamps; `even` is the picture without shadows."""
    plain = greyed(even, 0.25) ** np.float32(1.15)
    high = np.arange(light.shape[0])[:, None] < around.horizon
    crowns = cv2.GaussianBlur((around.of("vegetation") & high).astype(np.float32), (0, 0), 2.0)[..., None]
    plain = plain * (1 - np.float32(1 - CROWN) * crowns)
    dark = plain * np.float32(0.32 - 0.15 * strength) * np.array([0.80, 0.92, 1.12], np.float32)
    lit = plain * _headlights(around) * np.array(WHITE, np.float32) * np.float32(1.15)
    lamps, pools = _street_lamps(around, rng)
    lit = lit + plain * pools * np.array(WARM, np.float32) * np.float32(0.8)
    shining = (
        lamps
        + _windows(light, around, rng, share=0.35)
        + _car_lights(light, around)
        + _signals(light, around)
    )
    rows = np.linspace(0, 1, light.shape[0], dtype=np.float32)[:, None, None]
    low = np.clip(rows * light.shape[0] / max(around.horizon, 1.0), 0, 1) ** 2
    above = np.array(SKY[0], np.float32) * (1 - low) + np.array(SKY[1], np.float32) * low
    seen = (dark + lit) * (1 - around.sky) + above * around.sky
    return _exposed(seen + _bloom(shining, light.shape[0]), rng)


def dusk(light: Light, around: Surroundings, strength: float, rng: np.random.Generator) -> Light:
    """The sky still shines, and what stands before it is dark; first lamps are on."""
    plain = greyed(around.shadowless(light), 0.3)
    dark = (
        plain ** np.float32(1.1)
        * np.float32(0.66 - 0.34 * strength)
        * np.array([0.90, 0.96, 1.06], np.float32)
    )
    rows = np.linspace(0, 1, light.shape[0], dtype=np.float32)[:, None, None]
    low = np.clip(rows * light.shape[0] / max(around.horizon, 1.0), 0, 1) ** 2
    tint = (
        np.array([0.50, 0.56, 0.68], np.float32) * (1 - low) + np.array([0.86, 0.72, 0.60], np.float32) * low
    )
    above = greyed(light, 0.4) * tint * np.float32(1.05 - 0.35 * strength)
    shining = _windows(light, around, rng, share=0.12) + _car_lights(light, around) + _signals(light, around)
    seen = dark * (1 - around.sky) + above * around.sky
    return _exposed(seen + _bloom(shining, light.shape[0]) * np.float32(0.7), rng)


def _headlights(around: Surroundings) -> Light:
    """How much light the ego-vehicle throws on each place: ahead, low, and less the farther it is."""
    height, width = around.ids.shape
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    down = np.clip((rows - around.horizon) / (height - around.horizon), 0, 1)
    middle = around.vanishing + (width / 2 - around.vanishing) * down
    across = (columns - middle) / (width * (0.16 + 0.36 * down))
    above = np.clip((rows - around.horizon) / (0.10 * height) + 1.0, 0, 1)  # low beams end near the horizon
    far = 1 / (1 + (around.depth[..., 0] / 5.0) ** 2)
    near = np.clip(1.35 - 0.8 * down, 0.45, 1)  # and the bonnet hides what is nearest
    return np.asarray((np.exp(-(across**2)) * above * far * near)[..., None], np.float32)


def _street_lamps(around: Surroundings, rng: np.random.Generator) -> tuple[Light, Light]:
    """What shines at the top of high poles, and what it lights around their feet."""
    height, width = around.ids.shape
    shining, pools = np.zeros((height, width, 3), np.float32), np.zeros((height, width), np.float32)
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    count, _, stats, _ = cv2.connectedComponentsWithStats(around.of("pole").astype(np.uint8))
    for left, top, wide, tall, _ in stats[1:count].tolist():
        if tall < LEAST_POLE * height or wide > tall or top > around.horizon:
            continue
        x, y, foot = left + wide / 2, top + max(1, tall // 30), min(height - 1, top + tall)
        size = max(1.2, 0.018 * tall)
        cv2.ellipse(
            shining, (round(x), round(y)), (round(2 * size), round(size)), 0, 0, 360, WARM, -1, cv2.LINE_AA
        )
        spread = 0.9 * tall
        reach = ((columns - x) / spread) ** 2 + ((rows - foot) / (0.45 * spread)) ** 2
        pools = np.maximum(pools, np.exp(-reach) * np.float32(rng.uniform(0.5, 0.8)))
    return shining * np.float32(1.2), np.asarray(pools[..., None], np.float32)


def _windows(light: Light, around: Surroundings, rng: np.random.Generator, *, share: float) -> Light:
    """Some of the windows of the houses lit from within: by day they are dark patches in a wall."""
    height, width = around.ids.shape
    walls = around.of("building")
    shining = np.zeros((height, width, 3), np.float32)
    if not walls.any():
        return shining
    grey = (light.mean(axis=2) * 255).astype(np.uint8)
    size = max(5, round(height / 16) | 1)
    darker = cv2.morphologyEx(grey, cv2.MORPH_BLACKHAT, np.ones((size, size), np.uint8))
    inner = cv2.erode(walls.astype(np.uint8), np.ones((3, 3), np.uint8))
    # Chimneys and gables are dark before the sky, and no windows.
    high = cv2.dilate((around.sky[..., 0] > 0.3).astype(np.uint8), np.ones((size, size), np.uint8))
    panes = ((darker > 28) & (inner > 0) & (high == 0)).astype(np.uint8)
    count, pieces, stats, _ = cv2.connectedComponentsWithStats(panes)
    for number in range(1, count):
        left, _, wide, tall, area = stats[number].tolist()
        is_pane = (
            10 <= area <= 0.003 * height * width and area > 0.6 * wide * tall and 0.3 < wide / tall < 2.5
        )
        if is_pane and 0 < left < width - wide and rng.random() < share:
            colour = np.array(WARM if rng.random() < 0.7 else WHITE, np.float32) * rng.uniform(0.2, 0.6)
            pane = pieces == number
            shining[pane] = colour * (0.55 + 0.9 * light[pane].mean(axis=1, keepdims=True))
    return np.asarray(cv2.GaussianBlur(shining, (0, 0), 0.6), np.float32)


def _car_lights(light: Light, around: Surroundings) -> Light:
    """Tail lights where cars have red lamps; headlights of those that come towards us."""
    height, width = around.ids.shape
    shining = np.zeros((height, width, 3), np.float32)
    cars = around.of("car")
    red = (light[..., 0] - light[..., 1:].max(axis=2) > 0.16) & cars
    count, pieces, stats, _ = cv2.connectedComponentsWithStats(cars.astype(np.uint8))
    for number in range(1, count):
        left, top, wide, tall, area = stats[number].tolist()
        if not LEAST_CAR * height < tall < MOST_CAR * height or wide > 2.2 * tall or area < 0.5 * wide * tall:
            continue
        own = pieces == number
        lamps = red & own
        if 0 < lamps.sum() < 0.12 * area:  # more is a red car
            shining[lamps] = RED
        elif not lamps.any() and wide < 1.5 * tall:
            size = max(1.0, 0.05 * tall)
            for share in (0.17, 0.83):
                place = (round(left + share * wide), round(top + 0.62 * tall))
                cv2.circle(shining, place, max(1, round(size)), WHITE, -1, cv2.LINE_AA)
    return shining


def _signals(light: Light, around: Surroundings) -> Light:
    """Traffic lights that are on."""
    spread = light.max(axis=2) - light.min(axis=2)
    bright: Mask = (spread > 0.45) & (light.max(axis=2) > 0.7) & around.of("traffic sign")
    return np.asarray(np.where(bright[..., None], light, 0) * np.float32(0.8), np.float32)


def _bloom(shining: Light, height: int) -> Light:
    """What shines, and the halo around it."""
    halo = sum(
        np.float32(weight) * cv2.GaussianBlur(shining, (0, 0), share * height)
        for share, weight in ((0.006, 0.9), (0.02, 0.8), (0.06, 0.6))
    )
    return np.asarray(shining + halo, np.float32)


def _exposed(light: Light, rng: np.random.Generator) -> Light:
    """As a camera shows it in the dark: bright lamps saturate softly, and there is grain."""
    grain = rng.normal(0, GRAIN, light.shape[:2]).astype(np.float32)[..., None]
    return np.asarray(
        1 - np.exp(-1.25 * np.maximum(light + grain * np.sqrt(np.maximum(light, 0.02)) * 3, 0)), np.float32
    )
