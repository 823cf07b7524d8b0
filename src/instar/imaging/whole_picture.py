"""Relations of sameness that need nothing but the picture: what was there is still there.

Each has the range that cameras and weather have in everyday pictures, in which nobody would say that an
object of fair size is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from instar.core.relation import Range, Relation
from instar.core.task import Task
from instar.imaging import camera
from instar.imaging.codecs import jpeg_round_trip

AT_640 = "pixels at 640"
CHANGES: Mapping[str, tuple[Callable[[Any, float], Any], Range | None]] = {
    "mirrored": (lambda picture, _: camera.mirror(picture), None),
    "shifted": (camera.shift, Range(2, 40, AT_640)),
    "cropped": (camera.crop, Range(3, 25, "percent of each side")),
    "reduced": (camera.reduce, Range(10, 50, "percent fewer pixels along each side")),
    "brightened": (camera.expose, Range(0.25, 1.25, "stops")),
    "darkened": (lambda picture, stops: camera.expose(picture, -stops), Range(0.25, 2, "stops")),
    "warmed": (camera.balance_white, Range(5, 20, "percent more red, less blue")),
    "cooled": (
        lambda picture, percent: camera.balance_white(picture, -percent),
        Range(5, 20, "percent less red, more blue"),
    ),
    "flattened": (camera.flatten_contrast, Range(5, 50, "percent less contrast")),
    "defocused": (camera.defocus, Range(0.4, 1.8, f"sigma in {AT_640}")),
    "shaken": (camera.shake, Range(2, 9, AT_640)),
    "noisy": (camera.add_grain, Range(3, 15, "grey levels")),
    "compressed": (
        lambda picture, loss: jpeg_round_trip(picture, round(100 - loss)),
        Range(20, 75, "below JPEG quality 100"),
    ),
    "hazy": (camera.veil, Range(10, 60, "percent of the light")),
    "rainy": (camera.wet, Range(10, 50, "percent of a downpour")),
}


def whole_picture_relations(task: Task) -> dict[str, Relation]:
    """The relations by name."""
    return {
        name: Relation(name, task, apply, severity=severity) for name, (apply, severity) in CHANGES.items()
    }
