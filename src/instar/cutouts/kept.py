"""Cut-outs that are made while a campaign runs: a folder that only grows."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from instar.core.digest import digest
from instar.core.errors import RunError
from instar.cutouts.pool import Pool
from instar.imaging.codecs import encode_png
from instar.imaging.paste import RGBA


class KeptCutOuts:
    """Cut-outs by content hash; several threads may keep and read them."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._kept = folder, Pool(folder, ())

    def pixels(self, name: str) -> RGBA:
        """The cut-out with that content hash."""
        return self._kept.pixels(name)

    def keep(self, pixels: RGBA) -> str:
        """The content hash under which it is found again."""
        name = digest(pixels)
        path = self._folder / f"{name}.png"
        if not path.exists():
            write_once(path, encode_png(pixels))
        return name


def write_once(path: Path, content: bytes) -> None:
    """All of the file or nothing, also where several threads write the same."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with open(handle, "wb") as file:
                file.write(content)
            os.replace(unfinished, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(unfinished)
            raise
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror or error}; look at the disk") from error
