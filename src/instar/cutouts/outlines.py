"""Outlines of objects: how much of each pixel belongs to what is in a box."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from instar.core.digest import digest
from instar.core.scene import Image
from instar.imaging.geometry import Box
from instar.user_file import whole_file


@dataclass(frozen=True, slots=True, eq=False)
class SoftOutline:
    """`alpha` is `uint8 (H, W)`, 255 within the object. `quality` is 0 to 1: how sure its edge is."""

    alpha: npt.NDArray[np.uint8]
    quality: float


Outliner: TypeAlias = Callable[[Image, Box], SoftOutline]
"""The outline of the object in a box of a picture."""


def keep_outlines(outline: Outliner, folder: Path) -> Outliner:
    """The same outliner with a memory on disk, by the content of the picture and the box."""

    def kept(picture: Image, box: Box) -> SoftOutline:
        rounded = [round(float(side), 2) for side in box]
        path = folder / f"{digest([picture, rounded])}.npz"
        found = _read(path, (picture.shape[0], picture.shape[1]))
        if found is None:
            found = outline(picture, box)
            with whole_file(path) as unfinished:
                np.savez_compressed(unfinished, alpha=found.alpha, quality=np.float64(found.quality))
        return found

    return kept


def _read(path: Path, shape: tuple[int, int]) -> SoftOutline | None:
    """What was kept; None where there is nothing, or nothing of use."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as kept:
            alpha, quality = kept["alpha"], float(kept["quality"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    return SoftOutline(alpha, quality) if alpha.dtype == np.uint8 and alpha.shape == shape else None
