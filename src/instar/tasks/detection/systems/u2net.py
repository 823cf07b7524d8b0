"""U2-Net-P: the outline of what a picture is of, whatever it is; run by onnxruntime on the CPU."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image, Mask
from instar.cutouts.build import FindOutline
from instar.imaging.geometry import Box
from instar.imaging.onnx_session import open_onnx
from instar.zoo import fetch

SIDE = 320
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
MARGIN = 0.15  # of the box: surroundings that the network gets to see


def u2net_outline(*, threads: int = 1) -> FindOutline:
    """Outlines by U2-Net-P, shown each object alone with a little of its surroundings."""
    (weights,) = fetch("u2net-p")
    session = open_onnx(weights.read_bytes(), threads)
    name: str = session.get_inputs()[0].name

    def outline(image: Image, box: Box) -> Mask | None:
        height, width = image.shape[:2]
        x1, y1, x2, y2 = box
        dx, dy = MARGIN * (x2 - x1), MARGIN * (y2 - y1)
        left, top = max(0, round(x1 - dx)), max(0, round(y1 - dy))
        right, bottom = min(width, round(x2 + dx)), min(height, round(y2 + dy))
        if right - left < 8 or bottom - top < 8:
            return None
        found = salience(lambda shown: session.run(None, {name: shown})[0], image[top:bottom, left:right])
        mask = np.zeros((height, width), np.bool_)
        mask[top:bottom, left:right] = found > 0.5
        # The object is known to be inside its box; what salience finds beyond is something else.
        inside = np.zeros_like(mask)
        inside[max(0, int(y1)) : int(np.ceil(y2)), max(0, int(x1)) : int(np.ceil(x2))] = True
        return mask & inside

    return outline


def salience(
    network: Callable[[npt.NDArray[np.float32]], npt.NDArray[np.float32]], image: Image
) -> npt.NDArray[np.float32]:
    """`float32 (H, W)`, 0 to 1: how much each pixel belongs to what the picture is of."""
    small = cv2.resize(image, (SIDE, SIDE), interpolation=cv2.INTER_AREA).astype(np.float32)
    shown = (small / max(float(small.max()), 1e-6) - np.array(MEAN)) / np.array(DEVIATION)
    output = network(np.ascontiguousarray(shown.transpose(2, 0, 1)[None], np.float32))[0, 0]
    low, high = float(output.min()), float(output.max())
    stretched = (output - low) / max(high - low, 1e-6)
    return np.asarray(cv2.resize(stretched, (image.shape[1], image.shape[0])), np.float32)
