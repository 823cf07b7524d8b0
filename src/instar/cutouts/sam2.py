"""SAM 2: the outline of anything in a box, by a network that looks at the whole picture first."""

from __future__ import annotations

import os
import threading
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.digest import digest
from instar.core.picture_cache import PictureCache
from instar.core.scene import Image, Mask
from instar.cutouts.outlines import Outliner, SoftOutline
from instar.imaging.geometry import Box
from instar.imaging.onnx_session import open_onnx

SIDE, MASK_SIDE = 1024, 256
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CORNERS = np.array([[2, 3]], np.float32)  # how the network is told that two points are a box
REMEMBERED = 4  # pictures, of 16 MB each: looking at one takes seconds, each outline a fraction of one
MOST_THREADS = 4
BEYOND = 0.1  # of the box's sides: how far an outline may reach out of it
SPECK = 0.01  # of the object: smaller pieces and holes are the network's, not the object's
EDGE = 0.8  # pixels: how softly a camera draws an edge


@lru_cache(maxsize=1)
def sam2(encoder: Path, decoder: Path) -> Outliner:
    """Outlines by the two parts of the network; several threads may ask."""
    threads = min(MOST_THREADS, os.cpu_count() or 1)
    look, outline = (open_onnx(str(model), threads) for model in (encoder, decoder))
    seen = PictureCache(REMEMBERED)
    lock = threading.Lock()  # one picture at a time has all the cores

    def embed(picture: Image) -> dict[str, Any]:
        names = [one.name for one in look.get_outputs()]
        return dict(zip(names, look.run(None, {"image": _shown(picture)})))

    def find(picture: Image, box: Box) -> SoftOutline:
        height, width = picture.shape[:2]
        scale = np.array([SIDE / width, SIDE / height], np.float32)
        corners = (np.array(box, np.float32).reshape(1, 2, 2) * scale).astype(np.float32)
        asked: dict[str, Any] = {
            "point_coords": corners,
            "point_labels": CORNERS,
            "has_mask_input": np.zeros(1, np.float32),
        }
        asked["mask_input"] = np.zeros((1, 1, MASK_SIDE, MASK_SIDE), np.float32)
        with lock:
            asked |= seen.get(digest(picture), partial(embed, picture))
            masks, qualities = outline.run(["masks", "iou_predictions"], asked)
        best = int(np.argmax(qualities[0]))
        alpha = _softened(masks[0, best], (height, width))
        return SoftOutline(_within(alpha, box), float(np.clip(qualities[0, best], 0, 1)))

    return find


def _shown(picture: Image) -> npt.NDArray[np.float32]:
    """The picture stretched to a square, as the network was trained on."""
    square = cv2.resize(picture, (SIDE, SIDE), interpolation=cv2.INTER_LINEAR).astype(np.float32) / 255
    normal = (square - np.array(MEAN, np.float32)) / np.array(DEVIATION, np.float32)
    return np.ascontiguousarray(normal.transpose(2, 0, 1)[None], np.float32)


def _softened(logits: npt.NDArray[np.float32], shape: tuple[int, int]) -> npt.NDArray[np.uint8]:
    """The network's small map at the size of the picture, as alpha.

    How sure the network is inside the outline is not how opaque the object is: only the edge is soft.
    """
    large = cv2.resize(logits, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC)
    solid = _without_specks(_without_specks(large > 0), value=False)
    return np.asarray(cv2.GaussianBlur(solid.astype(np.uint8) * np.uint8(255), (0, 0), EDGE), np.uint8)


def _without_specks(mask: Mask, *, value: bool = True) -> Mask:
    """The mask without pieces of that value that are tiny against the object; False for holes."""
    found = np.equal(mask, value).astype(np.uint8)
    _, pieces, stats, _ = cv2.connectedComponentsWithStats(found, connectivity=4)
    tiny = stats[:, cv2.CC_STAT_AREA] < SPECK * np.count_nonzero(mask)
    tiny[0] = False  # everything else
    return np.asarray(np.where(tiny[pieces], not value, mask), np.bool_)


def _within(alpha: npt.NDArray[np.uint8], box: Box) -> npt.NDArray[np.uint8]:
    """Nothing far out of the box: that is another thing of the same kind."""
    x1, y1, x2, y2 = box
    dx, dy = BEYOND * (x2 - x1), BEYOND * (y2 - y1)
    rows = slice(max(0, int(y1 - dy)), max(0, int(np.ceil(y2 + dy))))
    columns = slice(max(0, int(x1 - dx)), max(0, int(np.ceil(x2 + dx))))
    kept = np.zeros_like(alpha)
    kept[rows, columns] = alpha[rows, columns]
    return kept
