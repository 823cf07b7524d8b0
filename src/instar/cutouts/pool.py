"""The pool of cut-outs: a folder of pictures with an index, and the choice of one for a background."""

from __future__ import annotations

import contextlib
import json
import math
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import numpy as np
import numpy.typing as npt

from instar.core.digest import digest
from instar.core.errors import BadInput, RunError
from instar.imaging.average_hash import hamming
from instar.imaging.codecs import decode_exact, encode_png
from instar.imaging.paste import RGBA
from instar.user_file import read_json, write_whole

INDEX = "index.json"
FORMAT = 1
KINDS = (".png", ".webp")
NEVER = 65  # bits; no two hashes differ in so many


@dataclass(frozen=True, slots=True)
class CutOut:
    """What is known of one cut-out without looking at its pixels. `area` is of the mask, in pixels.

    `metres` is how high the thing itself is, 0 where nobody knows. Licence and creator are those of what
    comes along or was fetched; what is cut from the user's own scenes has none.
    """

    digest: str
    label: str
    scene: str
    width: int
    height: int
    area: int
    hash: int
    metres: float = 0.0
    licence: str = ""
    creator: str = ""

    def __post_init__(self) -> None:
        texts = (self.digest, self.label, self.scene, self.licence, self.creator)
        sizes = (self.width, self.height, self.area)
        if not all(isinstance(text, str) for text in texts):
            raise TypeError(f"a cut-out with {texts}, which are not all texts")
        if not all(isinstance(size, int) and size > 0 for size in sizes):
            raise ValueError(f"a cut-out of {sizes}, which are not all whole numbers from 1 on")
        if not (isinstance(self.hash, int) and 0 <= self.hash < 2**64):
            raise ValueError(f"a cut-out with the hash {self.hash}, which has not 64 bits")
        if not (isinstance(self.metres, (int, float)) and 0 <= self.metres < math.inf):
            raise ValueError(f"a cut-out {self.metres!r} metres high")


class CutOuts(Protocol):
    """Anything that gives the pixels of a cut-out by its content hash: a pool, or a run's pictures."""

    def pixels(self, name: str, /) -> RGBA: ...


class Pool:
    """Cut-outs by class. Pixels stay on disk; those used most recently are kept at hand.

    `homes` are the folders of those cut-outs, by content hash, that lie elsewhere. `without` are the classes
    that were found where the pool was made, but without one that made a good cut-out.
    """

    def __init__(
        self,
        folder: Path,
        cutouts: Sequence[CutOut],
        homes: Mapping[str, Path] = MappingProxyType({}),
        without: Sequence[str] = (),
    ) -> None:
        self.folder = folder
        self.without = tuple(without)
        self.cutouts = tuple(sorted(cutouts, key=lambda c: (c.label, c.digest)))
        by_label = groupby(self.cutouts, key=lambda c: c.label)
        self._classes = {label: _Class.of(list(group)) for label, group in by_label}
        self._read: Callable[[str], RGBA] = lru_cache(maxsize=256)(
            lambda name: _read(homes.get(name, folder), name)
        )

    def __len__(self) -> int:
        return len(self.cutouts)

    def __contains__(self, label: object) -> bool:
        return label in self._classes

    def pixels(self, name: str) -> RGBA:
        """The cut-out with that content hash."""
        return self._read(name)

    def nearest_few(self, label: str, reference: int, *, not_from: str, most: int) -> tuple[CutOut, ...]:
        """The cut-outs of that class that look most like the reference hash, never of the same scene.

        Equally near ones are told apart by their content hash, so that the choice is always the same.
        """
        known = self._classes.get(label)
        if known is None:
            return ()
        distances = hamming(known.hashes, reference)
        distances[known.scenes == not_from] = NEVER
        best = np.argsort(distances, kind="stable")[:most]
        return tuple(known.cutouts[i] for i in best.tolist() if distances[i] < NEVER)


@dataclass(frozen=True, slots=True, eq=False)
class _Class:
    """The cut-outs of one class, and as arrays what they are chosen by."""

    cutouts: Sequence[CutOut]
    hashes: npt.NDArray[np.uint64]
    scenes: npt.NDArray[np.str_]

    @classmethod
    def of(cls, cutouts: Sequence[CutOut]) -> _Class:
        return cls(
            cutouts,
            np.array([c.hash for c in cutouts], np.uint64),
            np.array([c.scene for c in cutouts]),
        )


def join_pools(first: Pool, second: Pool, name: Callable[[str], str]) -> Pool:
    """The first pool, and of the second the classes that the first has not; `name` is each class's name."""
    own = [replace(cutout, label=name(cutout.label)) for cutout in first.cutouts]
    known = {cutout.label for cutout in own}
    other = [replace(cutout, label=name(cutout.label)) for cutout in second.cutouts]
    added = [cutout for cutout in other if cutout.label not in known]
    return Pool(first.folder, [*own, *added], {cutout.digest: second.folder for cutout in added})


def bundled_pool() -> Pool:
    """The rendered objects that come along; see `objects/ATTRIBUTION.md`."""
    return load_pool(Path(__file__).with_name("objects"))


def write_cutout(folder: Path, pixels: RGBA) -> str:
    """Keep the pixels under their content hash, which is given back."""
    name = digest(pixels)
    (folder / f"{name}.png").write_bytes(encode_png(pixels))
    return name


@contextlib.contextmanager
def new_pool(folder: Path) -> Iterator[Path]:
    """Where to build a pool: it lies beside `folder` until it is complete."""
    building = folder.with_name(folder.name + ".building")
    try:
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir(parents=True)
        yield building
        building.rename(folder)
    except OSError as error:
        raise RunError(
            f"cannot write the pool {folder}: {error.strerror or error}; look at the disk"
        ) from error


def save_pool(folder: Path, cutouts: Sequence[CutOut], without: Sequence[str] = ()) -> None:
    """Write the index, last of all and at once: a folder without one is no pool yet."""
    content = {"format": FORMAT, "without": list(without), "cutouts": [asdict(one) for one in cutouts]}
    write_whole(folder / INDEX, json.dumps(content, indent=1) + "\n")


def load_pool(folder: Path | str) -> Pool:
    """The pool in a folder."""
    folder = Path(folder)
    index = folder / INDEX
    if not index.is_file():
        raise BadInput(f"{folder} is no pool of cut-outs: it has no {INDEX}")
    content = read_json(index, "index of cut-outs")
    try:
        if content["format"] != FORMAT:
            raise BadInput(f"{index} has format {content['format']!r}; this instar reads {FORMAT}")
        cutouts = [CutOut(**fields) for fields in content["cutouts"]]
        return Pool(folder, cutouts, without=[str(label) for label in content.get("without", ())])
    except (KeyError, TypeError, ValueError) as wrong:
        raise BadInput(f"{index} is damaged ({wrong}); build the pool again") from wrong


def _read(folder: Path, name: str) -> RGBA:
    files = (folder / f"{name}{kind}" for kind in KINDS if name.isalnum())
    path = next((file for file in files if file.is_file()), None)
    if path is None:
        raise BadInput(f"{folder / name}.png is missing from the pool; build it again")
    pixels = decode_exact(path.read_bytes())
    if digest(pixels) != name:
        raise BadInput(f"{path} is not the cut-out it was; build the pool again")
    return pixels
