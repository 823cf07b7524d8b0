"""Pictures by content: PNG files named by the hash of their pixels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from instar.core.digest import digest
from instar.core.errors import RunError, UnreadablePicture
from instar.imaging.codecs import decode_png_exact, encode_png
from instar.user_file import write_whole


class Pictures:
    """A folder of pictures that only ever grows."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, name: str, pixels: npt.NDArray[np.uint8]) -> int:
        """Write the picture unless it is there, never half; the bytes that were written."""
        path = self._path(name)
        if path.exists():
            return 0
        content = encode_png(pixels)
        write_whole(path, content)
        return len(content)

    def pixels(self, name: str) -> npt.NDArray[np.uint8]:
        """The picture under that content hash, channels as they were kept."""
        path = self._path(name)
        if not path.is_file():
            raise RunError(f"picture {name} is missing from {self._folder}; the run folder is incomplete")
        try:
            pixels = decode_png_exact(path.read_bytes())
        except (OSError, UnreadablePicture) as error:
            raise RunError(f"{path} cannot be read: {error}; the run folder was changed") from error
        if digest(pixels) != name:
            raise RunError(f"{path} is not the picture it was; the run folder was changed")
        return pixels

    def _path(self, name: str) -> Path:
        if not name.isalnum():
            raise RunError(f"{name!r} is no content hash; the run file was changed")
        return self._folder / name[:2] / f"{name}.png"
