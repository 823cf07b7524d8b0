"""CRAFT, which finds characters and what links them to words, run by PyTorch."""

from __future__ import annotations

import cv2
import numpy as np
from scipy import ndimage

from instar.adapters.devices import require_device
from instar.adapters.imagenet import IMAGENET_DEVIATION, IMAGENET_MEAN
from instar.adapters.picture_system import PictureSystem
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.installation import import_extra
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

MAP_STRIDE = 2
"""Pixels of the network's input per pixel of its maps."""
CHARACTER = 0.4
"""The region score above which a pixel belongs to a character."""
LINK = 0.4
"""The affinity above which a pixel lies between two characters of a word."""
LEAST_AREA = 10
"""Smaller pieces, in pixels of the map, are specks."""
GROWTH = 0.2
"""What a rectangle grows by on each side, in lengths of its shorter side: the map is cut above the foot of
its bells, which end where characters do."""


@recorded
def craft(
    *,
    limit_side: int = 1280,
    limit_type: str = "max",
    least_score: float = 0.7,
    threads: int = 1,
    device: str = "cpu",
) -> PictureSystem[Quads]:
    """CRAFT as trained on several languages, its weights fetched if need be (91 MB); accurate and slow.

    A picture is reduced until its longer side has no more than `limit_side` pixels (`limit_type` "max"), or
    enlarged until its shorter side has that many ("min"). A GPU (`device` "cuda") is many times as quick.
    """
    settings = dict(locals())
    check_settings("craft", settings)
    # Before 91 MB are fetched in vain.
    home = "instar.tasks.text.systems.craft_network"
    network = import_extra(home, "torch", extra="torch", needed_for="craft")
    device = require_device(device, "craft")
    (weights,) = fetch("craft")
    convolutions = network.read_weights(weights.read_bytes(), device)

    def locate(resized: Image, scale: Floats, size: tuple[int, int]) -> tuple[Floats, Floats]:
        region, affinity = network.maps(convolutions, _network_input(resized), threads)
        quads, scores = find_words(region, affinity, least_score=float(least_score))
        return clip_quads(quads * scale * MAP_STRIDE, size), scores

    on_gpu = "" if device == "cpu" else f"device={device} "
    libraries = f"{on_gpu}torch={network.torch.__version__} cv2={cv2.__version__}"
    return network_locator("craft", craft, settings, weights, locate, libraries=libraries)


def _network_input(image: Image) -> Floats:
    """`float32 (1, 3, H, W)` in RGB, normalised."""
    mean, deviation = (np.array(one, np.float32) for one in (IMAGENET_MEAN, IMAGENET_DEVIATION))
    return np.ascontiguousarray(((image - mean) / deviation).transpose(2, 0, 1)[None], np.float32)


def find_words(region: Floats, affinity: Floats, *, least_score: float) -> tuple[Floats, Floats]:
    """Quads `float32 (n, 4, 2)` in pixels of the maps `float32 (H, W)`, and their scores `float32 (n,)`.

    A score is the greatest region score of the word.
    """
    characters = region > CHARACTER
    either = (characters | (affinity > LINK)).view(np.uint8)
    count, labels, extents, _ = cv2.connectedComponentsWithStats(either, connectivity=4)
    peaks = np.asarray(ndimage.maximum(region, labels, np.arange(1, count)), np.float32)
    words = 1 + np.flatnonzero((peaks >= least_score) & (extents[1:, cv2.CC_STAT_AREA] >= LEAST_AREA))
    pieces = []
    for word in words:
        left, top, width, height, _ = extents[word]
        part = np.s_[top : top + height, left : left + width]
        rows, columns = np.nonzero(characters[part] & (labels[part] == word))
        pieces.append(np.stack([columns + left, rows + top], axis=1).astype(np.float32))
    centres, sides, turns = smallest_rectangles(pieces)
    # The rectangles run through the centres of the outermost pixels; half a pixel more takes in all of them.
    sides = sides + 1
    sides = sides + 2 * GROWTH * sides.min(axis=1, keepdims=True)
    quads = start_at_top_left(rectangle_corners(centres + 0.5, sides, turns))
    return quads, np.minimum(peaks[words - 1], np.float32(1))
