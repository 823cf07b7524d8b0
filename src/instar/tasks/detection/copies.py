"""Where a copy of a whole object can stand in its own picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.change import Inapplicable
from instar.core.scene import Image, Mask, Observation
from instar.cutouts.extraction import stands_whole
from instar.cutouts.ground import (
    HEIGHTS,
    Ground,
    Looks,
    Strip,
    all_around,
    at_feet,
    find_eye_height,
    find_ground,
    find_horizon,
    ground_share,
    look_at,
)
from instar.cutouts.known_sizes import FLYING
from instar.cutouts.outlines import Outliner
from instar.imaging.geometry import Boxes, areas, intersections, mask_bounds
from instar.imaging.matte import cut_softly, with_shadow
from instar.imaging.paste import RGBA
from instar.tasks.detection.whole_objects import WITHIN, Things, box_of, find_things, outline_whole

IntBox = tuple[int, int, int, int]

SIZES = (0.3, 0.37, 0.45, 0.55, 0.65, 0.75, 0.87, 1.0, 1.1)  # times its own, nearer or farther
UNKNOWN_SIZES = (0.8, 0.9, 1.0)  # of things that nobody knows the height of
RISES = (0.6, 0.8, 1.0, 1.2)  # times how far its feet should move for that: no ground is quite flat
FLYING_SIZES = (0.7, 0.85, 1.0)
FLYING_ROWS = (-1.5, -1.0, -0.5, -0.2, 0.0, 0.2, 0.5, 1.0, 1.5)  # of its height, up or down
IN_THE_AIR = 0.85  # of what is below it, where it is in the air, looks like what is around it
LEAST_GROUND = 0.7  # of the strip at its feet that must look like the ground that it stands on
LEAST_SIDE = 12  # pixels
EDGE = 2  # pixels that stay free at the picture's edge
MOST_CUT = 0.6  # of its width that the picture's edge may cut off
LEAST_SHOWN = 0.4  # of a copy that stands behind something or is cut off
FRONT_QUALITY = 0.85  # of the outline of what stands in front
LOWER = 0.03  # of the picture's height that feet must be lower to stand in front
TRIED = 8  # places on a line, behind something or cut off, that are looked at closely


@dataclass(frozen=True, slots=True, eq=False)
class Original:
    """A whole object of the picture: its pixels with shadow, where they were cut out, and its own box.

    `alpha` is its outline, `uint8`, as large as the box. `apart` `bool (n,)` are the things that it does not
    stand on or before: a copy must not cover them.
    """

    label: str
    cutout: RGBA
    corner: tuple[int, int]
    box: IntBox
    alpha: npt.NDArray[np.uint8]
    apart: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """An original at a size (height, width), with feet at a row, and the left edges that its box may have."""

    original: Original
    size: tuple[int, int]
    foot: int
    lefts: npt.NDArray[np.intp]

    def box(self, left: int) -> IntBox:
        height, width = self.size
        return left, self.foot - height, left + width, self.foot


@dataclass(frozen=True, slots=True, eq=False)
class Front:
    """Something that stands in front, cut out where it is: its corner and its box."""

    cutout: RGBA
    box: IntBox


FrontOf = Callable[[int], Front | None]
"""Thing k as something that stands in front; None where it cannot be cut out well enough."""


@dataclass(frozen=True, slots=True, eq=False)
class CopyPlaces:
    """All places of a picture, everything in it, and what of that stands in front of one of them."""

    options: tuple[Place, ...]
    things: Things
    fronts: Mapping[int, Front | None]


def find_places(source: Observation, outline: Outliner, *, hysteresis: float) -> CopyPlaces | Inapplicable:
    """Every place for a copy of every whole object; none of them covers what was found."""
    picture: Image = source.input
    things = find_things(source, hysteresis=hysteresis)
    if not things.usable.any():
        return Inapplicable("nothing clearly found in the source")
    eye = _eye_height(things, (picture.shape[0], picture.shape[1]))
    fronts: dict[int, Front | None] = {}

    def front_of(k: int) -> Front | None:
        if k not in fronts:
            fronts[k] = _front(picture, things, outline, k)
        return fronts[k]

    options: list[Place] = []
    is_whole, looks = False, look_at(picture)
    for k in np.flatnonzero(things.usable).tolist():
        original = _original(picture, things, k, outline)
        if original is not None:
            is_whole = True
            hidden = _covered(things.others(k), picture.shape) | _grown(original, picture.shape)
            options += _places(original, things, looks, front_of, hidden, eye)
    if options:
        return CopyPlaces(tuple(options), things, fronts)
    return Inapplicable("no place on its ground" if is_whole else "no object is seen whole")


def choose_copy_place(places: CopyPlaces, rng: np.random.Generator) -> tuple[Original, IntBox]:
    """An original, each equally likely, and the box of its copy, which may reach out of the picture."""
    originals = list(dict.fromkeys(place.original for place in places.options))
    original = originals[int(rng.integers(len(originals)))]
    mine = [place for place in places.options if place.original is original]
    place = mine[int(rng.integers(len(mine)))]
    return original, place.box(int(rng.choice(place.lefts)))


def find_fronts(original: Original, things: Things, box: IntBox, front_of: FrontOf) -> list[Front] | None:
    """What stands in front of a box; None where an outline is not good enough to put it back there."""
    x1, y1, x2, y2 = box
    boxes = things.boxes
    reaching = (boxes[:, 0] < x2) & (boxes[:, 2] > x1) & (boxes[:, 1] < y2) & (boxes[:, 3] > y1)
    fronts = [front_of(k) for k in np.flatnonzero(reaching & original.apart).tolist()]
    return None if None in fronts else [front for front in fronts if front is not None]


def _front(picture: Image, things: Things, outline: Outliner, k: int) -> Front | None:
    found = outline(picture, box_of(things, k))
    bounds, cutout = mask_bounds(found.alpha > 0), cut_softly(picture, found.alpha)
    if found.quality < FRONT_QUALITY or bounds is None or cutout is None:
        return None
    return Front(cutout, bounds)


def _original(picture: Image, things: Things, k: int, outline: Outliner) -> Original | None:
    found = outline_whole(picture, things, k, outline)
    if found is None:
        return None
    bounds = mask_bounds(found.alpha > 127)
    cut = with_shadow(picture, found.alpha, _covered(things.others(k), found.alpha.shape))
    if bounds is None or cut is None:
        return None
    cutout, x, y = cut
    x1, y1, x2, y2 = bounds
    alpha = found.alpha[y1:y2, x1:x2].copy()
    return Original(things.labels[k], cutout, (x, y), bounds, alpha, ~things.surrounding(k))


def _places(
    original: Original, things: Things, looks: Looks, front_of: FrontOf, hidden: Mask, eye: float
) -> list[Place]:
    """On the ground that it stands on, or else on what looks like it; what flies, in what surrounds it."""
    box = np.array(original.box)
    if original.label in FLYING:
        air = find_ground(looks, all_around(box), hidden, joined=False)
        if air is not None and ground_share(air, at_feet(box[None]))[0] >= IN_THE_AIR:
            lines = _free_lines(original)
            return list(_places_on(air, all_around, lines, original, things, hidden.shape, front_of))
    for joined in (True, False):
        ground = find_ground(looks, at_feet(box), hidden, joined=joined)
        if ground is not None:
            lines = _ground_lines(original, eye)
            places = list(_places_on(ground, at_feet, lines, original, things, hidden.shape, front_of))
            if places:
                return places
    return []


def _places_on(
    ground: Ground,
    where: Callable[[npt.NDArray[np.intp]], Strip],
    lines: set[tuple[float, int]],
    original: Original,
    things: Things,
    shape: tuple[int, ...],
    front_of: FrontOf,
) -> Iterator[Place]:
    """The places on given lines, wherever enough of the strip that `where` gives is ground."""
    (rows, columns), (left, top, right, foot) = shape[:2], original.box
    for size, row in sorted(lines):
        width, head = round(size * (right - left)), row - round(size * (foot - top))
        if head < EDGE or row > rows - EDGE or min(width, row - head) < LEAST_SIDE:
            continue
        lefts = np.arange(round(-MOST_CUT * width), columns - round((1 - MOST_CUT) * width) + 1)
        ones = np.ones_like(lefts)
        boxes = np.stack([lefts, head * ones, lefts + width, row * ones], axis=1)
        covers, behind = _standing(boxes, things.boxes[original.apart], LOWER * rows)
        covers |= _leaving(boxes, things.boxes[~original.apart])
        good = ~covers & (ground_share(ground, where(boxes)) >= LEAST_GROUND)
        fine = good & ~behind & (lefts >= 0) & (lefts + width <= columns)
        others = np.flatnonzero(good & ~fine)
        for i in others[:: max(1, len(others) // TRIED)].tolist():
            x1, y1, x2, y2 = boxes[i].tolist()
            fronts = find_fronts(original, things, (x1, y1, x2, y2), front_of)
            fine[i] = fronts is not None and _is_shown(original, (x1, y1, x2, y2), fronts, columns)
        if fine.any():
            yield Place(original, (row - head, width), row, lefts[fine])


def _ground_lines(original: Original, eye: float) -> set[tuple[float, int]]:
    """Sizes, times its own, and the rows of its feet: nearer and farther where it is known how sizes grow."""
    foot = original.box[3]
    horizon = find_horizon(original.box, original.label, eye)
    sizes = SIZES if original.label in HEIGHTS else UNKNOWN_SIZES
    return {(size, round(foot - rise * (1 - size) * (foot - horizon))) for size in sizes for rise in RISES}


def _free_lines(original: Original) -> set[tuple[float, int]]:
    """The same for what needs no ground: higher and lower, and a little smaller."""
    _, top, _, foot = original.box
    return {(size, round(foot + up * (foot - top))) for size in FLYING_SIZES for up in FLYING_ROWS}


def _standing(
    boxes: npt.NDArray[np.intp], taken: Boxes, lower: float
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """`bool (n,)` each: which boxes would cover something, and which would stand behind something."""
    across = (boxes[:, None, 0] < taken[None, :, 2]) & (boxes[:, None, 2] > taken[None, :, 0])
    down = (boxes[:, None, 1] < taken[None, :, 3]) & (boxes[:, None, 3] > taken[None, :, 1])
    in_front = taken[None, :, 3] > boxes[:, None, 3] + lower
    overlaps = across & down
    covers, behind = overlaps & ~in_front, overlaps & in_front
    return np.asarray(covers.any(axis=1)), np.asarray(behind.any(axis=1))


def _leaving(boxes: npt.NDArray[np.intp], around: Boxes) -> npt.NDArray[np.bool_]:
    """`bool (n,)`: which boxes are partly before one of the things that are around the original."""
    inside = boxes.astype(np.float32)
    common = intersections(inside, around)
    return np.asarray(((common > 0) & (common < WITHIN * areas(inside)[:, None])).any(axis=1))


def _is_shown(original: Original, box: IntBox, fronts: Sequence[Front], columns: int) -> bool:
    """Whether enough of a copy is to be seen, within the picture and behind what stands in front."""
    left, top, right, bottom = box
    size = (right - left, bottom - top)
    own = cv2.resize(original.alpha, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    shown = own.copy()
    shown[:, : max(0, -left)] = 0
    shown[:, max(0, columns - left) :] = 0
    for front in fronts:
        a, b, c, d = front.box
        x1, y1, x2, y2 = max(left, a), max(top, b), min(right, c), min(bottom, d)
        if x1 < x2 and y1 < y2:
            alpha = front.cutout[y1 - b : y2 - b, x1 - a : x2 - a, 3].astype(np.float32) / 255
            shown[y1 - top : y2 - top, x1 - left : x2 - left] *= 1 - alpha
    return bool(shown.sum() >= LEAST_SHOWN * own.sum())


def _eye_height(things: Things, shape: tuple[int, int]) -> float:
    """From the things that are seen from head to foot."""
    boxes = things.boxes
    shapes = (boxes[:, 3] - boxes[:, 1]) / (boxes[:, 2] - boxes[:, 0])
    standing = [bool(stands_whole(label, one)) for label, one in zip(things.labels, shapes)]
    whole = (
        things.usable & (boxes[:, 1] > EDGE) & (boxes[:, 3] < shape[0] - EDGE) & np.array(standing, np.bool_)
    )
    labels = [label for label, one in zip(things.labels, whole) if one]
    return find_eye_height(boxes[whole], labels, shape[0])


def _grown(original: Original, shape: tuple[int, ...]) -> Mask:
    """`bool (H, W)`: the object and a little more, since its edge is soft."""
    x1, y1, x2, y2 = original.box
    whole = np.zeros(shape[:2], np.uint8)
    whole[y1:y2, x1:x2] = original.alpha > 0
    return cv2.dilate(whole, np.ones((5, 5), np.uint8)) > 0


def _covered(boxes: Boxes, shape: tuple[int, ...]) -> Mask:
    """`bool (H, W)`: where any of the boxes is."""
    covered = np.zeros(shape[:2], np.bool_)
    for x1, y1, x2, y2 in boxes.tolist():
        covered[max(0, int(y1)) : int(np.ceil(y2)), max(0, int(x1)) : int(np.ceil(x2))] = True
    return covered
