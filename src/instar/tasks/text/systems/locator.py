"""Text locators made of a network, which looks at a picture in a size that it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from instar.adapters.picture_system import PictureSystem, hash_files, one_by_one
from instar.core.options import require_fraction, require_one_of, require_whole_number
from instar.core.scene import Image
from instar.tasks.text.answers import Quads
from instar.tasks.text.systems.rectangles import Floats, reading_order

DECODER = 1
"""Counts up whenever the code gives other answers for the same weights."""
MULTIPLE = 32
"""Sides are whole multiples of it: the networks halve their input five times."""
LONGEST_SIDE = 4096
"""No side becomes longer, so that a strip of pixels whose short side is enlarged does not fill the memory."""

Locate = Callable[[Image, Floats, tuple[int, int]], tuple[Floats, Floats]]
"""From a resized picture, what x and y of it are multiplied by to get back, and the (height, width) of the
picture, to quads `float32 (n, 4, 2)` in the picture and their scores `float32 (n,)`.
"""


def check_settings(name: str, settings: Mapping[str, Any]) -> None:
    """Refuse settings that make no sense, before weights are fetched for them."""
    require_whole_number(name, "limit_side", settings["limit_side"], least=32)
    require_one_of(name, "limit_type", settings["limit_type"], ("min", "max"))
    require_fraction(name, "least_score", settings["least_score"])
    require_whole_number(name, "threads", settings.get("threads", 1), least=1)


def network_locator(
    name: str,
    factory: Callable[..., PictureSystem[Quads]],
    settings: Mapping[str, Any],
    weights: Path,
    locate: Locate,
    *,
    libraries: str,
    batch: int = 1,
    concurrent: bool = True,
) -> PictureSystem[Quads]:
    """The locator that the factory makes of these settings."""
    limit_side, limit_type = settings["limit_side"], settings["limit_type"]

    def find(image: Image) -> Quads:
        resized, scale = resize_picture(image, limit_side, limit_type)
        quads, scores = locate(resized, scale, (image.shape[0], image.shape[1]))
        order = reading_order(quads)
        return Quads(quads[order], None, scores[order])

    threads = f" threads={settings['threads']}" if "threads" in settings else ""
    fingerprint = (
        f"{name} weights={hash_files(weights)} limit={limit_type} {limit_side} "
        f"least_score={settings['least_score']:g}{threads} decoder={DECODER} {libraries}"
    )
    recipe = partial(factory, **settings)
    return PictureSystem(
        name, one_by_one(find), fingerprint=fingerprint, recipe=recipe, batch=batch, concurrent=concurrent
    )


def fit_size(size: tuple[int, int], limit_side: int, limit_type: str) -> tuple[int, int]:
    """The (height, width) at which a picture of that (height, width) is looked at.

    With "min" a picture is enlarged until its shorter side has `limit_side` pixels, with "max" it is
    reduced until its longer side has no more; otherwise it stays, but for rounding to multiples of 32.

    >>> fit_size((720, 1280), 736, "min"), fit_size((720, 1280), 960, "max")
    ((736, 1312), (544, 960))
    """
    shorter, longer = min(size), max(size)
    scale = max(1.0, limit_side / shorter) if limit_type == "min" else min(1.0, limit_side / longer)
    scale = min(scale, LONGEST_SIDE / longer)
    height, width = (max(MULTIPLE, round(side * scale / MULTIPLE) * MULTIPLE) for side in size)
    return height, width


def resize_picture(image: Image, limit_side: int, limit_type: str) -> tuple[Image, Floats]:
    """The picture in that size, and what x and y of it are multiplied by to get back: `float32 (2,)`."""
    height, width = image.shape[:2]
    new_height, new_width = fit_size((height, width), limit_side, limit_type)
    scale = np.array([width / new_width, height / new_height], np.float32)
    return np.asarray(cv2.resize(image, (new_width, new_height)), np.uint8), scale
