"""A drawn drive through a town, whose truth is known: a description first, then its picture.

`sample_drive` draws a description, `render` its picture and label map, `careful_speed` and `careful_steering`
say what a careful driver would do there. Change the description, and the same street is drawn with the
change.
"""

from __future__ import annotations

from instar.worlds.drive.canvas import CLASSES, Camera
from instar.worlds.drive.driver import careful_speed, careful_steering
from instar.worlds.drive.plan import Drive, House, Road, Thing
from instar.worlds.drive.render import Rendered, render
from instar.worlds.drive.sample import sample_drive
from instar.worlds.drive.scenes import drive_of, scenes, showing

__all__ = [
    "CLASSES",
    "Camera",
    "Drive",
    "House",
    "Rendered",
    "Road",
    "Thing",
    "careful_speed",
    "careful_steering",
    "drive_of",
    "render",
    "sample_drive",
    "scenes",
    "showing",
]
