"""The text locators of PP-OCR, run by onnxruntime on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # it ships no types

from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.tasks.text.systems.db import rectangles_of
from instar.tasks.text.systems.locator import NetworkLocator, check_settings
from instar.tasks.text.systems.rectangles import Floats, clip_quads
from instar.zoo import fetch

__all__ = ["ppocr_v4", "ppocr_v6"]

LEAST_SIDE = 3
"""Boxes thinner than this, in pixels of the picture, are not reported."""


@recorded
def ppocr_v4(
    *, limit_side: int = 736, limit_type: str = "min", least_score: float = 0.5, threads: int = 1
) -> NetworkLocator:
    """PP-OCRv4's mobile locator, its weights fetched if need be.

    A picture is enlarged until its shorter side has `limit_side` pixels (`limit_type` "min"), or reduced
    until its longer side has no more than that ("max"). Words of a few pixels are only found when enlarged.
    """
    return _make("ppocr-v4-det", ppocr_v4, dict(locals()))


@recorded
def ppocr_v6(
    *, limit_side: int = 736, limit_type: str = "min", least_score: float = 0.5, threads: int = 1
) -> NetworkLocator:
    """PP-OCRv6's small locator, its weights fetched if need be.

    The options mean what they mean for `ppocr_v4`.
    """
    return _make("ppocr-v6-det", ppocr_v6, dict(locals()))


def _make(name: str, factory: Callable[..., NetworkLocator], settings: dict[str, Any]) -> NetworkLocator:
    check_settings(name, settings)
    (weights,) = fetch(name)
    session = _session(weights.read_bytes(), settings["threads"])
    (network_input,) = session.get_inputs()

    def locate(resized: Image, scale: Floats, size: tuple[int, int]) -> tuple[Floats, Floats]:
        (output,) = session.run(None, {network_input.name: _network_input(resized)})
        quads, scores = rectangles_of(output[0, 0], least_score=float(settings["least_score"]))
        quads = clip_quads(quads * scale, size)
        across, down = quads[:, 1] - quads[:, 0], quads[:, 3] - quads[:, 0]
        thick = np.minimum(np.hypot(*across.T), np.hypot(*down.T)) > LEAST_SIDE
        return quads[thick], scores[thick]

    libraries = f"onnxruntime={onnxruntime.__version__} cv2={cv2.__version__}"
    return NetworkLocator(name, factory, settings, weights, locate, libraries=libraries, batch=4)


def _session(weights: bytes, threads: int) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])


def _network_input(image: Image) -> Floats:
    """`float32 (1, 3, H, W)` in BGR, from -1 to 1."""
    blob = cv2.dnn.blobFromImage(image, 1 / 127.5, mean=(127.5, 127.5, 127.5), swapRB=True)
    return np.asarray(blob, np.float32)
