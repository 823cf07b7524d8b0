"""Which way a cut-out of a vehicle faces: red lamps at its sides, or a yellow plate, are its rear."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instar.tasks.driving.colours import colour_of

__all__ = ["shows_rear"]

OPAQUE = 128
HEIGHTS = (0.15, 0.8)  # where lamps are, as shares of the height
SIDES, MIDDLE = 0.36, (0.4, 0.6)  # of the width
LEAST_LAMPS = 0.003  # of a vehicle's pixels
BETWEEN = 0.25  # of them may be red in the middle too: what is red there is paint
PLATE = (0.002, 0.05)  # of its pixels; more is a yellow car
PAINTED = ("red", "orange", "brown")


def shows_rear(pixels: npt.NDArray[np.uint8]) -> bool:
    """Whether a cut-out `uint8 (H, W, 4)` shows the rear of a vehicle; the lamps of red ones are not told."""
    there = pixels[..., 3] >= OPAQUE
    red, green, blue = np.moveaxis(pixels[..., :3].astype(np.float32), -1, 0)
    height, width = there.shape
    total = max(1, np.count_nonzero(there))
    is_yellow = (np.minimum(red, green) - blue > 0.35 * red) & (abs(red - green) < 0.35 * red)
    plate = (there & (red > 45) & is_yellow)[int(0.35 * height) :, width // 3 : width - width // 3]
    if PLATE[0] <= np.count_nonzero(plate) / total <= PLATE[1]:
        return True
    is_red = (green <= blue) & (blue < 0.55 * red)  # indicators have less blue than green
    lamps = (there & (red > 55) & is_red)[int(HEIGHTS[0] * height) : int(HEIGHTS[1] * height)]
    side = int(SIDES * width)
    beside = np.count_nonzero(lamps[:, :side]) + np.count_nonzero(lamps[:, width - side :])
    between = np.count_nonzero(lamps[:, int(MIDDLE[0] * width) : int(MIDDLE[1] * width)])
    is_lit = beside >= LEAST_LAMPS * total and between <= BETWEEN * beside
    return is_lit and colour_of(np.asarray(pixels[..., :3], np.uint8), there) not in PAINTED
