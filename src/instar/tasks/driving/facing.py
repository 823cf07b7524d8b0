"""Which way a cut-out of a vehicle faces: red lamps at its sides, or a yellow plate, are its rear."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instar.tasks.driving.colours import colour_of

OPAQUE = 128
HEIGHTS = (0.15, 0.8)  # where lamps are, as shares of the height
SIDES, MIDDLE = 0.36, (0.4, 0.6)  # of the width
LEAST_LAMPS = 0.002  # of a vehicle's pixels
BETWEEN = 0.25  # of them may be red in the middle too: what is red there is paint
PLATE = (0.002, 0.05)  # of its pixels; more is a yellow car
PAINTED = ("red", "orange", "brown")


def faces(pixels: npt.NDArray[np.uint8], way: str) -> bool:
    """Whether the vehicle of a cut-out `uint8 (H, W, 4)` faces "away" or "here", as far as its lamps tell."""
    lamps = _rear_lamps(pixels)
    return lamps >= LEAST_LAMPS if way == "away" else lamps < LEAST_LAMPS / 3


def _rear_lamps(pixels: npt.NDArray[np.uint8]) -> float:
    """The share of its pixels that are red lamps; 1 where it has a yellow plate, 0 where it is red."""
    there = pixels[..., 3] >= OPAQUE
    red, green, blue = np.moveaxis(pixels[..., :3].astype(np.float32), -1, 0)
    height, width = there.shape
    total = max(1, int(np.count_nonzero(there)))
    is_yellow = (np.minimum(red, green) - blue > 0.35 * red) & (abs(red - green) < 0.35 * red)
    plate = (there & (red > 45) & is_yellow)[int(0.35 * height) :, width // 3 : width - width // 3]
    if PLATE[0] <= np.count_nonzero(plate) / total <= PLATE[1]:
        return 1.0
    # Rear lamps lean to blue, indicators to yellow; what is brightly red is lit, or drawn.
    leans = (blue - green > 0.08 * (red - green)) | ((red > 150) & (blue >= green))
    is_red = leans & (blue < 0.55 * red)
    lamps = (there & (red > 55) & is_red)[int(HEIGHTS[0] * height) : int(HEIGHTS[1] * height)]
    side = int(SIDES * width)
    beside = np.count_nonzero(lamps[:, :side]) + np.count_nonzero(lamps[:, width - side :])
    between = np.count_nonzero(lamps[:, int(MIDDLE[0] * width) : int(MIDDLE[1] * width)])
    painted = colour_of(np.asarray(pixels[..., :3], np.uint8), there) in PAINTED
    return 0.0 if painted or between > BETWEEN * beside else beside / total
