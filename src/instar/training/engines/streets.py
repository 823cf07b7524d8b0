"""Street pictures with label maps to train on, kept in memory, and which of them are held out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.core.scene import Scene
from instar.imaging.street_classes import street_ids
from instar.tasks.driving.maps import labels_of, with_lines


@dataclass(frozen=True, slots=True, eq=False)
class Streets:
    """`pictures` is uint8 (N, H, W, 3), `ids` uint8 (N, H, W) of street classes, `names` of the scenes."""

    names: tuple[str, ...]
    pictures: npt.NDArray[np.uint8]
    ids: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.names)

    def of(self, rows: Sequence[int]) -> Streets:
        chosen = list(rows)
        return Streets(tuple(self.names[row] for row in chosen), self.pictures[chosen], self.ids[chosen])


def collect_streets(
    scenes: Sequence[Scene], size: tuple[int, int], *, step: Callable[[], object] = lambda: None
) -> Streets:
    """The scenes' pictures and label maps at one size (height, width), lane lines found in them."""
    pictures, ids = [], []
    for scene in scenes:
        labels = labels_of(scene)
        if labels is None:
            raise BadInput(f"{scene.id} has no label map to learn from; name scenes that have them")
        image = np.asarray(scene.image)
        known = street_ids(with_lines(labels, image))
        shape = (size[1], size[0])
        pictures.append(cv2.resize(image, shape, interpolation=cv2.INTER_AREA))
        ids.append(cv2.resize(known, shape, interpolation=cv2.INTER_NEAREST))
        step()
    return Streets(tuple(Path(scene.id).stem for scene in scenes), np.stack(pictures), np.stack(ids))


def split_videos(names: Sequence[str], share: float) -> tuple[list[int], list[int]]:
    """Rows to train on and rows held out: of each video the last frames, whose neighbours are held out too.

    >>> split_videos(["a_1", "a_2", "a_3", "a_4", "b_7", "b_9"], 0.5)
    ([0, 1, 4], [2, 3, 5])
    """
    videos: dict[str, list[int]] = defaultdict(list)
    for row in sorted(range(len(names)), key=lambda row: names[row]):
        videos[names[row].rpartition("_")[0]].append(row)
    kept, held = [], []
    for rows in videos.values():
        first = len(rows) - round(share * len(rows))
        kept += rows[:first]
        held += rows[first:]
    return kept, held
