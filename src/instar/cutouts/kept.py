"""Cut-outs that are made while a campaign runs: a folder that only grows."""

from __future__ import annotations

from pathlib import Path

from instar.core.digest import digest
from instar.cutouts.pool import Pool
from instar.imaging.codecs import encode_png
from instar.imaging.paste import RGBA
from instar.user_file import whole_file


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
            with whole_file(path) as unfinished:
                unfinished.write_bytes(encode_png(pixels))
        return name
