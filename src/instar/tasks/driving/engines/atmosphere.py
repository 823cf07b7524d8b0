"""Weather and time of day by light, depth and label map: the whole picture changes, no thing moves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import cv2
import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter

from instar.core.change import Inapplicable
from instar.core.scene import Image
from instar.cutouts import CutOuts
from instar.imaging.mask_text import ids_from_text, ids_to_text
from instar.imaging.street_classes import street_ids
from instar.tasks.driving.engines import Edit, SceneView, rendered
from instar.tasks.driving.engines.darkness import dusk, night
from instar.tasks.driving.engines.surroundings import Light, Surroundings, greyed, surroundings_of
from instar.tasks.driving.maps import with_lines
from instar.tasks.driving.rules.model import Condition

LEVELS = {"light": 0.45, "normal": 0.7, "heavy": 1.0}
STRONGER = 1.35
DARK = 45.0  # grey levels, on average: less, and it is night already
KINDS = ("night", "dusk", "rain", "snow", "fog", "cloud")
DENSITY = 0.30  # of fog: how fast light is lost on the way
SLABS = 0.5  # of how much asphalt mirrors
HAZE = {"fog": (206, 209, 212), "rain": (150, 156, 163), "snow": (222, 225, 230)}


def plan(condition: Condition, view: SceneView, rng: np.random.Generator) -> tuple[Edit, ...] | Inapplicable:
    assert condition.new is not None, "weather and time are always replaced"
    kind = condition.new.properties.get("type")
    if kind not in KINDS:
        return Inapplicable("no engine makes it day or clears the weather")
    if view.drive is not None:
        # Of a drawn drive it is known: rain in the place of snow is no reason to slow down.
        known = rendered.plan(condition, view, rng)
        if isinstance(known, Inapplicable):
            return known
    if kind == "night" and float(view.image.mean()) < DARK:
        return Inapplicable("it already is in that state")
    return (
        {
            "engine": "atmosphere",
            "of": condition.element,
            "kind": kind,
            "strength": LEVELS[condition.new.properties.get("level", "normal")],
            "seed": int(rng.integers(2**31)),
            "horizon": view.ground.horizon,
            "vanishing": view.ground.vanishing,
            "classes": ids_to_text(street_ids(with_lines(view.labels, view.image))),
        },
    )


def alter(edit: Edit, comparative: str, view: SceneView) -> Edit | Inapplicable:
    if comparative not in ("more", "less"):
        return Inapplicable("weather is only more or less")
    factor = STRONGER if comparative == "more" else 1 / STRONGER
    return {**edit, "strength": edit["strength"] * factor}


def less(edit: Edit, view: SceneView) -> Iterator[Sequence[Edit]]:
    """Weaker, by hundredths."""
    yield [{**edit, "strength": n / 100} for n in range(1, math.ceil(100 * edit["strength"]))]


def make(image: Image, edit: Edit, cutouts: CutOuts) -> Image:
    """The picture in that weather or at that time."""
    return change_weather(
        image,
        ids_from_text(edit["classes"]),
        (float(edit["horizon"]), float(edit["vanishing"])),
        edit["kind"],
        float(edit["strength"]),
        np.random.default_rng(edit["seed"]),
    )


def change_weather(
    image: Image,
    ids: npt.NDArray[np.uint8],
    end: tuple[float, float],
    kind: str,
    strength: float,
    rng: np.random.Generator,
) -> Image:
    """The picture in weather or at a time out of `KINDS`.

    `ids` are `STREET` classes, `end` is the row and the column where the road ends.
    """
    light = image.astype(np.float32) / np.float32(255)
    around = surroundings_of(light, ids, *end)
    match kind:
        case "night":
            changed = night(light, around.shadowless(light), around, strength, rng)
        case "dusk":
            changed = dusk(light, around, strength, rng)
        case "fog":
            changed = _hazy(_clouded(light, around, 0.7 * strength), "fog", strength, around)
        case "cloud":
            changed = _clouded(light, around, strength)
        case "rain":
            changed = _rainy(light, around, strength, rng)
        case _:
            changed = _snowy(light, around, strength, rng)
    return np.clip(np.rint(changed * 255), 0, 255).astype(np.uint8)


def _clouded(light: Light, around: Surroundings, amount: float) -> Light:
    """Grey light from all sides: no shadows, less colour, a white sky."""
    share = np.float32(min(1.0, amount))
    even = light + (around.shadowless(light) - light) * share
    dull = greyed(even, 0.45 * share) * (1 - np.float32(0.14) * share)
    rows = np.linspace(0, 1, light.shape[0], dtype=np.float32)[:, None, None]
    # Clouds keep some of the sky's own brightness, and are lighter towards the horizon.
    veil = (0.66 + 0.24 * np.clip(rows * light.shape[0] / max(around.horizon, 1.0), 0, 1)) * np.array(
        [0.985, 0.995, 1.0], np.float32
    )
    cover = around.sky * share * np.float32(0.85)
    return np.asarray(dull * (1 - cover) + veil * cover, np.float32)


def _hazy(light: Light, kind: str, amount: float, around: Surroundings) -> Light:
    """Light that is lost with distance, and the colour of the air in its place."""
    air = np.array(HAZE[kind], np.float32) / np.float32(255)
    clear = np.exp(np.float32(-DENSITY * amount) * (around.depth - 1))
    return np.asarray(light * clear + air * (1 - clear), np.float32)


def _rainy(light: Light, around: Surroundings, strength: float, rng: np.random.Generator) -> Light:
    grey = _clouded(light, around, 1.2 * strength) * np.float32(1 - 0.22 * strength)
    wet = _hazy(_wet(grey, around, strength, rng), "rain", 0.3 * strength, around)
    spray = cv2.GaussianBlur(around.of("car").astype(np.float32), (0, 0), 0.02 * light.shape[0])[..., None]
    low = np.clip((spray - 0.15) * around.ground[..., None] * np.float32(0.45 * strength), 0, 0.3)
    misty = wet * (1 - low) + np.float32(0.62) * low
    return _falling(misty, rng, 0.6 * strength, length=13, shade=0.10)


def _wet(light: Light, around: Surroundings, strength: float, rng: np.random.Generator) -> Light:
    """The ground darker, and what stands on it mirrored in it, blurred upright and broken by roughness."""
    height, width = around.ids.shape
    row = np.arange(height, dtype=np.int32)[:, None]
    contact = cv2.blur(around.contact.astype(np.float32), (max(3, width // 40) | 1, 1)).astype(np.int32)
    rough = (
        cv2.GaussianBlur(rng.normal(0, 1, (height, width)).astype(np.float32), (0, 0), 1.5, sigmaY=0.7) * 9
    )
    above = np.clip(2 * contact - row + rough.astype(np.int32), 0, np.maximum(contact, 0))
    mirrored = light[above, np.arange(width)[None]]
    for sigma, apart in ((height / 60, 0.05), (height / 20, 0.2)):
        far = np.clip(((row - contact) / height - apart) / 0.1, 0, 1).astype(np.float32)[..., None]
        mirrored = mirrored * (1 - far) + cv2.GaussianBlur(mirrored, (0, 0), 1.0, sigmaY=sigma) * far
    grazing = np.clip(around.depth / 9, 0, 1) ** np.float32(0.7)
    puddles = cv2.GaussianBlur(
        rng.normal(0, 1, (height, width)).astype(np.float32), (0, 0), width / 14, sigmaY=height / 70
    )
    puddles = np.clip(puddles / (puddles.std() + 1e-6) * 0.35 + 0.55, 0.15, 1)[..., None]
    smooth = np.where(around.of("sidewalk"), SLABS, 1.0).astype(np.float32)[..., None]
    share = np.clip((0.12 + 0.42 * grazing) * puddles * smooth * np.float32(strength / 0.7), 0, 0.6)
    soaked = light * np.float32(1 - 0.32 * min(1.0, strength))
    soft = cv2.GaussianBlur(around.ground.astype(np.float32), (0, 0), 0.8)[..., None]
    return np.asarray(light + (soaked * (1 - share) + mirrored * share - light) * soft, np.float32)


def _snowy(light: Light, around: Surroundings, strength: float, rng: np.random.Generator) -> Light:
    grey = _clouded(light, around, 1.2 * strength)
    height, width = around.ids.shape
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    down = np.clip((rows - around.horizon) / (height - around.horizon), 0.02, 1)
    middle = around.vanishing + (width / 2 - around.vanishing) * down
    aside = (columns - middle) / (width * down)  # 0 in the middle of our way, the same along it
    tracks = np.zeros_like(aside)
    for pair in ((-0.62, -0.22), (0.22, 0.62)):
        swerved = aside + _swerve(down, rng)
        tracks += sum(np.exp(-(((swerved - at) / 0.055) ** 2)) for at in pair)
    uneven = _strewn(down, aside, rng)
    road = around.of("road", "line")
    cover = np.where(
        road, 0.70 - 0.46 * tracks * (0.8 + 0.25 * uneven) + 0.07 * uneven, np.where(around.ground, 0.90, 0.0)
    )
    cover = np.maximum(cover, _lying(around, light))
    soft = cv2.GaussianBlur(np.clip(cover, 0, 1).astype(np.float32), (0, 0), 0.9)[..., None]
    texture = (0.84 + 0.10 * grey.mean(axis=2, keepdims=True) + 0.012 * uneven[..., None]) * np.array(
        [0.97, 0.985, 1.0], np.float32
    )
    share = soft * np.float32(min(1.0, strength / 0.7))
    hazy = _hazy(
        np.asarray(grey * (1 - share) + texture * share, np.float32), "snow", 0.25 * strength, around
    )
    return _falling(hazy, rng, 0.5 * strength, length=2, shade=0.45)


def _swerve(down: npt.NDArray[np.float32], rng: np.random.Generator) -> Light:
    """How far to the side a car goes on its way: nobody drives quite straight."""
    turns = ((1.1, 0.018), (2.9, 0.008), (0.4, 0.02))  # of a sine of the distance: how many, how wide
    return np.asarray(
        sum(wide * np.sin(often / down + rng.uniform(0, 6.3)) for often, wide in turns), np.float32
    )


def _strewn(down: npt.NDArray[np.float32], aside: npt.NDArray[np.float32], rng: np.random.Generator) -> Light:
    """Unevenness of the ground, mean 0 and deviation 1, that lies flat: coarse nearby and fine far away."""
    noise = rng.normal(0, 1, (256, 256)).astype(np.float32)
    smooth = sum(gaussian_filter(noise, sigma, mode="wrap") * sigma for sigma in (1.0, 2.5, 6.0))
    # Distance goes with one over the rows below the horizon.
    along, across = (60 / down) % 256, (90 * aside) % 256
    laid = cv2.remap(
        np.asarray(smooth, np.float32),
        across.astype(np.float32),
        along.astype(np.float32),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_WRAP,
    )
    return np.asarray((laid - laid.mean()) / (laid.std() + 1e-6), np.float32)


def _lying(around: Surroundings, light: Light) -> npt.NDArray[np.float64]:
    """Snow on what stands: on the upper edge of cars and hedges, and on branches that catch light."""
    height = around.ids.shape[0]
    cover = np.zeros(around.ids.shape)
    for name, thick in (("car", 0.014), ("fence", 0.006), ("vegetation", 0.008)):
        own = around.of(name).astype(np.uint8)
        upper = (own > 0) & (np.roll(own, max(1, round(thick * height)), axis=0) == 0)
        cover = np.where(upper, 0.75, cover)
    grey = light.mean(axis=2)
    local = grey - cv2.GaussianBlur(grey, (0, 0), height / 90)
    return np.where(around.of("vegetation") & (local > 0.02) & (around.sky[..., 0] < 0.5), 0.55, cover)


def _falling(light: Light, rng: np.random.Generator, strength: float, *, length: int, shade: float) -> Light:
    """Streaks of rain or flakes of snow, in three distances."""
    height, width = light.shape[:2]
    layer = np.zeros((height, width), np.float32)
    unit = height / 480
    for size in (0.6, 1.0, 1.7):
        drops = np.zeros((height, width), np.float32)
        number = int(strength * 900 / size)
        slant = float(rng.uniform(-0.25, 0.25))
        x, y = rng.uniform(0, width, number), rng.uniform(-20, height, number)
        reach = max(1.0, length * size * unit)
        for left, top in zip(x.tolist(), y.tolist()):
            begin = (round(left * 16), round(top * 16))
            end = (round((left + slant * reach) * 16), round((top + reach) * 16))
            thickness = max(1, round(size * unit * (1.0 if length > 4 else 1.6)))
            cv2.line(drops, begin, end, 1.0, thickness, cv2.LINE_AA, 4)
        layer = np.maximum(layer, drops * np.float32(0.5 + 0.3 * size))
    veil = (layer * np.float32(shade))[..., None]
    return np.asarray(light + (np.float32(0.9) - light) * veil, np.float32)
