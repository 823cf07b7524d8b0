"""The road wet or under snow, and its lines worn: only pixels of the road change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import cv2
import numpy as np

from instar.core.change import Inapplicable
from instar.core.scene import Image
from instar.cutouts import CutOuts
from instar.imaging.mask_text import mask_from_text, mask_to_text
from instar.imaging.photometric import light_of
from instar.tasks.driving.engines import Edit, SceneView
from instar.tasks.driving.engines.removal import fill
from instar.tasks.driving.engines.selection import select_pixels
from instar.tasks.driving.engines.words import unshown
from instar.tasks.driving.rules.model import Condition

KINDS = ("wet", "snowy")
DARKER, MIRRORED = 0.6, 0.4  # of a wet road: its own light, and how much of what is behind it shows
SNOW = np.array([226, 229, 234], np.float32)
COVER = 0.72  # of a snowy road
DAY = 115.0  # how light a street is by day: in the dusk snow is no lighter than what lights it
WORN = 0.8  # of a worn line's paint is gone


def plan(condition: Condition, view: SceneView, rng: np.random.Generator) -> tuple[Edit, ...] | Inapplicable:
    assert condition.new is not None, "what is replaced is replaced by something"
    unsaid = unshown(condition, own=("state", "color"), new=("state",))
    if unsaid is not None:
        return unsaid
    state = condition.new.properties.get("state", "")
    if condition.element == "line":
        if state != "faded" or condition.new.element != "line":
            return Inapplicable(f"nothing here repaints lines {state!r}")
        mask = select_pixels(condition, view)
        if isinstance(mask, Inapplicable):
            return mask
    elif state not in KINDS:
        return Inapplicable(f"nothing here can show {state!r}")
    else:
        if view.drive is not None and view.drive.road.surface == state:
            return Inapplicable("it already is in that state")
        mask = view.ground.road
    told = {"of": condition.element, "state": state, "strength": 1.0, "horizon": view.ground.horizon}
    return ({"engine": "surface", **told, "mask": mask_to_text(mask)},)


def less(edit: Edit, view: SceneView) -> Iterator[Sequence[Edit]]:
    """Weaker, by hundredths."""
    yield [{**edit, "strength": n / 100} for n in range(1, round(100 * edit["strength"]))]


def make(image: Image, edit: Edit, cutouts: CutOuts) -> Image:
    """The picture with the road, or its lines, in that state."""
    mask, strength = mask_from_text(edit["mask"]), float(edit["strength"])
    light = np.asarray(image, np.float32)
    match edit["state"]:
        case "faded":
            changed = light + (fill.without(image, mask) - light) * np.float32(WORN * strength)
        case "wet":
            changed = light + (_wet(light, float(edit["horizon"])) - light) * np.float32(strength)
        case _:
            grain = (
                cv2.GaussianBlur(np.asarray(image), (0, 0), 2).astype(np.float32).mean(axis=2, keepdims=True)
            )
            white = (
                SNOW
                * np.clip(light_of(image).mean / DAY, 0.15, 1.0)
                * (0.8 + 0.2 * grain / max(float(grain.max()), 1.0))
            )
            changed = light + (white - light) * np.float32(COVER * strength)
    return np.where(mask[..., None], np.clip(np.rint(changed), 0, 255).astype(np.uint8), image)


def _wet(light: np.ndarray, horizon: float) -> np.ndarray:
    """Darker, and a blurred mirror of what is above the horizon, most where the road is seen flat."""
    height = light.shape[0]
    rows = np.arange(height, dtype=np.float32)
    down = np.clip((rows - horizon) / max(height - horizon, 1.0), 0, 1)
    mirror = np.clip(2 * horizon - rows, 0, height - 1).astype(np.int64)
    above = cv2.GaussianBlur(np.ascontiguousarray(light[mirror]), (0, 0), sigmaX=2, sigmaY=7)
    share = (MIRRORED * (1 - 0.7 * down))[:, None, None]
    return np.asarray(light * DARKER * (1 - share) + above * share, np.float32)
