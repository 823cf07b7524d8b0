"""The text locators of PP-OCR, run by onnxruntime on the CPU."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # it ships no types

from instar.core.options import (
    require_fraction,
    require_one_of,
    require_picture,
    require_whole_number,
)
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.tasks.text.answers import Quads
from instar.tasks.text.systems.db import rectangles_of
from instar.tasks.text.systems.rectangles import Floats, clip_quads, reading_order
from instar.tasks.text.systems.sizes import LIMIT_TYPES, fit_picture
from instar.zoo import fetch

__all__ = ["PPOCR", "ppocr_v4", "ppocr_v6"]

LEAST_SIDE = 3
"""Boxes thinner than this, in pixels of the picture, are not reported."""
DECODER = 1
"""Counts up whenever the code below gives other answers for the same network output."""


@recorded
def ppocr_v4(
    *, limit_side: int = 736, limit_type: str = "min", least_score: float = 0.5, threads: int = 1
) -> PPOCR:
    """PP-OCRv4's mobile locator, its weights fetched if need be.

    A picture is enlarged until its shorter side has `limit_side` pixels (`limit_type` "min"), or reduced
    until its longer side has no more than that ("max"). Words of a few pixels are only found when enlarged.
    """
    return _located("ppocr-v4-det", limit_side, limit_type, least_score, threads)


@recorded
def ppocr_v6(
    *, limit_side: int = 736, limit_type: str = "min", least_score: float = 0.5, threads: int = 1
) -> PPOCR:
    """PP-OCRv6's small locator, its weights fetched if need be.

    The options mean what they mean for `ppocr_v4`.
    """
    return _located("ppocr-v6-det", limit_side, limit_type, least_score, threads)


def _located(name: str, limit_side: int, limit_type: str, least_score: float, threads: int) -> PPOCR:
    (weights,) = fetch(name)
    return PPOCR(
        weights,
        name=name,
        limit_side=limit_side,
        limit_type=limit_type,
        least_score=least_score,
        threads=threads,
    )


class PPOCR:
    """A PP-OCR locator in a file. Every picture is asked on its own, so its neighbours do not matter."""

    batch = 4
    concurrent = True

    def __init__(
        self, weights: Path, *, name: str, limit_side: int, limit_type: str, least_score: float, threads: int
    ) -> None:
        require_whole_number(name, "limit_side", limit_side, least=32)
        require_one_of(name, "limit_type", limit_type, LIMIT_TYPES)
        require_fraction(name, "least_score", least_score)
        require_whole_number(name, "threads", threads, least=1)
        content = weights.read_bytes()
        self.name = name
        self.fingerprint = (
            f"{name} weights={hashlib.sha256(content).hexdigest()[:16]} limit={limit_type} {limit_side} "
            f"least_score={least_score:g} threads={threads} decoder={DECODER} "
            f"onnxruntime={onnxruntime.__version__} cv2={cv2.__version__}"
        )
        self._recipe = partial(
            PPOCR,
            weights,
            name=name,
            limit_side=limit_side,
            limit_type=limit_type,
            least_score=least_score,
            threads=threads,
        )
        self._limits = (limit_side, limit_type)
        self._least_score = float(least_score)
        self._session = _session(content, threads)
        (network_input,) = self._session.get_inputs()
        self._input_name: str = network_input.name

    def __reduce__(self) -> tuple[Callable[[], PPOCR], tuple[()]]:
        # A session cannot be pickled; a worker process opens its own.
        return self._recipe, ()

    def predict(self, images: Sequence[Image]) -> list[Quads]:
        """The text of each picture `uint8 (H, W, 3)` RGB, line by line from the top."""
        return [self._find(image) for image in images]

    def _find(self, image: Image) -> Quads:
        require_picture(image)
        resized, scale = fit_picture(image, *self._limits)
        (output,) = self._session.run(None, {self._input_name: _network_input(resized)})
        quads, scores = rectangles_of(output[0, 0], least_score=self._least_score)
        quads = clip_quads(quads * scale, image.shape[:2])
        across, down = quads[:, 1] - quads[:, 0], quads[:, 3] - quads[:, 0]
        thick = np.minimum(np.hypot(*across.T), np.hypot(*down.T)) > LEAST_SIDE
        quads, scores = quads[thick], scores[thick]
        order = reading_order(quads)
        return Quads(quads[order], None, scores[order])


def _session(weights: bytes, threads: int) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])


def _network_input(image: Image) -> Floats:
    """`float32 (1, 3, H, W)` in BGR, from -1 to 1."""
    blob = cv2.dnn.blobFromImage(image, 1 / 127.5, mean=(127.5, 127.5, 127.5), swapRB=True)
    return np.asarray(blob, np.float32)
