"""House fronts along the street: flat textures, seen in perspective."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np

from instar.core.scene import Image
from instar.worlds.drive.canvas import SURFACES, Camera, Canvas
from instar.worlds.drive.ground import KERB
from instar.worlds.drive.plan import Drive, House
from instar.worlds.drive.textures import FRONTS, STOREY, front, front_size

DEPTH = 9.0  # metres from the front to the back
NEAREST = 4.0
SMALL = 36  # pixels high
ROOF = 1.4


def paint_house(canvas: Canvas, house: House, drive: Drive, view: Camera) -> None:
    """Paint the wall that looks toward the camera, then the front along the street."""
    road = drive.road
    edge = road.right + KERB + road.sidewalk if house.side > 0 else road.left - KERB - road.sidewalk
    offset = edge + house.side * house.setback
    start, end = max(house.start, NEAREST), house.start + house.length
    if end <= start:
        return
    high = front_size(house.look)[0] * STOREY + ROOF
    near, far = float(view.across(offset, start)), float(view.across(offset, end))
    near_low, near_high = view.pixels(near, 0.0, start), view.pixels(near, high, start)
    far_low, far_high = view.pixels(far, 0.0, end), view.pixels(far, high, end)
    back_low = view.project(offset + house.side * DEPTH, 0.0, start)
    levels = front(house.look % FRONTS)
    lit = 1.0 if (house.side > 0) == (drive.seed % 2 == 0) else 0.8
    if house.start >= NEAREST:
        wall = np.array([near_low, near_high, (back_low[0], near_high[1]), back_low])
        colour = levels[-1][levels[-1].shape[0] // 2, 0, :3].astype(float) * (1.62 - lit) * 0.8
        canvas.polygon(wall, tuple(colour), SURFACES["building"], 1 / start)
    if (far_low[0] - near_low[0]) * house.side >= 0:  # seen from behind
        return
    corners = np.array([near_high, far_high, far_low, near_low])
    _paint_front(canvas, levels, corners, house, (start, end), lit)


@cache
def _coloured(look: int, level: int, lit: float) -> Image:
    """A front without the light of its windows, in that light."""
    colours = np.ascontiguousarray(front(look)[level][..., :3])
    return np.asarray(cv2.convertScaleAbs(colours, alpha=lit), np.uint8)


def _paint_front(
    canvas: Canvas,
    levels: tuple[np.ndarray, ...],
    corners: np.ndarray,
    house: House,
    stretch: tuple[float, float],
    lit: float,
) -> None:
    rows, columns = canvas.size
    left, top = np.maximum(np.floor(corners.min(axis=0)).astype(int), 0).tolist()
    right, bottom = np.minimum(np.ceil(corners.max(axis=0)).astype(int) + 1, (columns, rows)).tolist()
    if left >= right or top >= bottom:
        return
    tall = abs(corners[3, 1] - corners[0, 1])
    chosen = 0
    for index, level in enumerate(levels[1:], start=1):
        if level.shape[0] < 0.8 * tall or level.shape[1] < 1.2 * abs(corners[1, 0] - corners[0, 0]):
            break
        chosen = index
    texture = levels[chosen]
    high, wide = texture.shape[:2]
    begin = wide * (stretch[0] - house.start) / house.length
    source = np.array([[begin, 0], [wide, 0], [wide, high], [begin, high]], np.float32)
    target = (corners - (left, top)).astype(np.float32)
    warp = cv2.getPerspectiveTransform(source, target)
    size = (int(right - left), int(bottom - top))
    fixed = np.rint((target - 0.5) * 16).astype(np.int32)
    cv2.fillPoly(canvas.owner[top:bottom, left:right], [fixed], SURFACES["building"], cv2.LINE_8, 4)
    if tall < SMALL and canvas.near is None:
        # Too small for a soft edge to be missed, and by day nothing else is kept of it.
        place = np.ascontiguousarray(canvas.pixels[top:bottom, left:right])
        plain = _coloured(house.look % FRONTS, chosen, lit)
        cv2.warpPerspective(plain, warp, size, place, cv2.INTER_LINEAR, cv2.BORDER_TRANSPARENT)
        canvas.pixels[top:bottom, left:right] = place
        return
    if canvas.glow is None:
        texture = _coloured(house.look % FRONTS, chosen, 1.0)  # whether its windows shine does not show
    seen = cv2.warpPerspective(texture, warp, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    paint = seen if canvas.glow is None else cv2.cvtColor(seen, cv2.COLOR_RGBA2RGB)
    mask = np.zeros(size[::-1], np.uint8)
    cv2.fillPoly(mask, [fixed], 255, cv2.LINE_AA, 4)
    canvas.blend(np.asarray(paint, np.uint8), mask, left, top, lit)
    inside = mask >= 128
    if canvas.near is not None:
        # One over the distance is linear along a wall.
        slope = (1 / stretch[1] - 1 / stretch[0]) / (corners[1, 0] - corners[0, 0])
        along = 1 / stretch[0] + slope * (np.arange(left, right) + 0.5 - corners[0, 0])
        np.copyto(canvas.near[top:bottom, left:right], along.astype(np.float32), where=inside)
    if canvas.glow is not None:
        shine = cv2.extractChannel(seen, 3)
        warm = cv2.merge([cv2.convertScaleAbs(shine, alpha=share) for share in (1.0, 0.8, 0.5)])
        np.copyto(canvas.glow[top:bottom, left:right], warm, where=inside[..., None])
