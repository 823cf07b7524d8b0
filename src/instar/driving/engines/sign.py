"""Adding a traffic sign by drawing it, on a pole on the roadside."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt

from instar.cutouts import CutOuts
from instar.driving.engines import Edit, View
from instar.driving.engines.paste import alter, place_at, places
from instar.driving.rules.model import Condition
from instar.imaging.paste import RGBA, pasted
from instar.relation import Inapplicable
from instar.scene import Image

__all__ = ["alter", "make", "plan"]

HEIGHT = 1.65  # of a person: a sign with its pole
ASPECT = 0.3
LEAST_HEIGHT = 0.18  # of the picture; what is on smaller ones could not be seen
OVERSAMPLING = 4
USUAL_LIGHT = 95.0  # of a road by day


def plan(condition: Condition, view: View, rng: np.random.Generator) -> tuple[Edit, ...] | Inapplicable:
    assert view.gallery is not None, "a gallery is made before pictures are pasted"
    person = view.gallery.heights.get("person")
    if person is None:
        return Inapplicable("no person to tell the size of a sign from")
    where = places(condition)
    if where is None:
        return Inapplicable("no engine places things there")
    drawn = {
        "engine": "sign",
        "label": "traffic sign",
        "variant": condition.properties.get("type", "speed limit"),
        "shape": condition.properties.get("shape", ""),
        "aspect": ASPECT,
        "least": LEAST_HEIGHT,
        "gain": round(float(np.clip(view.image[view.ground.road].mean() / USUAL_LIGHT, 0.3, 1.1)), 3),
    }
    edits: list[Edit] = []
    for _ in range(2 if condition.count is None else condition.count):
        found = place_at(drawn, where, HEIGHT * person, view, rng)
        if found is None:
            return Inapplicable("no free place")
        edit, ground = found
        edits.append(edit)
        view = replace(view, ground=ground)
    return tuple(edits)


def make(image: Image, edit: Edit, cutouts: CutOuts) -> Image:
    """The picture with the sign in it."""
    drawn = _draw(edit["variant"], edit["shape"], edit["width"], edit["height"], float(edit["gain"]))
    return pasted(image, drawn, edit["x"], edit["y"], "hard")


def _draw(kind: str, shape: str, width: int, height: int, gain: float) -> RGBA:
    """A board on a pole, drawn large and averaged down for soft edges."""
    wide, high = width * OVERSAMPLING, height * OVERSAMPLING
    colour, cover = np.full((high, wide, 3), 90, np.uint8), np.zeros((high, wide), np.uint8)
    middle, radius = (wide // 2, wide // 2), wide // 2 - 1
    cv2.rectangle(cover, (middle[0] - wide // 18, wide // 2), (middle[0] + wide // 18, high), 255, cv2.FILLED)
    _board(
        colour,
        cover,
        kind,
        shape or {"stop": "octagon", "turn": "square"}.get(kind, "circle"),
        middle,
        radius,
    )
    shrunk = cv2.resize(np.dstack([colour, cover]), (width, height), interpolation=cv2.INTER_AREA)
    shaded = np.clip(shrunk[..., :3].astype(np.float32) * gain, 0, 255).astype(np.uint8)
    return np.dstack([shaded, shrunk[..., 3]])


def _board(
    colour: Image, cover: npt.NDArray[np.uint8], kind: str, shape: str, middle: tuple[int, int], radius: int
) -> None:
    white, red, blue, black = (240, 240, 236), (200, 28, 32), (28, 84, 170), (24, 24, 26)
    back, rim = {"stop": (red, white), "turn": (blue, white)}.get(kind, (white, red))
    for size, paint in ((1.0, rim), (0.78, back)):
        outline = _outline(shape, middle, radius * size)
        cv2.fillPoly(colour, [outline], paint)
        if size == 1.0:
            cv2.fillPoly(cover, [outline], 255)
    if kind == "turn":
        tip = (middle[0] + radius // 2, middle[1])
        cv2.arrowedLine(
            colour, (middle[0] - radius // 2, middle[1]), tip, white, max(1, radius // 5), tipLength=0.45
        )
        return
    text = "STOP" if kind == "stop" else "30"
    scale = radius * (0.55 if kind == "stop" else 1.0) / 22
    thick = max(1, radius // 9)
    (w, h), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, thick)
    where = (middle[0] - w // 2, middle[1] + h // 2)
    ink = white if kind == "stop" else black
    cv2.putText(colour, text, where, cv2.FONT_HERSHEY_SIMPLEX, scale, ink, thick, cv2.LINE_AA)


def _outline(shape: str, middle: tuple[int, int], radius: float) -> npt.NDArray[np.int32]:
    corners, turned = {"square": (4, np.pi / 4), "octagon": (8, np.pi / 8)}.get(shape, (48, 0.0))
    angle = np.arange(corners) * (2 * np.pi / corners) + turned
    return np.stack([middle[0] + radius * np.cos(angle), middle[1] + radius * np.sin(angle)], 1).astype(
        np.int32
    )
