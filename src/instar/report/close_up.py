"""The part of a case's pictures that a finding is about, with enough around it to be recognised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.marks import Mark, Panel, region_of
from instar.core.record import Record
from instar.core.verdict import Finding

AROUND = 2.2  # how many times as large as what is shown a part is
CLOSEST = 1.25  # and at least, where that would be more of the picture than `MOST`
LEAST = 0.34  # of the picture's shorter side
MOST = 0.72  # of a side: beyond that a part shows hardly less than the whole
VISIBLE = 0.3  # of a mark, for it to be drawn in a part
SEEN = 20  # of 255: a difference of pixels that the eye sees
LOCAL = 0.2  # of the picture, at most, is what a change put into a place and not everywhere

PicturePart = tuple[int, int, int, int]
"""Left, top, width and height in pixels of a panel's picture."""
Points = npt.NDArray[np.float64]


def close_ups(
    record: Record,
    panels: Sequence[Panel],
    *,
    aspect: float = 4 / 3,
    most: float = MOST,
    place: Sequence[float] = (),
) -> list[PicturePart]:
    """A part of each panel, of that width by height and at most so large; none where the whole says more.

    It is around the plainest finding, and around what was changed where that is near. Of a finding without
    a place, such as a speed, it is around what was changed. `place` (x1, y1, x2, y2 in the source) is looked
    at instead of the finding.
    """
    if not panels:
        return []
    found = [np.asarray(place).reshape(2, 2)] if place else []
    if not place and record.verdict.findings:
        found = _regions(record.verdict.plainest)
    changed = [
        np.asarray(mark.outline) if panel.frame is None else panel.frame.to_source(np.asarray(mark.outline))
        for panel in panels
        for mark in panel.marks
        if mark.fate == "change"
    ]
    for points in filter(None, ([*found, *changed], found)):
        part = _around(np.concatenate(points), panels[0].picture.shape[:2], aspect, most)
        if part is not None:
            return [_in_panel(panel, part) for panel in panels]
    return []


def finding_box(finding: Finding) -> tuple[float, ...]:
    """The box (x1, y1, x2, y2 in the source) that a finding is about; empty where it has none."""
    regions = _regions(finding)
    if not regions:
        return ()
    points = np.concatenate(regions)
    return (*points.min(axis=0).tolist(), *points.max(axis=0).tolist())


def outline_change(panels: Sequence[Panel]) -> Sequence[Panel]:
    """Where nothing is outlined: what was changed, if pictures differ in one place and not everywhere."""
    if any(one.marks or one.heat is not None or one.frame is not None for one in panels):
        return panels
    return [*panels[:1], *(_with_change(one, panels[0]) for one in panels[1:])]


def _with_change(panel: Panel, before: Panel) -> Panel:
    if panel.picture.shape != before.picture.shape:
        return panel
    difference = cv2.blur(cv2.absdiff(panel.picture, before.picture).max(axis=2), (5, 5)) > SEEN
    rows, columns = (np.flatnonzero(difference.any(axis=axis)) for axis in (1, 0))
    if not rows.size:
        return panel
    box = [int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1]
    if (box[2] - box[0]) * (box[3] - box[1]) > LOCAL * difference.size:
        return panel
    return replace(panel, marks=(Mark.box(box, "change"),))


def cut_out(panel: Panel, part: PicturePart) -> Panel:
    """That part of the panel, with what is marked in it."""
    x, y, width, height = part
    rows, columns = slice(y, y + height), slice(x, x + width)
    heat = panel.heat
    if heat is not None:
        whole = cv2.resize(heat, panel.picture.shape[1::-1], interpolation=cv2.INTER_LINEAR)
        heat = np.asarray(whole[rows, columns], np.float32)
    marks = tuple(
        replace(mark, outline=tuple((u - x, v - y) for u, v in mark.outline))
        for mark in panel.marks
        if is_in_part(mark, part)
    )
    picture = np.ascontiguousarray(panel.picture[rows, columns])
    return replace(panel, picture=picture, marks=marks, heat=heat, frame=None)


def is_in_part(mark: Mark, part: PicturePart) -> bool:
    """Whether a good deal of it lies in the part, or of the part in it."""
    corners = np.asarray(mark.outline)
    start, sides = np.asarray(part[:2]), np.asarray(part[2:])
    low, high = corners.min(axis=0), corners.max(axis=0)
    shared = np.prod(np.clip(np.minimum(high, start + sides) - np.maximum(low, start), 0, None))
    return bool(shared > 0 and shared >= VISIBLE * min(np.prod(high - low), np.prod(sides)))


def _regions(finding: Finding) -> list[Points]:
    told = (region_of(finding.evidence.get(key)) for key in ("was", "is", "instead of"))
    return [np.asarray(region) for region in told if region]


def _around(points: Points, size: tuple[int, ...], aspect: float, most: float) -> PicturePart | None:
    """Around these points of a picture of that size, or None where that would be nearly all of it."""
    rows, columns = size
    points = np.clip(points, 0, (columns, rows))
    low, high = points.min(axis=0), points.max(axis=0)
    width, height = np.maximum(high - low, LEAST / AROUND * min(rows, columns)).tolist()
    width, height = max(width, height * aspect), max(height, width / aspect)
    around = min(AROUND, most * columns / width, most * rows / height)
    if not around >= CLOSEST:
        return None
    return _placed((low + high) / 2, around * width, around * height, size)


def _in_panel(panel: Panel, part: PicturePart) -> PicturePart:
    """Where the part of the source lies in a follow-up."""
    x, y, width, height = part
    if panel.frame is None:
        return _placed((x + width / 2, y + height / 2), width, height, panel.picture.shape)
    corners = np.array([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], np.float64)
    moved = panel.frame.to_follow_up(corners)
    scale = float(np.sqrt(cv2.contourArea(moved.astype(np.float32)) / (width * height)))
    return _placed(moved.mean(axis=0), scale * width, scale * height, panel.picture.shape)


def _placed(
    centre: Sequence[float] | Points, width: float, height: float, size: Sequence[int]
) -> PicturePart:
    """A part of that size, moved into the picture where it would leave it."""
    rows, columns = size[:2]
    if not np.isfinite([*centre, width, height]).all():  # it lies nowhere: a run may come from anybody
        return 0, 0, columns, rows
    width, height = max(1.0, width), max(1.0, height)
    smaller = min(1.0, columns / width, rows / height)
    w, h = (max(1, round(side * smaller)) for side in (width, height))
    x, y = (round(min(max(0.0, c - s / 2), most - s)) for c, s, most in zip(centre, (w, h), (columns, rows)))
    return max(0, x), max(0, y), w, h
