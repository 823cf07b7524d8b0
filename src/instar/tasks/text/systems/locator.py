"""A text locator made of a network, which looks at one picture at a time in a size that it takes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from instar.core.options import require_fraction, require_one_of, require_picture, require_whole_number
from instar.core.scene import Image
from instar.tasks.text.answers import Quads
from instar.tasks.text.systems.rectangles import Floats, reading_order
from instar.tasks.text.systems.sizes import LIMIT_TYPES, fit_picture

__all__ = ["Locate", "NetworkLocator", "check_settings"]

DECODER = 1
"""Counts up whenever the code gives other answers for the same weights."""

Locate = Callable[[Image, Floats, tuple[int, int]], tuple[Floats, Floats]]
"""From a resized picture, what x and y of it are multiplied by to get back, and the (height, width) of the
picture, to quads `float32 (n, 4, 2)` in the picture and their scores `float32 (n,)`.
"""


def check_settings(name: str, settings: Mapping[str, Any]) -> None:
    """Refuse settings that make no sense, before weights are fetched for them."""
    require_whole_number(name, "limit_side", settings["limit_side"], least=32)
    require_one_of(name, "limit_type", settings["limit_type"], LIMIT_TYPES)
    require_fraction(name, "least_score", settings["least_score"])
    require_whole_number(name, "threads", settings.get("threads", 1), least=1)


class NetworkLocator:
    """A locator in a file. Every picture is asked on its own, so its neighbours do not matter.

    A network cannot be pickled: a worker process makes its own, by the factory and its settings.
    """

    def __init__(
        self,
        name: str,
        factory: Callable[..., NetworkLocator],
        settings: Mapping[str, Any],
        weights: Path,
        locate: Locate,
        *,
        libraries: str,
        batch: int = 1,
        concurrent: bool = True,
    ) -> None:
        self.name, self.batch, self.concurrent = name, batch, concurrent
        self._recipe, self._locate = partial(factory, **settings), locate
        self._limits = (settings["limit_side"], settings["limit_type"])
        threads = f" threads={settings['threads']}" if "threads" in settings else ""
        self.fingerprint = (
            f"{name} weights={hashlib.sha256(weights.read_bytes()).hexdigest()[:16]} "
            f"limit={self._limits[1]} {self._limits[0]} least_score={settings['least_score']:g}{threads} "
            f"decoder={DECODER} {libraries}"
        )

    def __reduce__(self) -> tuple[Callable[[], NetworkLocator], tuple[()]]:
        return self._recipe, ()

    def predict(self, images: Sequence[Image]) -> list[Quads]:
        """The text of each picture `uint8 (H, W, 3)` RGB, from the top."""
        return [self._find(image) for image in images]

    def _find(self, image: Image) -> Quads:
        require_picture(image)
        resized, scale = fit_picture(image, *self._limits)
        quads, scores = self._locate(resized, scale, (image.shape[0], image.shape[1]))
        order = reading_order(quads)
        return Quads(quads[order], None, scores[order])
