"""Weather and time of day by light, colour and depth: the whole picture changes, no thing moves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.change import Inapplicable
from instar.core.scene import Image, Mask
from instar.cutouts import CutOuts
from instar.imaging.mask_text import mask_from_text, mask_to_text
from instar.tasks.driving.engines import Edit, SceneView, rendered
from instar.tasks.driving.rules.model import Condition

__all__ = ["alter", "less", "make", "plan"]

LEVELS = {"light": 0.45, "normal": 0.7, "heavy": 1.0}
STRONGER = 1.35
DARK = 45.0  # grey levels, on average: less, and it is night already
KINDS = ("night", "dusk", "rain", "snow", "fog", "cloud")
HAZE = {"fog": (206, 209, 212), "rain": (150, 156, 163), "snow": (222, 225, 230)}

_Light = npt.NDArray[np.float32]


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
            **({"lies_on": mask_to_text(view.ground.road | view.ground.roadside)} if kind == "snow" else {}),
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
    rng = np.random.default_rng(edit["seed"])
    strength = float(edit["strength"])
    light = image.astype(np.float32) / np.float32(255)
    horizon, vanishing = float(edit["horizon"]), float(edit["vanishing"])
    match edit["kind"]:
        case "night":
            changed = _night(light, strength, horizon, vanishing, rng)
        case "dusk":
            changed = _dusk(light, strength, horizon)
        case "fog":
            changed = _hazy(light, "fog", 1.1 * strength, horizon, vanishing)
        case "cloud":
            changed = _grey(light, 0.6 * strength) * np.float32(1 - 0.12 * strength)
        case "rain":
            dull = _hazy(_grey(light, 0.5 * strength), "rain", 0.35 * strength, horizon, vanishing)
            changed = _falling(dull * np.float32(1 - 0.2 * strength), rng, strength, length=17, shade=0.16)
        case _:
            ground = mask_from_text(edit["lies_on"])
            white = _snowed_on(_grey(light, 0.5 * strength), strength, ground, horizon, vanishing)
            hazy = _hazy(white, "snow", 0.45 * strength, horizon, vanishing)
            changed = _falling(hazy, rng, strength, length=2, shade=0.55)
    return np.clip(np.rint(changed * 255), 0, 255).astype(np.uint8)


def _depth(shape: tuple[int, int], horizon: float, vanishing: float) -> _Light:
    """How far away each pixel is, `float32 (H, W, 1)`: 1 at the lower edge, and 12 at most.

    The ground comes nearer with every row below the horizon, and what stands beside the road with every
    column away from the vanishing point.
    """
    rows, columns = np.mgrid[0 : shape[0], 0 : shape[1]].astype(np.float32)
    below = (rows - np.float32(horizon)) / np.float32(shape[0] - horizon)
    beside = 0.9 * np.abs(columns - np.float32(vanishing)) / np.float32(shape[1])
    return np.asarray((1 / np.maximum(np.maximum(below, beside), 1 / 12))[..., None], np.float32)


def _hazy(light: _Light, kind: str, amount: float, horizon: float, vanishing: float) -> _Light:
    """Light that is lost with distance, and the colour of the air in its place."""
    air = np.array(HAZE[kind], np.float32) / np.float32(255)
    clear = np.exp(np.float32(-0.22 * amount) * _depth((light.shape[0], light.shape[1]), horizon, vanishing))
    return np.asarray(light * clear + air * (1 - clear), np.float32)


def _grey(light: _Light, amount: float) -> _Light:
    mean = light.mean(axis=2, keepdims=True)
    return np.asarray(light + (mean - light) * np.float32(amount), np.float32)


def _dusk(light: _Light, strength: float, horizon: float) -> _Light:
    """Half the light, and warm near the horizon."""
    rows = np.arange(light.shape[0], dtype=np.float32)
    glow = np.exp(-(((rows - horizon) / (0.28 * light.shape[0])) ** 2))[:, None, None]
    tint = np.array([0.62, 0.52, 0.60], np.float32) + glow * np.array([0.26, 0.10, -0.06], np.float32)
    return np.asarray(light * (1 + (tint - 1) * np.float32(min(1.2, strength / 0.7))), np.float32)


def _night(
    light: _Light, strength: float, horizon: float, vanishing: float, rng: np.random.Generator
) -> _Light:
    """Little, bluish light; what is bright already still shines; the headlights light the road ahead."""
    height, width = light.shape[:2]
    # A picture that is dim already has less to lose.
    dim = np.float32(np.clip(0.42 / max(float(light.mean()), 0.01), 1.0, 2.6))
    dark = np.float32(0.30 - 0.14 * strength) * dim
    bluish = _grey(light, 0.2) ** np.float32(1.25) * np.array([0.88, 0.95, 1.12], np.float32) * dark
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    down = np.clip((rows - horizon) / (height - horizon), 0, 1)
    middle = vanishing + (width / 2 - vanishing) * down
    cone = np.exp(-(((columns - middle) / (width * (0.10 + 0.34 * down))) ** 2))
    reach = np.clip(down * 3.2, 0, 1) * (1 - 0.35 * down)
    lit = light * dim * (cone * reach)[..., None] * np.array([0.62, 0.58, 0.48], np.float32)
    shining = np.clip(light.min(axis=2, keepdims=True) - 0.86, 0, 1) * np.float32(1.6)
    above = (rows < horizon)[..., None]
    grain = rng.normal(0, 0.008, (height, width, 1)).astype(np.float32)
    return np.asarray(bluish + lit + np.where(above, 0, shining * 0.2) + grain, np.float32)


def _snowed_on(light: _Light, strength: float, ground: Mask, horizon: float, vanishing: float) -> _Light:
    """The ground whitened, most at the sides of the picture where nobody drives."""
    height, width = light.shape[:2]
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    down = np.clip((rows - horizon) / (height - horizon), 0, 1)
    middle = vanishing + (width / 2 - vanishing) * down
    aside = np.clip(np.abs(columns - middle) / (0.5 * width), 0.25, 1)
    soft = cv2.GaussianBlur(ground.astype(np.float32), (0, 0), max(1.0, height / 300))
    cover = (soft * aside * np.float32(0.6 * strength))[..., None]
    return np.asarray(light + (np.float32(0.93) - light) * cover, np.float32)


def _falling(
    light: _Light, rng: np.random.Generator, strength: float, *, length: int, shade: float
) -> _Light:
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
