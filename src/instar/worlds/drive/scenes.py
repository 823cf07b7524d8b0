"""Drives as scenes of a campaign, whose pictures know the drive that they show.

So a driver who goes by the truth can be asked like any other.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.core.scene import Image, Mask, Scene, SceneObject
from instar.imaging.labels import LabelMap
from instar.worlds.drive.canvas import SURFACES, Camera
from instar.worlds.drive.driver import careful_speed, careful_steering
from instar.worlds.drive.plan import VEHICLES, Drive, Thing
from instar.worlds.drive.render import CLASS_OF, FIRST_THING, Rendered, render
from instar.worlds.drive.sample import PAINTS, sample_drive

LEAST = 32  # pixels on a side
LEAST_SEEN = 30  # pixels of an object; fewer are nothing to speak of
KEPT = 64  # drives that are kept as drawn: a campaign looks at each of them many times
MODEL_SIZE = (320, 640)
MODEL_DISTANCES = {"tree": 20.0, "traffic light": 14.0} | dict.fromkeys(VEHICLES, 11.0)
LAMPS = ("red", "yellow", "green")


def scenes(n: int, *, seed: int = 0, size: tuple[int, int] = (160, 320)) -> list[Scene]:
    """`n` drives of `size` (height, width), each the same for the same seed and index.

    A scene's `knowledge` has the description under "drive", "labels" and "objects" that are made when called,
    and under "speed" (km/h) and "steering" (degrees, + left) what a careful driver would choose.

    >>> [scene.id for scene in scenes(2)]
    ['drive-0000', 'drive-0001']
    """
    if n < 1:
        raise BadInput(f"drive: {n} scenes; ask for at least 1")
    if min(size) < LEAST:
        raise BadInput(f"drive: size is {size[0]}x{size[1]}; each side must be at least {LEAST} pixels")
    return [
        scene_of(sample_drive(seed * 1_000_003 + index), f"drive-{index:04}", size=size) for index in range(n)
    ]


def scene_of(drive: Drive, id: str, *, size: tuple[int, int] = (160, 320)) -> Scene:
    """One drive as a scene."""
    drawn = functools.partial(_rendered, drive, size)
    return Scene(
        id,
        read=functools.partial(_picture, drawn),
        knowledge={
            "drive": drive,
            "labels": functools.partial(_labels, drawn),
            "objects": functools.partial(_objects, drawn),
            "speed": careful_speed(drive),
            "steering": careful_steering(drive),
        },
    )


@functools.lru_cache(maxsize=KEPT)
def _rendered(drive: Drive, size: tuple[int, int]) -> Rendered:
    return render(drive, size)


def _picture(drawn: Callable[[], Rendered]) -> Image:
    rendered = drawn()
    # A copy, because the caller may write into what it reads and the kept picture must stay as it is.
    return showing(rendered.picture.copy(), rendered.drive)


def _labels(drawn: Callable[[], Rendered]) -> LabelMap:
    return drawn().labels()


def _objects(drawn: Callable[[], Rendered]) -> tuple[SceneObject, ...]:
    """What stands in the street and is seen, trees and lamps left out."""
    rendered = drawn()
    found = []
    for number, thing in enumerate(rendered.drive.things):
        mask = rendered.mask(number)
        if thing.kind in ("tree", "lamp") or np.count_nonzero(mask) < LEAST_SEEN:
            continue
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        box = (float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1))
        found.append(SceneObject(CLASS_OF[thing.kind], box, mask=functools.partial(_mask, drawn, number)))
    return tuple(found)


def _mask(drawn: Callable[[], Rendered], number: int) -> Mask:
    return drawn().mask(number)


def models() -> Iterator[tuple[str, npt.NDArray[np.uint8], float]]:
    """Six of each: class, pixels `uint8 (h, w, 4)`, height over how far the feet are below the horizon.

    Each stands alone and whole, to be cut out: on a drive most things are far away or half hidden.
    """
    for kind in ("pedestrian", "bicyclist", *VEHICLES, "traffic light", "tree"):
        for look in range(6):
            colour = LAMPS[look % 3] if kind == "traffic light" else PAINTS[look]
            distance = MODEL_DISTANCES.get(kind, 6.5)
            thing = Thing(kind, distance, 1.65, colour, 17 * look, away=look % 2 == 0)
            drawn = render(Drive(look, things=(thing,)), MODEL_SIZE)
            # Wheels and poles belong to what stands on them.
            mask = np.isin(drawn.owner, [FIRST_THING, SURFACES["bicycle"], SURFACES["pole"]])
            rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
            place = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
            cover = np.where(mask, np.uint8(255), np.uint8(0))
            pixels = np.dstack([drawn.picture, cover])[place]
            below = rows[-1] + 1 - Camera.of(drawn.drive, MODEL_SIZE).horizon
            yield CLASS_OF[kind], np.ascontiguousarray(pixels), float((rows[-1] + 1 - rows[0]) / below)


class _Picture(np.ndarray[Any, np.dtype[np.uint8]]):
    """An image with the drive that it shows; whatever is computed from it knows nothing any more."""

    drive: Drive | None

    def __array_finalize__(self, other: Any) -> None:
        self.drive = None

    def __deepcopy__(self, _: Any) -> Image:
        return showing(np.array(self), self.drive)

    def __reduce__(self) -> Any:
        return showing, (np.asarray(self), self.drive)


def showing(image: npt.NDArray[np.uint8], drive: Drive | None) -> Image:
    """The image as one of this drive; of none, where None is given."""
    if drive is None:
        return np.asarray(image)
    picture = np.asarray(image).view(_Picture)
    picture.drive = drive
    return picture


def drive_of(image: Any) -> Drive | None:
    """The drive that an image shows, if it knows.

    >>> image = showing(np.zeros((2, 2, 3), np.uint8), Drive(4))
    >>> drive_of(image) == Drive(4), drive_of(image + 1), drive_of(np.zeros(3))
    (True, None, None)
    """
    return image.drive if isinstance(image, _Picture) else None
