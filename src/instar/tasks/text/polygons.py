"""Quadrilaterals compared exactly, all pairs in one call.

The region of a quad is what lies inside its outline by the even-odd rule, whatever the order of its
corners: convex, concave, or crossing itself, which leaves two triangles that touch. Every quad is
therefore two triangles that share no area, and what two quads have in common is what their triangles
have: four convex clippings for each pair.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

INSIDE = 0.9  # of a quad must be in a picture to count as seen in it

Corners: TypeAlias = npt.NDArray[np.floating[Any]]
"""`float (n, 4, 2)`: four corners (x, y) each, in pixels."""

Triangles: TypeAlias = npt.NDArray[np.float64]
"""`float64 (..., 3, 2)`, in whichever sense of rotation `_turned_alike` gave them."""


def quad_areas(quads: Corners) -> npt.NDArray[np.float64]:
    """`float64 (n,)`, in square pixels.

    >>> square, bow_tie = [[0, 0], [2, 0], [2, 2], [0, 2]], [[0, 0], [2, 2], [2, 0], [0, 2]]
    >>> quad_areas(np.array([square, bow_tie], np.float32)).tolist()
    [4.0, 2.0]
    """
    return np.array(_kept_areas(_flat(quads)))


@lru_cache(maxsize=256)
def _kept_areas(quads: _Flat) -> npt.NDArray[np.float64]:
    return np.asarray(np.abs(_doubled_areas(_triangles(_from_flat(quads)))).sum(axis=1) / 2)


def bounds(quads: Corners) -> npt.NDArray[np.floating[Any]]:
    """`float (n, 4)`: the upright boxes around the quads, as x1, y1, x2, y2."""
    return np.concatenate([quads.min(axis=1), quads.max(axis=1)], axis=1)


def clockwise(quads: Corners) -> Corners:
    """The same quads, each running clockwise as one sees it (y points down) from its own first corner."""
    following = np.roll(quads, -1, axis=1)
    turning = (quads[..., 0] * following[..., 1] - quads[..., 1] * following[..., 0]).sum(axis=1)
    backwards = quads[:, [0, 3, 2, 1]]
    return np.where((turning < 0)[:, None, None], backwards, quads)


def quad_intersections(a: Corners, b: Corners) -> npt.NDArray[np.float64]:
    """`float64 (len(a), len(b))`: the area that each pair has in common, in square pixels."""
    # An answer is held against the same words several times, and a source's for each of its follow-ups.
    return np.array(_kept_intersections(_flat(a), _flat(b)))


@lru_cache(maxsize=256)
def _kept_intersections(a: _Flat, b: _Flat) -> npt.NDArray[np.float64]:
    first, second = np.nonzero(_may_touch(_from_flat(a), _from_flat(b)))
    common = np.zeros((a.number, b.number))
    if len(first):
        ours, theirs = (_turned_alike(_triangles(_from_flat(quads))) for quads in (a, b))
        # All four pairs of triangles in one go: for so few quads most of the time is that of the calls.
        subjects = np.concatenate([ours[first, i] for i in (0, 0, 1, 1)])
        windows = np.concatenate([theirs[second, j] for j in (0, 1, 0, 1)])
        common[first, second] = _common_areas(subjects, windows).reshape(4, -1).sum(axis=0)
    return common


class _Flat(NamedTuple):
    """Quads as something that is equal where they are."""

    number: int
    kind: str
    content: bytes


def _flat(quads: Corners) -> _Flat:
    return _Flat(len(quads), quads.dtype.str, np.ascontiguousarray(quads).tobytes())


def _from_flat(flat: _Flat) -> Corners:
    return np.frombuffer(flat.content, flat.kind).reshape(flat.number, 4, 2)


def quad_iou(a: Corners, b: Corners) -> npt.NDArray[np.float64]:
    """`float64 (len(a), len(b))`: intersection over union of each pair, 0 for quads without area.

    >>> square, half = [[0, 0], [2, 0], [2, 2], [0, 2]], [[2, 2], [2, 0], [0, 0], [0, 0]]
    >>> quad_iou(np.array([square]), np.array([square, half])).tolist()
    [[1.0, 0.5]]
    """
    common = quad_intersections(a, b)
    union = quad_areas(a)[:, None] + quad_areas(b)[None, :] - common
    share = np.divide(common, union, out=np.zeros_like(common), where=union > 0)
    # Rounding may leave a hair above 1 where two quads are the same.
    return np.minimum(share, 1.0)


def are_inside(quads: Corners, size: tuple[int, int]) -> npt.NDArray[np.bool_]:
    """`bool (n,)`: whether a picture of that (height, width) shows at least 90 % of each quad."""
    height, width = size
    extent = bounds(quads)
    inside = np.asarray((extent[:, :2] >= 0).all(axis=1) & (extent[:, 2:] <= (width, height)).all(axis=1))
    if not inside.all():  # nearly all quads are wholly inside and need no clipping
        some = quads[~inside]
        picture = np.array([[[0, 0], [width, 0], [width, height], [0, height]]], np.float64)
        inside[~inside] = quad_intersections(some, picture)[:, 0] >= INSIDE * quad_areas(some)
    return inside


def clip_quads(quads: npt.NDArray[np.float32], size: tuple[int, int]) -> npt.NDArray[np.float32]:
    """The quads with every corner moved into a picture of that (height, width)."""
    height, width = size
    return np.clip(quads, 0, np.array([width, height], np.float32))


def _may_touch(a: Corners, b: Corners) -> npt.NDArray[np.bool_]:
    """Which upright boxes overlap: nearly all pairs of a picture are apart and need no clipping."""
    ours, theirs = bounds(a)[:, None], bounds(b)[None]
    apart = (ours[..., :2] >= theirs[..., 2:]) | (theirs[..., :2] >= ours[..., 2:])
    return np.asarray(~apart.any(axis=2))


def _triangles(quads: Corners) -> Triangles:
    """`float64 (n, 2, 3, 2)`: two triangles that make up each quad and share no area.

    A diagonal with the other two corners on its two sides lies inside and parts the quad. Where neither
    diagonal does so, two opposite sides cross each other, and each triangle has the crossing as its tip.
    """
    a, b, c, d = np.moveaxis(np.asarray(quads, np.float64), 1, 0)
    by_ac = np.stack([np.stack([a, b, c], 1), np.stack([a, c, d], 1)], 1)
    by_bd = np.stack([np.stack([b, c, d], 1), np.stack([b, d, a], 1)], 1)
    sides_cross = _turn(a, b, c) * _turn(a, b, d) <= 0  # a-b crosses c-d; else b-c crosses d-a
    start = np.where(sides_cross[:, None], a, b)
    end = np.where(sides_cross[:, None], b, c)
    other_start = np.where(sides_cross[:, None], c, d)
    other_end = np.where(sides_cross[:, None], d, a)
    tip = _crossing(start, end, other_start, other_end)
    crossed = np.stack([np.stack([tip, end, other_start], 1), np.stack([tip, other_end, start], 1)], 1)
    ac_parts = (_turn(a, c, b) * _turn(a, c, d) <= 0)[:, None, None, None]
    bd_parts = (_turn(b, d, a) * _turn(b, d, c) <= 0)[:, None, None, None]
    return np.where(ac_parts, by_ac, np.where(bd_parts, by_bd, crossed))


def _turn(a: npt.NDArray[Any], b: npt.NDArray[Any], c: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """`float64 (...)`: on which side of the line from a to b each c lies, times the doubled area."""
    return np.asarray(
        (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])
    )


def _crossing(
    a: npt.NDArray[Any], b: npt.NDArray[Any], c: npt.NDArray[Any], d: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    """`float64 (n, 2)`: where a-b meets the line through c and d; a itself where they are parallel."""
    from_a, from_b = _turn(c, d, a), _turn(c, d, b)
    whole = from_a - from_b
    share = np.divide(from_a, whole, out=np.zeros_like(whole), where=whole != 0)
    return np.asarray(a + share[..., None] * (b - a))


def _doubled_areas(triangles: Triangles) -> npt.NDArray[np.float64]:
    return _turn(triangles[..., 0, :], triangles[..., 1, :], triangles[..., 2, :])


def _turned_alike(triangles: Triangles) -> Triangles:
    """The same triangles with their insides on the positive side of each edge."""
    backwards = (_doubled_areas(triangles) < 0)[..., None, None]
    return np.where(backwards, triangles[..., [0, 2, 1], :], triangles)


def _common_areas(subjects: Triangles, windows: Triangles) -> npt.NDArray[np.float64]:
    """`float64 (p,)`: the common area of each pair of triangles, `float64 (p, 3, 2)` both."""
    clipped = subjects
    for i in range(3):
        clipped = _clipped(clipped, windows[:, i], windows[:, (i + 1) % 3])
    following = np.roll(clipped, -1, axis=1)
    doubled = (clipped[..., 0] * following[..., 1] - clipped[..., 1] * following[..., 0]).sum(axis=1)
    # A window without area has no inside, although every one of its edges may keep something.
    return np.where(_doubled_areas(windows) > 0, np.maximum(doubled, 0) / 2, 0.0)


def _clipped(
    polygons: npt.NDArray[np.float64], start: npt.NDArray[np.float64], end: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Convex polygons `float64 (p, k, 2)` cut off along a line each: `float64 (p, k + 1, 2)`.

    Walks along the edges, writing down the crossing where an edge meets the line and the corner at its
    end if that is kept; unused places at the end repeat the last corner, which adds no area.
    """
    following = np.roll(polygons, -1, axis=1)
    start, end = start[:, None], end[:, None]
    here, there = _turn(start, end, polygons), _turn(start, end, following)
    crossings = _crossing(polygons, following, start, end)
    written = np.stack([crossings, following], axis=2).reshape(len(polygons), -1, 2)
    is_used = np.stack([(here >= 0) != (there >= 0), there >= 0], axis=2).reshape(len(polygons), -1)
    count = is_used.sum(axis=1, keepdims=True)
    order = np.argsort(~is_used, axis=1, kind="stable")[:, : polygons.shape[1] + 1]
    last = np.maximum(count - 1, 0)
    places = np.minimum(np.arange(order.shape[1])[None], last)
    kept = np.take_along_axis(written, np.take_along_axis(order, places, axis=1)[..., None], axis=1)
    return np.where((count > 0)[..., None], kept, 0.0)
