"""Pictures that know the drive they show, so that a driver who goes by the truth can be asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.scene import Image
from instar.worlds.drive.plan import Drive

__all__ = ["drive_of", "showing"]


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
