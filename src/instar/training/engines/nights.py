"""What a translator learns from: street pictures with made nights and dusks, and photographs of both."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.core.scene import Image
from instar.imaging.labels import LabelMap
from instar.imaging.street_classes import STREET
from instar.scenes import load_scenes
from instar.tasks.driving.engines.atmosphere import change_weather
from instar.tasks.driving.engines.surroundings import surroundings_of
from instar.tasks.driving.ground import ground_of
from instar.training.engines.streets import Streets

TIMES = ("night", "dusk")
STRENGTH = 0.7  # the usual one
ALIKE = 0.8  # correlation of small pictures: photographs of one place
SMALL = (16, 12)


@dataclass(frozen=True, slots=True, eq=False)
class Nights:
    """`pictures` uint8 (N, H, W, 3) by day, `layers` (N, H, W, 10) made of them, `ids` their classes.

    The layers are even light, made night, made dusk and sky. `photographs` uint8 (M, H, W, 3), and `often`
    (M), how often each is shown, are in the order of `TIMES`.
    """

    pictures: npt.NDArray[np.uint8]
    layers: npt.NDArray[np.uint8]
    ids: npt.NDArray[np.uint8]
    photographs: tuple[npt.NDArray[np.uint8], ...]
    often: tuple[npt.NDArray[np.float32], ...]


def make_nights(
    streets: Streets,
    folders: Sequence[Path] = (),
    *,
    seed: int = 0,
    step: Callable[[], object] = lambda: None,
) -> Nights:
    """Nights and dusks of the streets that have a road; `folders` of photographs in the order of `TIMES`."""
    tasks = [(picture, ids, seed + n) for n, (picture, ids) in enumerate(zip(streets.pictures, streets.ids))]
    count = min(len(os.sched_getaffinity(0)), len(tasks))
    layers: list[npt.NDArray[np.uint8] | None] = []
    with ProcessPoolExecutor(count, get_context("spawn")) as pool:
        for made in pool.map(_layers, tasks, chunksize=8):
            layers.append(made)
            step()
    rows = [row for row, made in enumerate(layers) if made is not None]
    if not rows:
        raise BadInput("no scene shows a road that leads away, which made nights need; name others")
    size = streets.ids.shape[1:]
    found = [_photographs(folder, (int(size[0]), int(size[1]))) for folder in folders]
    return Nights(
        streets.pictures[rows],
        np.stack([made for made in layers if made is not None]),
        streets.ids[rows],
        tuple(pictures for pictures, _ in found),
        tuple(often for _, often in found),
    )


def _layers(task: tuple[Image, npt.NDArray[np.uint8], int]) -> npt.NDArray[np.uint8] | None:
    picture, ids, seed = task
    cv2.setNumThreads(1)
    ground = ground_of(LabelMap(ids, STREET))
    if ground is None:
        return None
    end = (ground.horizon, ground.vanishing)
    light = picture.astype(np.float32) / np.float32(255)
    around = surroundings_of(light, ids, *end)
    made = [change_weather(picture, ids, end, kind, STRENGTH, np.random.default_rng(seed)) for kind in TIMES]
    rest = [np.rint(255 * np.clip(one, 0, 1)) for one in (around.shadowless(light), around.sky)]
    return np.dstack([rest[0], *made, rest[1]]).astype(np.uint8)


def _photographs(
    folder: Path, size: tuple[int, int]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32]]:
    """All of a folder, cut to one size, and how often each is shown: one place as often as another."""
    found = []
    for scene in load_scenes(str(folder)):
        image = np.asarray(scene.image)
        scale = min(image.shape[0] / size[0], image.shape[1] / size[1])
        rows, columns = round(size[0] * scale), round(size[1] * scale)
        top, left = (image.shape[0] - rows) // 2, (image.shape[1] - columns) // 2
        cut = np.ascontiguousarray(image[top : top + rows, left : left + columns])
        found.append(cv2.resize(cut, (size[1], size[0]), interpolation=cv2.INTER_AREA))
    small = np.stack([cv2.resize(one, SMALL, interpolation=cv2.INTER_AREA).mean(axis=2) for one in found])
    told = small.reshape(len(found), -1) - small.mean(axis=(1, 2))[:, None]
    told /= np.linalg.norm(told, axis=1, keepdims=True) + 1e-6
    return np.stack(found), (1 / np.maximum(1, (told @ told.T > ALIKE).sum(axis=1))).astype(np.float32)
