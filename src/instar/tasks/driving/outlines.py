"""The outlines of trees in label maps of real frames: trees that are put in are given them."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Scene
from instar.imaging.labels import LabelMap
from instar.tasks.driving.ground import ground_of
from instar.tasks.driving.maps import labels_of

Outline = tuple[float, ...]
"""The upper edge of trees, column by column: how high above the horizon, as a share of the width."""

LEAST_WIDTH = 0.12  # of the picture: a narrower tree says little about skylines
ROUND = 0.006  # of the width: label maps are drawn with corners
SCENES = 60  # enough shapes, and as many maps to read


def collect_outlines(scenes: Sequence[Scene]) -> list[Outline]:
    """One for each of the first scenes in which trees stand before the sky."""
    found = []
    for scene in scenes[:SCENES]:
        labels = labels_of(scene)
        outline = None if labels is None else outline_of(labels)
        if outline is not None:
            found.append(outline)
    return found


def outline_of(labels: LabelMap) -> Outline | None:
    """The skyline of the trees of a frame, over their widest stretch; None where there are hardly any."""
    found = stretch_of(labels)
    if found is None:
        return None
    first, last, horizon = found
    trees = labels.mask(["vegetation"])
    columns = trees.shape[1]
    heights = ((horizon - np.argmax(trees, axis=0)[first:last]) / columns).astype(np.float32)[None]
    smooth = cv2.GaussianBlur(heights, (0, 0), max(0.5, ROUND * columns))[0]
    return tuple(np.round(smooth, 4).astype(float).tolist())


def stretch_of(labels: LabelMap) -> tuple[int, int, float] | None:
    """The columns of the widest stretch of trees before the sky, and the row where the road ends.

    None where there are hardly any trees.
    """
    ground = ground_of(labels)
    if ground is None:
        return None
    trees, sky = labels.mask(["vegetation"]), labels.mask(["sky"])
    columns = trees.shape[1]
    top = np.argmax(trees, axis=0)
    above = sky[np.maximum(top - 1, 0), np.arange(columns)]
    free = trees.any(axis=0) & (top < ground.horizon) & above
    first, last = max(_runs(free), key=lambda run: run[1] - run[0], default=(0, 0))
    return None if last - first < LEAST_WIDTH * columns else (first, last, ground.horizon)


def _runs(row: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where a row is true, from and to."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], row.astype(np.int8), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist()))
