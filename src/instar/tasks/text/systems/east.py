"""EAST, the one-shot text detector of the text paper, run by OpenCV on the CPU.

Its weights are under the GPL: they are fetched only by `instar models fetch east`, never by themselves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import cv2
import numpy as np

from instar.core.options import (
    require_fraction,
    require_one_of,
    require_picture,
    require_whole_number,
)
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.tasks.text.answers import Quads
from instar.tasks.text.systems.rectangles import Floats, reading_order, start_at_top_left
from instar.tasks.text.systems.sizes import LIMIT_TYPES, fit_picture
from instar.zoo import fetch

__all__ = ["East", "east"]

OUTPUTS = ("feature_fusion/Conv_7/Sigmoid", "feature_fusion/concat_3")
"""The layers with the scores and with the geometry."""
MEAN = (123.68, 116.78, 103.94)
"""What the network's pictures had subtracted, in RGB."""
STRIDE = 4
"""Pixels of the picture per cell of the output."""
SAME_TEXT = 0.2
"""The overlap (IoU) above which the weaker of two boxes is dropped."""
DECODER = 1
"""Counts up whenever the code below gives other answers for the same network output."""


@recorded
def east(*, limit_side: int = 1280, limit_type: str = "max", least_score: float = 0.8) -> East:
    """EAST as trained on ICDAR 2013 and 2015; GPL-3.0 weights, so fetch them first: instar models fetch east.

    A picture is reduced until its longer side has no more than `limit_side` pixels (`limit_type` "max"), or
    enlarged until its shorter side has that many ("min").
    """
    (weights,) = fetch("east")
    return East(weights, limit_side=limit_side, limit_type=limit_type, least_score=least_score)


class East:
    """EAST in a file. Every picture is asked on its own, so its neighbours do not matter."""

    name = "east"
    batch = 1
    concurrent = (
        False  # OpenCV's networks are not made for several threads, and use all processors by themselves
    )

    def __init__(self, weights: Path, *, limit_side: int, limit_type: str, least_score: float) -> None:
        require_whole_number(self.name, "limit_side", limit_side, least=32)
        require_one_of(self.name, "limit_type", limit_type, LIMIT_TYPES)
        require_fraction(self.name, "least_score", least_score)
        content = np.fromfile(weights, np.uint8)
        self.fingerprint = (
            f"{self.name} weights={hashlib.sha256(content.data).hexdigest()[:16]} "
            f"limit={limit_type} {limit_side} least_score={least_score:g} "
            f"decoder={DECODER} cv2={cv2.__version__}"
        )
        self._recipe = partial(
            East, weights, limit_side=limit_side, limit_type=limit_type, least_score=least_score
        )
        self._limits = (limit_side, limit_type)
        self._least_score = float(least_score)
        self._network = cv2.dnn.readNetFromTensorflow(content)

    def __reduce__(self) -> tuple[Callable[[], East], tuple[()]]:
        # A network of OpenCV cannot be pickled; a worker process opens its own.
        return self._recipe, ()

    def predict(self, images: Sequence[Image]) -> list[Quads]:
        """The text of each picture `uint8 (H, W, 3)` RGB, word by word from the top."""
        return [self._find(image) for image in images]

    def _find(self, image: Image) -> Quads:
        require_picture(image)
        resized, scale = fit_picture(image, *self._limits)
        self._network.setInput(cv2.dnn.blobFromImage(resized, mean=MEAN))
        scores, geometry = self._network.forward(OUTPUTS)
        quads, certain = _decode(scores[0, 0], geometry[0], self._least_score)
        quads = start_at_top_left(quads * scale)
        order = reading_order(quads)
        return Quads(quads[order], None, certain[order])


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
    keep = _strongest(quads.mean(axis=1), sides, -np.rad2deg(turn), certain)
    return quads[keep], certain[keep]


def _strongest(centres: Floats, sides: Floats, turns: Floats, scores: Floats) -> list[int]:
    """Indices of the rectangles left when each drops the weaker ones that it overlaps."""
    rectangles = list(zip(centres.tolist(), sides.tolist(), turns.tolist()))
    return [int(i) for i in cv2.dnn.NMSBoxesRotated(rectangles, scores.tolist(), 0.0, SAME_TEXT)]
