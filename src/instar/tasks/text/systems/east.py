"""EAST, the one-shot text detector of the text paper, run on the CPU by OpenCV or, quicker, by OpenVINO.

Its weights are under the GPL: they are fetched only by `instar models fetch east`, never by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np

from instar.adapters.picture_system import PictureSystem
from instar.core.options import require_one_of
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.installation import import_extra
from instar.tasks.text.answers import Quads
from instar.tasks.text.systems.locator import check_settings, network_locator
from instar.tasks.text.systems.rectangles import Floats, start_at_top_left
from instar.zoo import fetch

OUTPUTS = ("feature_fusion/Conv_7/Sigmoid", "feature_fusion/concat_3")
"""The layers with the scores and with the geometry."""
MEAN = (123.68, 116.78, 103.94)
"""What the network's pictures had subtracted, in RGB."""
ENGINES = ("opencv", "openvino")
STRIDE = 4
"""Pixels of the picture per cell of the output."""
SAME_TEXT = 0.2
"""The overlap (IoU) above which the weaker of two boxes is dropped."""


Maps = Callable[[Image], tuple[Floats, Floats]]
"""From a picture in the network's size to scores `float32 (1, 1, H, W)` and geometry `(1, 5, H, W)`."""


@recorded
def east(
    *,
    limit_side: int = 1280,
    limit_type: str = "max",
    least_score: float = 0.8,
    engine: str = "opencv",
) -> PictureSystem[Quads]:
    """EAST as trained on ICDAR 2013 and 2015; GPL-3.0 weights, so fetch them first: instar models fetch east.

    A picture is reduced until its longer side has no more than `limit_side` pixels (`limit_type` "max"), or
    enlarged until its shorter side has that many ("min"). The `engine` is "opencv", or "openvino" (extra
    openvino), which gives the same boxes in a third of the time.
    """
    settings = dict(locals())
    check_settings("east", settings)
    require_one_of("east", "engine", engine, ENGINES)
    if engine == "openvino":  # before 97 MB are read in vain
        import_extra("openvino", "openvino", extra="openvino", needed_for="east with engine=openvino")
    (weights,) = fetch("east")
    maps, libraries = (_by_opencv if engine == "opencv" else _by_openvino)(weights)

    def locate(resized: Image, scale: Floats, size: tuple[int, int]) -> tuple[Floats, Floats]:
        scores, geometry = maps(resized)
        quads, certain = _decode(scores[0, 0], geometry[0], float(least_score))
        return start_at_top_left(quads * scale), certain

    # OpenCV's networks are not made for several threads, and use all processors by themselves.
    return network_locator("east", east, settings, weights, locate, libraries=libraries, concurrent=False)


def _by_opencv(weights: Path) -> tuple[Maps, str]:
    network = cv2.dnn.readNetFromTensorflow(np.fromfile(weights, np.uint8))

    def maps(resized: Image) -> tuple[Floats, Floats]:
        network.setInput(cv2.dnn.blobFromImage(resized, mean=MEAN))
        scores, geometry = network.forward(OUTPUTS)
        return np.asarray(scores, np.float32), np.asarray(geometry, np.float32)

    return maps, f"cv2={cv2.__version__}"


def _by_openvino(weights: Path) -> tuple[Maps, str]:
    import openvino  # type: ignore[import-untyped]  # it ships no types

    settings = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    network = openvino.compile_model(openvino.Core().read_model(weights), "CPU", settings)

    def maps(resized: Image) -> tuple[Floats, Floats]:
        found = network([(resized - np.array(MEAN, np.float32))[None]])
        scores, geometry = (np.asarray(found[f"{name}:0"]).transpose(0, 3, 1, 2) for name in OUTPUTS)
        return scores, geometry

    return maps, f"openvino={openvino.__version__} cv2={cv2.__version__}"


def _decode(scores: Floats, geometry: Floats, least_score: float) -> tuple[Floats, Floats]:
    """Quads `float32 (n, 4, 2)` in pixels of the network's input, and their scores `float32 (n,)`.

    `scores` is `float32 (H, W)`; `geometry` is `float32 (5, H, W)`: from a cell to the top, right, bottom
    and left edge of its rectangle in pixels, and the rectangle's turn in radians, counterclockwise as one
    sees it.
    """
    rows, columns = np.nonzero(scores >= least_score)
    certain = scores[rows, columns]
    order = np.argsort(-certain, kind="stable")
    rows, columns, certain = rows[order], columns[order], certain[order]
    top, right, bottom, left, turn = geometry[:, rows, columns]

    cells = STRIDE * np.stack([columns, rows], axis=1).astype(np.float32)
    along = np.stack([np.cos(turn), -np.sin(turn)], axis=1)
    across = np.stack([np.sin(turn), np.cos(turn)], axis=1)
    corners = [
        cells + x[:, None] * along + y[:, None] * across
        for x, y in [(-left, -top), (right, -top), (right, bottom), (-left, bottom)]
    ]
    quads = np.stack(corners, axis=1).astype(np.float32)
    sides = np.stack([left + right, top + bottom], axis=1)
    rectangles = zip(quads.mean(axis=1).tolist(), sides.tolist(), (-np.rad2deg(turn)).tolist())
    strongest = cv2.dnn.NMSBoxesRotated(list(rectangles), certain.tolist(), 0.0, SAME_TEXT)
    keep = np.array(strongest, np.intp).ravel()
    return quads[keep], certain[keep]
