"""What every pixel of a street photograph shows, told by a small network."""

from __future__ import annotations

import cv2
import numpy as np

from instar.core.scene import Image
from instar.imaging.labels import LabelMap
from instar.imaging.street_classes import STREET
from instar.imaging.street_networks import as_input, session

HEIGHT = 360  # of the pictures it was trained on


def segment(image: Image) -> LabelMap:
    """The label map of a street photograph."""
    rows, columns = image.shape[:2]
    width = max(1, round(columns * HEIGHT / rows))
    how = cv2.INTER_AREA if rows > HEIGHT else cv2.INTER_LINEAR
    small = cv2.resize(np.asarray(image), (width, HEIGHT), interpolation=how)
    (scores,) = session("street-maps").run(
        None, {"picture": as_input(small.astype(np.float32) / np.float32(127.5) - 1)}
    )
    ids = scores[0, :, :HEIGHT, :width].argmax(axis=0).astype(np.uint8)
    return LabelMap(cv2.resize(ids, (columns, rows), interpolation=cv2.INTER_NEAREST), STREET)
