"""Panels of findings in a run folder: a line of JSON for each case, its pictures beside it by content hash.

Pictures are JPEG files, since they are only looked at: whatever a verdict rests on is made again exactly.
Those of a user's own relation are kept without loss, since only its code could make them again. A case whose
pictures have no room has an empty line.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.digest import digest
from instar.core.errors import InstarError, RunError
from instar.core.frame import Frame
from instar.core.marks import Dial, Mark, Panel
from instar.imaging.codecs import decode_picture, encode_jpeg, encode_png
from instar.store.folder import MALFORMED
from instar.user_file import write_whole

QUALITY = 90


class PanelFolder:
    """The pictures of panels, in a folder that only ever grows, up to a number of bytes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._room = math.inf

    def limit(self, most: int) -> None:
        """Let the folder grow to so many bytes, with all that is in it already."""
        self._room = most - sum(path.stat().st_size for path in self._folder.rglob("*") if path.is_file())

    def spend(self, size: int) -> None:
        """Count bytes that something else wrote into the folder."""
        self._room -= size

    def keep(self, panels: Sequence[Panel], *, exact: bool = False) -> str:
        """Write the pictures; the line that describes them, empty where there is no room."""
        told = []
        files: dict[Path, bytes] = {}
        for panel in panels:
            picture = self._add(files, panel.picture, exact=exact)
            one: dict[str, Any] = {"title": panel.title, "picture": picture}
            if panel.marks:
                one["marks"] = [
                    [[[round(x, 1), round(y, 1)] for x, y in m.outline], m.fate, m.label] for m in panel.marks
                ]
            if panel.dials:
                one["dials"] = [[d.name, d.value, d.unit, d.low, d.high] for d in panel.dials]
            if panel.heat is not None:
                levels = np.rint(np.clip(panel.heat, 0, 1) * 255).astype(np.uint8)
                one["heat"] = self._add(files, np.repeat(levels[..., None], 3, axis=2), exact=True)
            if panel.frame is not None:
                frame = panel.frame
                one["frame"] = [frame.matrix.ravel().tolist(), frame.source_size, frame.size]
            told.append(one)
        size = sum(map(len, files.values()))
        if files and size > self._room:
            self._room = 0  # from now on none is kept: not whichever happens to be small
            return ""
        for path, content in files.items():
            write_whole(path, content)
        self.spend(size)
        return json.dumps(told, separators=(",", ":"))

    def read(self, line: str) -> list[Panel]:
        """The panels of a line that `keep` made."""
        try:
            return [self._panel(one) for one in json.loads(line)]
        except (*MALFORMED, InstarError) as error:
            raise RunError(f"pictures of a case cannot be read from {self._folder}: {error}") from error

    def _panel(self, one: Mapping[str, Any]) -> Panel:
        marks = [
            Mark(tuple((float(x), float(y)) for x, y in outline), fate, str(label))
            for outline, fate, label in one.get("marks", ())
        ]
        dials = [
            Dial(str(n), float(v), str(u), float(lo), float(hi)) for n, v, u, lo, hi in one.get("dials", ())
        ]
        heat = None
        if "heat" in one:
            heat = (self._pixels(one["heat"])[..., 0] / 255).astype(np.float32)
        frame = None
        if "frame" in one:
            matrix, source_size, size = one["frame"]
            frame = Frame(np.array(matrix, np.float64).reshape(3, 3), tuple(source_size), tuple(size))
        return Panel(str(one["title"]), self._pixels(one["picture"]), tuple(marks), tuple(dials), heat, frame)

    def _add(self, files: dict[Path, bytes], picture: npt.NDArray[np.uint8], *, exact: bool = False) -> str:
        """The name of the picture, and among `files` what has to be written for it."""
        name = f"{digest(np.asarray(picture))}.{'png' if exact else 'jpg'}"
        path = self._path(name)
        if path not in files and not path.exists():
            files[path] = encode_png(picture) if exact else encode_jpeg(picture, QUALITY)
        return name

    def _pixels(self, name: str) -> npt.NDArray[np.uint8]:
        path = self._path(name)
        if not path.is_file():
            raise RunError(f"picture {name} is missing")
        return decode_picture(path.read_bytes())

    def _path(self, name: str) -> Path:
        stem, _, kind = str(name).partition(".")
        if not (stem.isalnum() and kind in ("jpg", "png")):
            raise RunError(f"{name!r} is no content hash")
        return self._folder / stem[:2] / name
