"""A folder of answers as a service gave them, each named by the content hash of its picture."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from instar.core.digest import digest
from instar.core.errors import BadInput
from instar.core.scene import Image

__all__ = ["Recordings"]


class Recordings:
    """The answers of one service under one setting, as `FOLDER/SERVICE/HASH.json`.

    What a file holds is what came over the wire, so that a later version of instar may read more out of it.
    """

    def __init__(self, folder: str | Path, service: str) -> None:
        self._folder = Path(folder) / service
        if Path(folder).exists() and not Path(folder).is_dir():
            raise BadInput(f"recorded is {str(folder)!r}, which is no folder")

    def path(self, image: Image) -> Path:
        """Where the answer to a picture is, or would be."""
        return self._folder / f"{digest(image)}.json"

    def read(self, image: Image) -> bytes | None:
        try:
            return self.path(image).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadInput(f"cannot read {self.path(image)}: {error.strerror or error}") from error

    def keep(self, image: Image, body: bytes) -> None:
        """Write whole or not at all: several questions may be under way, and any may be killed."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._folder, suffix=".part", delete=False) as file:
                file.write(body)
            os.replace(file.name, self.path(image))
        except OSError as error:
            raise BadInput(f"cannot write to {self._folder}: {error.strerror or error}") from error
