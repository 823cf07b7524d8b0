"""Sky, light and weather: what turns painted things into a picture of a certain hour and day."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image
from instar.worlds.drive.canvas import EYE, SURFACES, Camera, Canvas
from instar.worlds.drive.fixtures import LAMP_HEIGHT
from instar.worlds.drive.plan import Drive
from instar.worlds.drive.textures import clouds, grain

Light = npt.NDArray[np.float32]

HAZE = {
    "clear": (0.0012, (206, 218, 230)),
    "cloud": (0.002, (196, 200, 206)),
    "rain": (0.012, (150, 156, 164)),
    "snow": (0.018, (212, 216, 222)),
    "fog": (0.045, (200, 204, 208)),
}
"""How much light each metre of air takes at full strength, and its colour."""
SNOWED = {
    "sidewalk": 0.8, "terrain": 0.92, "vegetation": 0.35, "road": 0.42, "line": 0.3, "crosswalk": 0.3,
    "stop line": 0.3,
}  # fmt: skip
MIRRORING = {"road": 1.0, "line": 1.0, "crosswalk": 1.0, "stop line": 1.0, "sidewalk": 0.5}
COARSE = 2  # the light of lamps is computed for every second pixel


def paint_sky(canvas: Canvas, drive: Drive, view: Camera) -> None:
    """The sky with its clouds, and far hills that hide the end of the plain."""
    height, width = view.size
    low = min(height, math.ceil(view.horizon) + 1)
    rng = np.random.default_rng([41, drive.seed])
    grey = {"clear": 0.0, "cloud": 0.85}.get(drive.weather, 0.75 + 0.25 * drive.level)
    top = _mix((86, 136, 196), (158, 164, 172), grey)
    end = _mix((204, 220, 232), (206, 209, 212), grey)
    if drive.time == "dusk":
        top, end = _mix((70, 78, 128), (96, 98, 110), grey), _mix((244, 176, 120), (176, 160, 150), grey)
    # Clouds are soft: a quarter of the pixels is enough.
    high, wide = max(2, low // 4), max(2, width // 4)
    down = np.linspace(0, 1, high, dtype=np.float32)[:, None, None]
    sky = top + (end - top) * down**1.4
    x0, y0 = int(rng.integers(512)), int(rng.integers(512))
    rows = (y0 + (np.arange(high) * (260 * low / height / high)).astype(int)) % 512
    columns = (x0 + (np.arange(wide) * (420 / wide)).astype(int)) % 512
    cover = clouds()[rows][:, columns]
    white = np.float32(250.0 if drive.time == "day" else 190.0) * (1 - 0.12 * np.float32(grey))
    thick = np.clip((cover - (0.62 - 0.3 * grey)) * 2.2, 0, 0.85)[..., None] * (0.5 if grey > 0.5 else 1.0)
    sky = sky + (white * np.array([1.0, 0.995, 0.985], np.float32) - sky) * thick * (0.45 + 0.55 * (1 - down))
    canvas.pixels[:low] = cv2.resize(np.clip(sky, 0, 255).astype(np.uint8), (width, low))
    canvas.owner[:low] = SURFACES["sky"]
    _hills(canvas, view, rng)


def _hills(canvas: Canvas, view: Camera, rng: np.random.Generator) -> None:
    width = view.size[1]
    x = np.linspace(-5, width + 5, 60)
    for share, colour, reach in ((0.05, (128, 144, 152), 500.0), (0.032, (92, 110, 92), 260.0)):
        waves = sum(np.sin(x / width * k + rng.uniform(0, 7)) / k**0.7 for k in (3, 7, 17, 41, 83))
        top = view.horizon - view.size[1] * share * (0.7 + 0.25 * waves)
        foot = [[width + 5, view.horizon + 2], [-5, view.horizon + 2]]
        points = np.concatenate([np.stack([x, top], 1), foot])
        canvas.polygon(points, colour, SURFACES["vegetation"], 1 / reach)


def _mix(one: tuple[int, int, int], other: tuple[int, int, int], share: float) -> Light:
    return (np.array(one, np.float32) * (1 - share) + np.array(other, np.float32) * share).astype(np.float32)


def through_the_air(canvas: Canvas, drive: Drive, view: Camera) -> Image:
    """The finished picture."""
    rng = np.random.default_rng([42, drive.seed])
    if drive.time == "day" and drive.weather in ("clear", "cloud"):
        picture = canvas.pixels
        if drive.weather == "cloud":
            picture = _dull(picture, 0.3 + 0.15 * drive.level)
    else:
        picture = np.clip(_weathered(canvas, drive, view, rng), 0, 255).astype(np.uint8)
    return _noisy(picture, rng, 1.3 if drive.time == "day" else 1.8)


def _dull(picture: Image, amount: float) -> Image:
    """Less colour and a little less light."""
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    dull = cv2.addWeighted(picture, 1 - amount, cv2.merge([grey, grey, grey]), amount, 0)
    return np.asarray(cv2.convertScaleAbs(dull, alpha=0.95 - 0.06 * amount), np.uint8)


def _noisy(picture: Image, rng: np.random.Generator, strength: float) -> Image:
    """The noise of a sensor."""
    height, width = picture.shape[:2]
    brighter, darker = _sensor(strength)
    repeats = (height - 1) // 512 + 1, (width - 1) // 512 + 1, 1
    top, left = (int(v) for v in rng.integers(0, 512, 2))
    parts = []
    for part in (brighter, darker):
        part = np.tile(part, repeats) if repeats != (1, 1, 1) else part
        parts.append(part[top : top + height, left : left + width])
    return np.asarray(cv2.subtract(cv2.add(picture, parts[0]), parts[1]), np.uint8)


@lru_cache(maxsize=2)
def _sensor(strength: float) -> tuple[Image, Image]:
    """What is added and what is taken away, repeated once so that any window of 512 pixels lies inside."""
    noise = np.tile(np.rint(grain() * np.float32(strength)), (2, 2))
    both = np.clip(noise, 0, 60), np.clip(-noise, 0, 60)
    brighter, darker = (np.repeat(part[..., None], 3, axis=2).astype(np.uint8) for part in both)
    return brighter, darker


def _weathered(canvas: Canvas, drive: Drive, view: Camera, rng: np.random.Generator) -> Light:
    """The picture at that hour and in that weather, not yet cut to what a picture can hold."""
    assert canvas.near is not None, "distances are kept for all but clear and cloudy days"
    picture = canvas.pixels.astype(np.float32)
    if drive.weather == "snow":
        _whiten(picture, canvas, drive)
    elif drive.weather != "clear":
        grey = picture.mean(axis=2, keepdims=True)
        picture += (grey - picture) * np.float32(0.35 * (0.5 + 0.5 * drive.level))
    wet = drive.level if drive.weather == "rain" else 0.0
    if drive.time == "night":
        picture *= _light_at_night(canvas, canvas.near, drive, view)
    elif drive.time == "dusk":
        picture *= np.array([0.62, 0.53, 0.56], np.float32)
    elif drive.weather in ("rain", "fog"):
        picture *= np.float32(0.92 - 0.12 * drive.level)
    density, air = HAZE[drive.weather]
    density *= 1.0 if drive.weather in ("clear", "cloud") else drive.level
    if density > 0.003:
        sight = np.exp(np.float32(-density) / np.maximum(canvas.near, np.float32(1 / 900)))[..., None]
        colour = np.array(air, np.float32) * np.float32({"day": 1.0, "dusk": 0.55, "night": 0.13}[drive.time])
        picture = picture * sight + colour * (1 - sight)
    if canvas.glow is not None:
        picture += _glow(canvas.glow, 1.0 if drive.time == "night" else 0.6, wet)
    if wet:
        _reflect(picture, canvas, view, wet)
    if drive.weather in ("rain", "snow"):
        _fall(picture, drive, rng)
    return picture


def _whiten(picture: Light, canvas: Canvas, drive: Drive) -> None:
    """Snow on the ground, least where wheels run, and on trees."""
    bright = picture[..., 1] / np.float32(255)
    cover = (
        _of_surfaces(SNOWED, canvas.owner)
        * np.float32(0.35 + 0.65 * drive.level)
        * np.clip(0.6 + 0.9 * bright, 0, 1.1)
    )
    picture += (np.array([236, 240, 246], np.float32) - picture) * np.clip(cover, 0, 1)[..., None]


def _light_at_night(canvas: Canvas, distances: Light, drive: Drive, view: Camera) -> Light:
    """How much of the day's light reaches each pixel: some of the sky's, headlights, street lamps."""
    height, width = view.size
    near = np.maximum(distances[::COARSE, ::COARSE], np.float32(1 / 900))
    ahead = 1 / near
    focal = np.float32(view.focal)
    columns = (np.arange(0, width, COARSE, dtype=np.float32) + np.float32(0.5 - view.middle)) / focal
    rows = (np.float32(view.horizon - 0.5) - np.arange(0, height, COARSE, dtype=np.float32)) / focal
    right, up = columns * ahead, rows[:, None] * ahead + np.float32(EYE)
    beam = np.exp(-((right / (1.6 + 0.16 * ahead)) ** 2))
    beam *= np.clip(1.25 - ahead / 60, 0, 1)
    beam *= np.clip(ahead / 9, 0.35, 1)
    beam *= np.clip(1.6 - 0.5 * np.maximum(up - 0.5, 0), 0.12, 1)
    lamps = np.zeros_like(near)
    for thing in drive.things:
        if thing.kind == "lamp" and thing.distance < 90:
            toward = -1.5 if thing.offset > 0 else 1.5
            x = float(view.across(thing.offset + toward, thing.distance))
            away = ((right - x) ** 2 + (ahead - thing.distance) ** 2) / 26
            lamps += np.exp(-away) * np.clip((LAMP_HEIGHT - up) / 2, 0, 1)
    ambient = np.array([0.075, 0.085, 0.12], np.float32)
    coarse = (
        ambient
        + beam[..., None] * np.array([0.74, 0.70, 0.60], np.float32)
        + np.minimum(lamps, 1.2)[..., None] * np.array([0.46, 0.37, 0.22], np.float32)
    )
    light = cv2.resize(coarse.astype(np.float32), (width, height), interpolation=cv2.INTER_LINEAR)
    light[distances == 0] = np.array([0.045, 0.055, 0.10], np.float32)
    return np.asarray(light, np.float32)


def _glow(glow: Image, strength: float, wet: float) -> Light:
    """What shines, and the halo around it."""
    shining = glow.astype(np.float32) * np.float32(strength)
    height, width = glow.shape[:2]
    small = cv2.resize(shining, (max(1, width // 2), max(1, height // 2)), interpolation=cv2.INTER_AREA)
    halo = cv2.GaussianBlur(small, (0, 0), max(1.0, width / 160)) * (0.55 + 0.3 * wet)
    halo += cv2.GaussianBlur(small, (0, 0), max(1.5, width / 50)) * 0.35
    return np.asarray(shining * 0.8 + cv2.resize(halo, (width, height)), np.float32)


def _reflect(picture: Light, canvas: Canvas, view: Camera, wet: float) -> None:
    """A wet road is darker, and mirrors what stands behind it."""
    height = view.size[0]
    horizon = round(view.horizon)
    reach = min(horizon, height - horizon)
    if reach < 4:
        return
    mirrored = picture[horizon - reach : horizon][::-1]
    tall = max(3, (height // 18) | 1)
    mirrored = np.asarray(cv2.blur(np.ascontiguousarray(mirrored), (3, tall)), np.float32)
    below = picture[horizon : horizon + reach]
    flat = _of_surfaces(MIRRORING, canvas.owner[horizon:])
    amount = flat[:reach] * np.float32(0.34 * wet)
    fading = np.linspace(1.2, 0.35, reach, dtype=np.float32)[:, None]
    share = (amount * fading)[..., None]
    below *= 1 - share * np.float32(0.9)
    below += mirrored * share
    picture[horizon:] *= 1 - flat[..., None] * np.float32(0.18 * wet)


def _of_surfaces(shares: Mapping[str, float], owner: npt.NDArray[np.uint8]) -> Light:
    table = np.zeros(256, np.float32)
    for name, share in shares.items():
        table[SURFACES[name]] = share
    return np.asarray(table[owner], np.float32)


def _fall(picture: Light, drive: Drive, rng: np.random.Generator) -> None:
    """Streaks of rain or flakes of snow, near and far."""
    height, width = picture.shape[:2]
    rain = drive.weather == "rain"
    layer: npt.NDArray[np.uint8] = np.zeros((height, width), np.uint8)
    slant = float(rng.uniform(-0.18, 0.18))
    for size, number, shade in ((0.5, 260, 90), (1.0, 130, 140), (2.0, 34, 190)):
        count = int(number * (0.4 + drive.level))
        x, y = rng.uniform(0, width, count), rng.uniform(-0.05 * height, height, count)
        reach = max(1.5, (0.06 if rain else 0.006) * size * height)
        thick = max(1, round((0.5 if rain else 1.0) * size * height / 200))
        ends = np.stack([np.stack([x, y], 1), np.stack([x + slant * reach, y + reach], 1)], 1)
        cv2.polylines(layer, list((ends * 16).astype(np.int32)), False, shade, thick, cv2.LINE_AA, 4)
    if rain:
        layer = np.asarray(cv2.blur(layer, (1, 3)), np.uint8)
    brightness = {"day": 225.0, "dusk": 150.0, "night": 80.0}[drive.time]
    share = (layer.astype(np.float32) * np.float32((0.34 if rain else 0.85) / 255))[..., None]
    picture += (np.float32(brightness) - picture) * share
