"""Adding a traffic sign by drawing it, on a pole on the roadside."""

from __future__ import annotations

import cv2
import numpy as np

from instar.core.change import Inapplicable
from instar.core.scene import Image
from instar.cutouts import CutOuts
from instar.imaging.paste import RGBA, pasted
from instar.tasks.driving.engines import Edit, SceneView
from instar.tasks.driving.engines.paste import times_usual
from instar.tasks.driving.engines.placement import alter as alter
from instar.tasks.driving.engines.placement import less as less
from instar.tasks.driving.engines.placement import move as move
from instar.tasks.driving.engines.placement import place_at, place_each, places
from instar.tasks.driving.engines.words import not_there, unshown
from instar.tasks.driving.rules.model import Condition
from instar.worlds.drive.fixtures import BOARDS, board
from instar.worlds.drive.textures import at_height

HEIGHT = 1.65  # of a person: a sign with its pole
ASPECT = 0.3
LEAST_HEIGHT = 0.18  # of the picture; what is on smaller ones could not be seen
USUAL_LIGHT = 95.0  # of a road by day


def plan(condition: Condition, view: SceneView, rng: np.random.Generator) -> tuple[Edit, ...] | Inapplicable:
    assert view.gallery is not None, "a gallery is made before pictures are pasted"
    person = view.gallery.person
    if person is None:
        return Inapplicable("nothing to tell the size of a sign from")
    where = places(condition)
    unsaid = unshown(condition, own=("type", "shape", "limit", "size"), distance=True)
    if unsaid is not None or isinstance(where, Inapplicable):
        return unsaid or where  # type: ignore[return-value]  # one of the two is why not
    if where == "by":
        return not_there(condition)
    kind, limit = condition.properties.get("type", "speed limit"), condition.properties.get("limit", "")
    limit = limit.removesuffix(" mph")  # on the board are figures only
    if kind not in (*BOARDS, "speed limit") or (limit and kind != "speed limit"):
        return Inapplicable(f"nothing here can show {kind!r}")
    drawn = {
        "engine": "sign",
        "label": "traffic sign",
        "variant": f"speed limit {limit or 30}" if kind == "speed limit" else kind,
        "shape": condition.properties.get("shape", ""),
        "aspect": ASPECT,
        "least": LEAST_HEIGHT,
        "gain": round(float(np.clip(view.image[view.ground.road].mean() / USUAL_LIGHT, 0.3, 1.1)), 3),
    }
    size = HEIGHT * person * times_usual(condition.thing)
    return place_each(
        condition, view, lambda view: place_at(drawn, where, size, view, rng, condition.distance)
    )


def make(image: Image, edit: Edit, cutouts: CutOuts) -> Image:
    """The picture with the sign in it."""
    return pasted(image, draw_sign(edit), edit["x"], edit["y"], "hard")


def draw_sign(edit: Edit) -> RGBA:
    """The board on its pole, `uint8 (height, width, 4)`."""
    width, height = edit["width"], edit["height"]
    drawn = np.zeros((height, width, 4), np.uint8)
    pole = max(1, round(width * 0.1))
    left = (width - pole) // 2
    drawn[width // 2 :, left : left + pole] = (96, 98, 102, 255)
    kind, _, limit = edit["variant"].rpartition(" ")
    levels = (
        board(kind, edit["shape"], int(limit)) if limit.isdigit() else board(edit["variant"], edit["shape"])
    )
    face = cv2.resize(at_height(levels, width), (width, min(width, height)), interpolation=cv2.INTER_AREA)
    share = face[..., 3:].astype(np.float32) / 255
    top = drawn[: face.shape[0]]
    top[..., :3] = np.rint(top[..., :3] * (1 - share) + face[..., :3] * share)
    top[..., 3] = np.maximum(top[..., 3], face[..., 3])
    drawn[..., :3] = np.clip(drawn[..., :3].astype(np.float32) * edit["gain"], 0, 255)
    return drawn
