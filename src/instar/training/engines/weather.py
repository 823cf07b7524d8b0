"""Street pictures in rain, snow and fog and at night, made of clear ones by the engines that rules use."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image
from instar.imaging.labels import LabelMap
from instar.imaging.street_classes import STREET
from instar.tasks.driving.engines.atmosphere import change_weather
from instar.tasks.driving.ground import ground_of
from instar.training.engines.streets import Streets

WEATHER = ("night", "rain", "snow", "fog", "dusk")
AMOUNTS = (0.4, 1.0)  # from less than light to heavy
USUAL = 0.7


def in_weather(
    streets: Streets,
    kinds: Sequence[str] = WEATHER,
    *,
    varied: bool = True,
    seed: int = 0,
    workers: int | None = None,
    step: Callable[[], object] = lambda: None,
) -> Streets:
    """Each picture in each weather, all of one kind together; label maps stay as they are.

    The amount is drawn at random, or is the usual one where it is not `varied`. A picture without a road
    stays clear.
    """
    places = [(row, kind) for kind in kinds for row in range(len(streets))]
    tasks = [
        (streets.pictures[row], streets.ids[row], kind, varied, seed + number)
        for number, (row, kind) in enumerate(places)
    ]
    count = min(workers or len(os.sched_getaffinity(0)), len(tasks))
    made: list[Image] = []
    if count > 1:
        with ProcessPoolExecutor(count, get_context("spawn")) as pool:
            for picture in pool.map(_changed, tasks, chunksize=8):
                made.append(picture)
                step()
    else:
        for task in tasks:
            made.append(_changed(task))
            step()
    rows = [row for row, _ in places]
    names = tuple(f"{streets.names[row]} {kind}" for row, kind in places)
    return Streets(names, np.stack(made), streets.ids[rows])


def _changed(task: tuple[Image, npt.NDArray[np.uint8], str, bool, int]) -> Image:
    picture, ids, kind, varied, seed = task
    cv2.setNumThreads(1)
    ground = ground_of(LabelMap(ids, STREET))
    if ground is None:
        return picture
    rng = np.random.default_rng(seed)
    amount = float(rng.uniform(*AMOUNTS)) if varied else USUAL
    return change_weather(picture, ids, (ground.horizon, ground.vanishing), kind, amount, rng)
