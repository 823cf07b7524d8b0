"""CRAFT, which finds characters and what links them to words, run by PyTorch on the CPU."""

from __future__ import annotations

from types import ModuleType

import cv2
import numpy as np

from instar.core.errors import MissingExtra
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.tasks.text.systems.craft_words import find_words
from instar.tasks.text.systems.locator import NetworkLocator, check_settings
from instar.tasks.text.systems.rectangles import Floats, clip_quads
from instar.zoo import fetch

__all__ = ["craft"]

MEAN = np.array([123.675, 116.28, 103.53], np.float32)
DEVIATION = np.array([58.395, 57.12, 57.375], np.float32)
"""Of ImageNet, in RGB: what the network's pictures were normalised with."""
MAP_STRIDE = 2
"""Pixels of the network's input per pixel of its maps."""


@recorded
def craft(
    *, limit_side: int = 1280, limit_type: str = "max", least_score: float = 0.7, threads: int = 1
) -> NetworkLocator:
    """CRAFT as trained on several languages, its weights fetched if need be (91 MB); accurate and slow.

    A picture is reduced until its longer side has no more than `limit_side` pixels (`limit_type` "max"), or
    enlarged until its shorter side has that many ("min").
    """
    settings = dict(locals())
    check_settings("craft", settings)
    network = _network()  # before 91 MB are fetched in vain
    (weights,) = fetch("craft")
    convolutions = network.read_weights(weights.read_bytes())

    def locate(resized: Image, scale: Floats, size: tuple[int, int]) -> tuple[Floats, Floats]:
        region, affinity = network.maps(convolutions, _network_input(resized), threads)
        quads, scores = find_words(region, affinity, least_score=float(least_score))
        return clip_quads(quads * scale * MAP_STRIDE, size), scores

    libraries = f"torch={network.torch.__version__} cv2={cv2.__version__}"
    return NetworkLocator("craft", craft, settings, weights, locate, libraries=libraries)


def _network_input(image: Image) -> Floats:
    """`float32 (1, 3, H, W)` in RGB, normalised."""
    return np.ascontiguousarray(((image - MEAN) / DEVIATION).transpose(2, 0, 1)[None], np.float32)


def _network() -> ModuleType:
    try:
        from instar.tasks.text.systems import craft_network
    except ImportError:
        raise MissingExtra("torch", extra="torch", needed_for="craft") from None
    return craft_network
