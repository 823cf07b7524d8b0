"""Pictures that people bring into the page, kept in folders beside the runs: each file is looked at first."""

from __future__ import annotations

import re
import threading
from pathlib import Path

from instar.core.errors import BadInput, UnreadablePicture
from instar.imaging.codecs import decode_picture
from instar.scenes.folder import SUFFIXES
from instar.user_file import write_whole
from instar.workbench.access import LARGEST_FILE
from instar.workbench.orders import NAME

MOST_FILES = 2_000  # of one set
MOST_BYTES = 2 * 2**30


class PictureSets:
    """Folders of pictures by name, below one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._keeping = threading.Lock()

    def paths(self) -> dict[str, str]:
        """Where each set is; what is offered is its name."""
        if not self._folder.is_dir():
            return {}
        there = sorted(path for path in self._folder.iterdir() if path.is_dir() and NAME.fullmatch(path.name))
        return {f"pictures/{path.name}": str(path) for path in there}

    def keep(self, name: str, file: str, content: bytes) -> int:
        """Keep a picture in that set; how many are in it then. What is no picture is refused in words."""
        if not NAME.fullmatch(name):
            raise BadInput(f"the name {name[:80]!r} must be letters, digits, dots, dashes; 60 at most")
        plain = re.sub(r"[^A-Za-z0-9._-]", "_", file.replace("\\", "/").rpartition("/")[2])
        stem, _, ending = plain.rpartition(".")
        if f".{ending}".lower() not in SUFFIXES:
            raise BadInput(f"{file[:80]} is no picture by its name; expected {', '.join(SUFFIXES)}")
        if len(content) > LARGEST_FILE:
            raise BadInput(f"{file[:80]} has {len(content):,} bytes; {LARGEST_FILE:,} at most")
        try:
            decode_picture(content)
        except UnreadablePicture as error:
            raise BadInput(f"{file[:80]}: {error}") from None
        with self._keeping:
            return self._kept(self._folder / name, stem.lstrip(".")[:80] or "picture", ending, content)

    def _kept(self, folder: Path, stem: str, ending: str, content: bytes) -> int:
        there = [path.stat().st_size for path in folder.iterdir()] if folder.is_dir() else []
        if len(there) >= MOST_FILES or sum(there) + len(content) > MOST_BYTES:
            raise BadInput(
                f"{folder.name} is full: {MOST_FILES:,} pictures and {MOST_BYTES // 2**30} GiB at most; "
                "name the folder instead of bringing it"
            )
        names = (f"{stem}.{ending}", *(f"{stem}-{n}.{ending}" for n in range(2, MOST_FILES + 2)))
        target = next(folder / one for one in names if not (folder / one).exists())
        write_whole(target, content)
        return len(there) + 1
