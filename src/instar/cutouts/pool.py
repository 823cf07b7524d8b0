"""The pool of cut-outs: a folder of pictures with an index, and the choice of one for a background."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from instar.digest import digest
from instar.errors import BadInput
from instar.imaging.codecs import decode_png_exact, encode_png
from instar.imaging.hashing import hamming
from instar.imaging.paste import RGBA

__all__ = ["CutOut", "CutOuts", "Pool", "load_pool", "save_pool", "write_cutout"]

INDEX = "index.json"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class CutOut:
    """What is known of one cut-out without looking at its pixels. `area` is of the mask, in pixels."""

    digest: str
    label: str
    scene: str
    width: int
    height: int
    area: int
    hash: int


class CutOuts(Protocol):
    """Anything that gives the pixels of a cut-out by its content hash: a pool, or a run's pictures."""

    def pixels(self, name: str, /) -> RGBA: ...


class Pool:
    """Cut-outs by class. Pixels stay on disk; those used most recently are kept at hand."""

    def __init__(self, folder: Path, cutouts: Sequence[CutOut]) -> None:
        self.cutouts = tuple(sorted(cutouts, key=lambda c: (c.label, c.digest)))
        self._by_label: dict[str, tuple[CutOut, ...]] = {}
        for cutout in self.cutouts:
            self._by_label[cutout.label] = (*self._by_label.get(cutout.label, ()), cutout)
        self._hashes = {
            label: np.array([c.hash for c in group], np.uint64) for label, group in self._by_label.items()
        }
        self._scenes = {label: np.array([c.scene for c in group]) for label, group in self._by_label.items()}
        self._read: Callable[[str], RGBA] = lru_cache(maxsize=256)(lambda name: _read(folder, name))

    def __len__(self) -> int:
        return len(self.cutouts)

    def pixels(self, name: str) -> RGBA:
        """The cut-out with that content hash."""
        return self._read(name)

    def nearest(self, label: str, reference: int, *, not_from: str) -> CutOut | None:
        """The cut-out of that class that looks most like the reference hash, never one of the same scene.

        Equally near ones are told apart by their content hash, so that the choice is always the same.
        """
        group = self._by_label.get(label)
        if group is None:
            return None
        distances = hamming(self._hashes[label], reference)
        distances[self._scenes[label] == not_from] = 65
        best = int(np.argmin(distances))
        return group[best] if distances[best] < 65 else None


def write_cutout(folder: Path, pixels: RGBA) -> str:
    """Keep the pixels under their content hash, which is given back."""
    name = digest(pixels)
    (folder / f"{name}.png").write_bytes(encode_png(pixels))
    return name


def save_pool(folder: Path, cutouts: Sequence[CutOut]) -> None:
    """Write the index, last of all and at once: a folder without one is no pool yet."""
    text = json.dumps({"format": FORMAT, "cutouts": [asdict(cutout) for cutout in cutouts]}, indent=1)
    unfinished = folder / f"{INDEX}.part"
    unfinished.write_text(text + "\n", encoding="utf-8")
    os.replace(unfinished, folder / INDEX)


def load_pool(folder: Path | str) -> Pool:
    """The pool in a folder."""
    folder = Path(folder)
    index = folder / INDEX
    if not index.is_file():
        raise BadInput(f"{folder} is no pool of cut-outs: it has no {INDEX}")
    try:
        content: dict[str, Any] = json.loads(index.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise BadInput(f"{index} has format {content['format']!r}; this instar reads {FORMAT}")
        return Pool(folder, [CutOut(**fields) for fields in content["cutouts"]])
    except (KeyError, TypeError, ValueError) as wrong:
        raise BadInput(f"{index} is damaged ({wrong}); build the pool again") from wrong


def _read(folder: Path, name: str) -> RGBA:
    path = folder / f"{name}.png"
    if not (name.isalnum() and path.is_file()):
        raise BadInput(f"{path} is missing from the pool; build it again")
    pixels = decode_png_exact(path.read_bytes())
    if digest(pixels) != name:
        raise BadInput(f"{path} is not the cut-out it was; build the pool again")
    return pixels
