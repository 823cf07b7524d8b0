"""One writer per run folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from instar.core.errors import RunLocked


class RunLock:
    """Held from construction to `release`, or to the end of the process, however that comes.

    The file stays: removing it would let two processes each lock a file of the same name.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(self._file)
        except OSError as held:
            os.close(self._file)
            raise RunLocked(
                f"{path.parent} is in use by another process; wait for it, or choose another --out"
            ) from held

    def release(self) -> None:
        os.close(self._file)


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
