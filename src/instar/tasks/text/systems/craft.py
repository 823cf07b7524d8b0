"""CRAFT, which finds characters and what links them to words, run by PyTorch on the CPU."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType

import cv2
import numpy as np

from instar.core.errors import MissingExtra
from instar.core.options import (
    require_fraction,
    require_one_of,
    require_picture,
    require_whole_number,
)
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.tasks.text.answers import Quads
from instar.tasks.text.systems.craft_words import find_words
from instar.tasks.text.systems.rectangles import Floats, clip_quads, reading_order
from instar.tasks.text.systems.sizes import LIMIT_TYPES, fit_picture
from instar.zoo import fetch

__all__ = ["Craft", "craft"]

MEAN = np.array([123.675, 116.28, 103.53], np.float32)
DEVIATION = np.array([58.395, 57.12, 57.375], np.float32)
"""Of ImageNet, in RGB: what the network's pictures were normalised with."""
MAP_STRIDE = 2
"""Pixels of the network's input per pixel of its maps."""
DECODER = 1
"""Counts up whenever the code below gives other answers for the same weights."""


@recorded
def craft(
    *, limit_side: int = 1280, limit_type: str = "max", least_score: float = 0.7, threads: int = 1
) -> Craft:
    """CRAFT as trained on several languages, its weights fetched if need be (91 MB); accurate and slow.

    A picture is reduced until its longer side has no more than `limit_side` pixels (`limit_type` "max"), or
    enlarged until its shorter side has that many ("min").
    """
    _network()  # before 91 MB are fetched in vain
    (weights,) = fetch("craft")
    return Craft(
        weights, limit_side=limit_side, limit_type=limit_type, least_score=least_score, threads=threads
    )


class Craft:
    """CRAFT in a file. Every picture is asked on its own, so its neighbours do not matter."""

    name = "craft"
    batch = 1
    concurrent = True

    def __init__(
        self, weights: Path, *, limit_side: int, limit_type: str, least_score: float, threads: int
    ) -> None:
        require_whole_number(self.name, "limit_side", limit_side, least=32)
        require_one_of(self.name, "limit_type", limit_type, LIMIT_TYPES)
        require_fraction(self.name, "least_score", least_score)
        require_whole_number(self.name, "threads", threads, least=1)
        self._network = _network()
        content = weights.read_bytes()
        self.fingerprint = (
            f"{self.name} weights={hashlib.sha256(content).hexdigest()[:16]} limit={limit_type} {limit_side} "
            f"least_score={least_score:g} threads={threads} decoder={DECODER} "
            f"torch={self._network.torch.__version__} cv2={cv2.__version__}"
        )
        self._recipe = partial(
            Craft,
            weights,
            limit_side=limit_side,
            limit_type=limit_type,
            least_score=least_score,
            threads=threads,
        )
        self._limits = (limit_side, limit_type)
        self._least_score, self._threads = float(least_score), threads
        self._convolutions = self._network.read_weights(content)

    def __reduce__(self) -> tuple[Callable[[], Craft], tuple[()]]:
        # A worker process reads the file rather than 83 MB through a pipe.
        return self._recipe, ()

    def predict(self, images: Sequence[Image]) -> list[Quads]:
        """The words of each picture `uint8 (H, W, 3)` RGB, from the top."""
        return [self._find(image) for image in images]

    def _find(self, image: Image) -> Quads:
        require_picture(image)
        resized, scale = fit_picture(image, *self._limits)
        region, affinity = self._network.maps(self._convolutions, _network_input(resized), self._threads)
        quads, scores = find_words(region, affinity, least_score=self._least_score)
        quads = clip_quads(quads * scale * MAP_STRIDE, image.shape[:2])
        order = reading_order(quads)
        return Quads(quads[order], None, scores[order])


def _network_input(image: Image) -> Floats:
    """`float32 (1, 3, H, W)` in RGB, normalised."""
    return np.ascontiguousarray(((image - MEAN) / DEVIATION).transpose(2, 0, 1)[None], np.float32)


def _network() -> ModuleType:
    try:
        from instar.tasks.text.systems import craft_network
    except ImportError:
        raise MissingExtra("torch", extra="torch", needed_for="craft") from None
    return craft_network
