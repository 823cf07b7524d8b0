"""Drawn things to cut out: people, bicyclists, vehicles, lights and trees, each alone and whole.

On a drive most things are far away or half hidden.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from instar.worlds.drive.canvas import SURFACES
from instar.worlds.drive.plan import VEHICLES, Drive, Thing
from instar.worlds.drive.render import CLASS_OF, FIRST_THING, render
from instar.worlds.drive.sample import PAINTS
from instar.worlds.drive.view import Camera

__all__ = ["models"]

SIZE = (320, 640)
DISTANCES = {"tree": 20.0, "traffic light": 14.0} | dict.fromkeys(VEHICLES, 11.0)
LAMPS = ("red", "yellow", "green")


def models() -> Iterator[tuple[str, npt.NDArray[np.uint8], float]]:
    """Six of each: class, pixels `uint8 (h, w, 4)`, height over how far the feet are below the horizon."""
    for kind in ("pedestrian", "bicyclist", *VEHICLES, "traffic light", "tree"):
        for look in range(6):
            colour = LAMPS[look % 3] if kind == "traffic light" else PAINTS[look]
            distance = DISTANCES.get(kind, 6.5)
            thing = Thing(kind, distance, 1.65, colour, 17 * look, away=look % 2 == 0)
            drawn = render(Drive(look, things=(thing,)), SIZE)
            # Wheels and poles belong to what stands on them.
            mask = np.isin(drawn.owner, [FIRST_THING, SURFACES["bicycle"], SURFACES["pole"]])
            rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
            place = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
            cover = np.where(mask, np.uint8(255), np.uint8(0))
            pixels = np.dstack([drawn.picture, cover])[place]
            below = rows[-1] + 1 - Camera.of(drawn.drive, SIZE).horizon
            yield CLASS_OF[kind], np.ascontiguousarray(pixels), float((rows[-1] + 1 - rows[0]) / below)
