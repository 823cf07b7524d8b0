"""The text locators of PP-OCR, run by onnxruntime on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # it ships no types

from instar.adapters.picture_system import PictureSystem
from instar.adapters.sessions import open_network
from instar.core.errors import BadInput
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.tasks.text.answers import Quads
from instar.tasks.text.polygons import clip_quads
from instar.tasks.text.systems.locator import check_settings, network_locator
from instar.tasks.text.systems.rectangles import (
    Floats,
    rectangle_corners,
    smallest_rectangles,
    start_at_top_left,
)
from instar.zoo import fetch

THRESHOLD = 0.3
"""The probability above which a pixel is text."""
GROWTH = 1.6
"""A rectangle grows on each side by this times area over perimeter: what shrinking took away (DB, Eq. 10)."""
LEAST_SIDE = 3
"""What is thinner is a speck: a rectangle in pixels of the map, or a box in pixels of the picture."""


@recorded
def ppocr_v4(
    *,
    limit_side: int = 736,
    limit_type: str = "min",
    least_score: float = 0.5,
    threads: int = 1,
    weights: str = "",
) -> PictureSystem[Quads]:
    """PP-OCRv4's mobile locator, its weights fetched if need be.

    A picture is enlarged until its shorter side has `limit_side` pixels (`limit_type` "min"), or reduced
    until its longer side has no more than that ("max"). Words of a few pixels are only found when enlarged.
    `weights` is an ONNX file of the same kind to use instead, such as a retrained one.
    """
    return _make("ppocr-v4-det", ppocr_v4, dict(locals()))


@recorded
def ppocr_v6(
    *,
    limit_side: int = 736,
    limit_type: str = "min",
    least_score: float = 0.5,
    threads: int = 1,
    weights: str = "",
) -> PictureSystem[Quads]:
    """PP-OCRv6's small locator, its weights fetched if need be.

    The options mean what they mean for `ppocr_v4`.
    """
    return _make("ppocr-v6-det", ppocr_v6, dict(locals()))


def _make(
    name: str, factory: Callable[..., PictureSystem[Quads]], settings: dict[str, Any]
) -> PictureSystem[Quads]:
    check_settings(name, settings)
    own = settings["weights"]
    weights = Path(own) if own else fetch(name)[0]
    session, _ = open_network(weights, threads=settings["threads"])
    network_input = _only_input(weights, session)

    def locate(resized: Image, scale: Floats, size: tuple[int, int]) -> tuple[Floats, Floats]:
        (output,) = session.run(None, {network_input.name: _network_input(resized)})
        return boxes_of(output[0, 0], scale, size, least_score=float(settings["least_score"]))

    libraries = f"onnxruntime={onnxruntime.__version__} cv2={cv2.__version__}"
    return network_locator(name, factory, settings, weights, locate, libraries=libraries, batch=4)


def _only_input(weights: Path, session: Any) -> Any:
    """The input for pictures of any size."""
    inputs = session.get_inputs()
    shape = list(inputs[0].shape)
    is_free = len(shape) == 4 and not any(isinstance(side, int) and side > 0 for side in shape[2:])
    if len(inputs) != 1 or not is_free:
        listed = ", ".join(f"{one.name} {list(one.shape)}" for one in inputs)
        raise BadInput(
            f"{weights} takes {listed}; a text locator takes one picture of any height and width: "
            "[1, 3, height, width], with both left open in the export"
        )
    return inputs[0]


def _network_input(image: Image) -> Floats:
    """`float32 (1, 3, H, W)` in BGR, from -1 to 1."""
    blob = cv2.dnn.blobFromImage(image, 1 / 127.5, mean=(127.5, 127.5, 127.5), swapRB=True)
    return np.asarray(blob, np.float32)


def rectangles_of(probabilities: Floats, *, least_score: float) -> tuple[Floats, Floats]:
    """From a map of text probabilities to boxes, as differentiable binarisation (DB) is read.

    The network is trained on shrunken text, so that neighbours stay apart: each piece of the map
    `float32 (H, W)` above the threshold is surrounded by its smallest rectangle, and the rectangle grown
    again. Gives quads `float32 (n, 4, 2)` in pixels of the map, and their scores `float32 (n,)`: the mean
    probability inside the rectangle before it grows.
    """
    # Grown by one pixel to the right and down: the outline of a piece, which runs through the centres of its
    # outermost pixels, then has the coordinates of the piece's edges.
    text = cv2.dilate((probabilities > THRESHOLD).view(np.uint8), np.ones((2, 2), np.uint8))
    outlines, _ = cv2.findContours(text, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    centres, sides, turns = smallest_rectangles(outlines)
    wide = sides.min(axis=1) >= LEAST_SIDE
    centres, sides, turns = centres[wide], sides[wide], turns[wide]
    inner = rectangle_corners(centres, sides, turns)
    scores = np.array([_mean_inside(probabilities, quad) for quad in inner], np.float32)
    sure = scores >= least_score
    centres, sides, turns, scores = centres[sure], sides[sure], turns[sure], scores[sure]
    growth = GROWTH * sides.prod(axis=1) / (2 * sides.sum(axis=1))
    return start_at_top_left(rectangle_corners(centres, sides + 2 * growth[:, None], turns)), scores


def boxes_of(
    probabilities: Floats, scale: Floats, size: tuple[int, int], *, least_score: float
) -> tuple[Floats, Floats]:
    """The same in a picture of (height, width), to which `scale` leads from the map, less specks."""
    quads, scores = rectangles_of(probabilities, least_score=least_score)
    quads = clip_quads(quads * scale, size)
    across, down = quads[:, 1] - quads[:, 0], quads[:, 3] - quads[:, 0]
    thick = np.minimum(np.hypot(*across.T), np.hypot(*down.T)) > LEAST_SIDE
    return quads[thick], scores[thick]


def _mean_inside(probabilities: Floats, quad: Floats) -> float:
    """The mean of the map over a quad."""
    height, width = probabilities.shape
    low = np.clip(np.floor(quad.min(axis=0)).astype(int), 0, (width - 1, height - 1))
    high = np.clip(np.ceil(quad.max(axis=0)).astype(int), 0, (width - 1, height - 1))
    mask = np.zeros((high[1] - low[1] + 1, high[0] - low[0] + 1), np.uint8)
    cv2.fillConvexPoly(mask, np.rint(quad - low).astype(np.int32), 1)
    patch = probabilities[low[1] : high[1] + 1, low[0] : high[0] + 1]
    return float(cv2.mean(patch, mask)[0])
