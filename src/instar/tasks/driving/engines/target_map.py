"""The label map that is wanted after something is removed or replaced: what is behind it, what stands there.

The map matters as much as the network that paints it: trees in the outline of a house are camouflage.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Mask
from instar.imaging.street_classes import STREET
from instar.tasks.driving.ground import GroundPlane
from instar.tasks.driving.outlines import Outline

BACKGROUND = ("sky", "building", "road", "sidewalk", "vegetation", "fence")
GROUND = ("road", "sidewalk")
UPRIGHT = 3  # what is behind is rather found beside than above or below: so many times nearer
MARGIN, LEAST_MARGIN = 0.06, 3  # of a piece's shorter side, and pixels: its edge and the light around it
SHADOW = 0.16  # of its height, below what stands on the ground: the shadow that it throws there
LOW = 0.15  # of the width: the painter is worst at bare crowns before the sky, so high trees are lowered
THIN = 13  # pixels: what is left of a house beside a pole or a sign is no tree
ATTACHED = ("unlabelled", "traffic sign")  # what may hang on a house
HIDING = ("car", "person", "rider", "fence")  # what may stand before the foot of a pole
CRUMB = 64  # pixels of a piece
SKY, TREE = STREET.index("sky"), STREET.index("vegetation")

Ids = npt.NDArray[np.uint8]


def hole_around(mask: Mask, others: Mask, *, stands: bool) -> Mask:
    """The pixels that give a thing away: its own, those along its edge, and its shadow where it stands.

    `others` are things before and beside it, which stay whole.
    """
    hole = np.zeros(mask.shape, np.bool_)
    count, pieces, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    for number in range(1, count):
        _, _, wide, tall, _ = stats[number].tolist()
        piece = (pieces == number).astype(np.uint8)
        margin = max(LEAST_MARGIN, round(MARGIN * min(wide, tall)))
        grown = cv2.dilate(piece, np.ones((2 * margin + 1, 2 * margin + 1), np.uint8))
        if stands:
            down = max(2, round(SHADOW * tall))
            grown = cv2.dilate(grown, np.ones((down + 1, 1), np.uint8), anchor=(0, down))
        hole |= grown > 0
    return (hole & ~others) | mask


def behind(ids: Ids, gone: Mask, hole: Mask, ground: GroundPlane) -> Ids:
    """The map with background in place of what is gone: the nearest of it, sooner beside than above.

    Below the horizon nothing but ground continues under a thing that stood on it.
    """
    classes = {STREET.index(name) for name in BACKGROUND} - set(np.unique(ids[gone]).tolist())
    known = np.isin(ids, sorted(classes)) & ~gone
    if not known.any():
        same: Ids = ids.copy()
        return same
    nearest = _nearest(ids, known)
    soil = known & np.isin(ids, [STREET.index(name) for name in GROUND])
    result = np.where(hole & ~known, nearest, ids)
    if soil.any():
        rows = np.arange(ids.shape[0])[:, None]
        # Where ground is seen on the same row beside the thing, it was hidden ground.
        level = np.maximum.accumulate(soil.any(axis=1))[:, None] & (rows > ground.horizon)
        under = hole & ~known & level & _ground_row(soil, gone)
        result = np.where(under, _nearest(ids, soil), result)
    return np.asarray(result, np.uint8)


def _nearest(ids: Ids, known: Mask) -> Ids:
    """For each pixel the id of the nearest known one, rows counting `UPRIGHT` times."""
    tall = np.repeat(known, UPRIGHT, axis=0)
    _, place = cv2.distanceTransformWithLabels(
        (~tall).astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )
    table = np.zeros(int(place.max()) + 1, np.uint8)
    table[place[tall]] = np.repeat(ids, UPRIGHT, axis=0)[tall]
    return np.asarray(table[place[UPRIGHT // 2 :: UPRIGHT]])


def _ground_row(soil: Mask, gone: Mask) -> Mask:
    """Rows, piece by piece of what is gone, in which the ground beside the piece reaches up that high."""
    result = np.zeros(gone.shape, np.bool_)
    count, _, stats, _ = cv2.connectedComponentsWithStats(gone.astype(np.uint8))
    rows, columns = gone.shape
    for number in range(1, count):
        left, top, wide, tall, _ = stats[number].tolist()
        reach = max(6, wide // 3)
        sides = [soil[:, max(0, left - reach) : left], soil[:, left + wide : left + wide + reach]]
        seen = [side.mean(axis=1) > 0.5 for side in sides if side.size]
        tops = [int(np.argmax(rows_of)) for rows_of in seen if rows_of.any()]
        if not tops:
            continue
        first = max(top, min(tops))
        x1, x2 = max(0, left - 12), min(columns, left + wide + 12)
        result[first : min(rows, top + tall + tall // 4 + 6), x1:x2] = True
    return result


def with_attached(ids: Ids, gone: Mask) -> Mask:
    """What is gone with what hangs on it: aerials, shop signs, and crumbs that nobody has labelled.

    Whatever stands on the ground stays, also with its foot hidden, and so do poles and signs on poles.
    """
    ground = np.isin(ids, [STREET.index(name) for name in (*GROUND, "line", *HIDING)])
    ground |= ids == STREET.index("pole")
    standing = cv2.dilate(ground.astype(np.uint8), np.ones((5, 3), np.uint8)) > 0
    near = cv2.dilate(gone.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    result = gone.copy()
    for name in ATTACHED:
        things = ids == STREET.index(name)
        count, pieces = cv2.connectedComponents(things.astype(np.uint8))
        touching = np.bincount(pieces[near], minlength=count) > 0
        touching &= np.bincount(pieces[standing], minlength=count) == 0
        touching[0] = False
        result |= touching[pieces]
    return np.asarray(result, np.bool_)


def crumbs_of(mask: Mask) -> Mask:
    """The small pieces of a mask: what is seen of a house between branches may as well be branches."""
    _, pieces, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    return np.asarray(mask & (stats[:, cv2.CC_STAT_AREA] < CRUMB)[pieces])


def planted(
    ids: Ids,
    gone: Mask,
    outlines: Sequence[Outline],
    horizon: float,
    rng: np.random.Generator,
    *,
    low: float = LOW,
    before_trees: bool = False,
) -> Ids:
    """The map with trees where houses were, in outlines of real trees, and sky above them.

    None is higher than the share `low` of the width above the horizon. Where they stand `before_trees`, what
    is above them is free for these.

    Sky appears only where there is sky above the house already: nothing else can be seen over a tree.
    """
    rows, columns = ids.shape
    line: list[float] = []
    while len(line) < columns:
        one = outlines[int(rng.integers(len(outlines)))]
        step = one if rng.random() < 0.5 else one[::-1]
        line += step
    start = int(rng.integers(max(1, len(line) - columns + 1)))
    high = np.array(line[start : start + columns], np.float64)
    tops = horizon - columns * low * (1 - np.exp(-high / low))
    row = np.arange(rows)[:, None]
    open_sky = np.logical_and.accumulate((ids == SKY) | gone | (ids == STREET.index("pole")), axis=0)
    high = gone & (row < tops[None])
    wide = cv2.morphologyEx(high.astype(np.uint8), cv2.MORPH_OPEN, np.ones((1, THIN), np.uint8)) > 0
    seen = high & (before_trees | open_sky | ~wide)
    return np.where(seen, SKY, np.where(gone, TREE, ids)).astype(np.uint8)
