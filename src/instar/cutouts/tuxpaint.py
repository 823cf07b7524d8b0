"""Photographic cut-outs of animals, vehicles and fruit out of Debian's `tuxpaint-stamps-default`.

The collection is under the GPL, version 2: it is fetched at the user's word and never comes along. Only
pictures are taken out of the package, in memory; nothing of it runs.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from instar.core.errors import BadInput, FetchFailed
from instar.cutouts.pool import CutOut, Pool, load_pool, new_pool, save_pool, write_cutout
from instar.imaging.average_hash import average_hash
from instar.imaging.codecs import decode_exact
from instar.imaging.geometry import mask_bounds
from instar.imaging.paste import RGBA, resized
from instar.user_file import load_resource

PACKAGE, VERSION = "tuxpaint-stamps-default", "2022.06.04-1"
SHA256 = "6db6c1bfc870a47f1499d6203b083522eacb57c5f9c87d468f2e92eb6d9d5f34"
LICENCE = "GPL-2"
CREATOR = "the Tux Paint stamps' contributors"
STAMPS = "usr/share/tuxpaint/stamps/"
SIDE = 320  # pixels of the longer side
PATIENCE = 900  # seconds for a download of 161 MB

STAMPS_BY_CLASS: Mapping[str, str] = load_resource("instar.cutouts", "tuxpaint.toml")
"""A folder of the collection, and the names in it, without `.png`."""


def pool_from_tuxpaint(folder: Path, *, package: Path | None = None, sha256: str = SHA256) -> Pool:
    """A pool in a new folder. `package` is the `.deb` where it is there already; else apt-get fetches it."""
    with tempfile.TemporaryDirectory(prefix="instar-") as temporary:
        data = _read_package(package or _download(Path(temporary)), sha256)
    with new_pool(folder) as building:
        cutouts = [
            _keep(building, label, path, pixels)
            for label, path, content in _pictures(data)
            if (pixels := _trimmed(decode_exact(content))) is not None
        ]
        save_pool(building, cutouts)
    return load_pool(folder)


def _download(folder: Path) -> Path:
    by_hand = f"give {PACKAGE}_{VERSION}_all.deb (SHA-256 {SHA256}) from a Debian mirror with --package"
    apt = shutil.which("apt-get")
    if apt is None:
        raise FetchFailed(f"there is no apt-get to fetch {PACKAGE}; {by_hand}")
    try:
        subprocess.run(
            [apt, "download", f"{PACKAGE}={VERSION}"],
            cwd=folder, check=True, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        return next(folder.glob("*.deb"))
    except (subprocess.SubprocessError, OSError, StopIteration) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        raise FetchFailed(
            f"apt-get cannot fetch {PACKAGE} ({said[-1] if said else error}); {by_hand}"
        ) from None


def _read_package(path: Path, sha256: str) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from None
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise BadInput(f"{path} is not {PACKAGE} {VERSION}: its SHA-256 is {found} instead of {sha256}")
    return _ar_member(content, "data.tar.xz")


def _ar_member(content: bytes, wanted: str) -> bytes:
    """One file out of a Debian package, which is an `ar` archive: headers of 60 bytes, even lengths."""
    at = 8
    while at + 60 <= len(content):
        name, size = (
            content[at : at + 16].decode("ascii").strip().rstrip("/"),
            int(content[at + 48 : at + 58]),
        )
        if name == wanted:
            return content[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
    raise BadInput(f"the package has no {wanted}")


def _pictures(data: bytes) -> Iterator[tuple[str, str, bytes]]:
    """Class, path and bytes of every wanted stamp."""
    wanted = dict(_wanted())
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:xz") as archive:
        for member in archive:
            path = member.name.removeprefix("./").removeprefix(STAMPS)
            file = archive.extractfile(member) if path in wanted and member.isfile() else None
            if file is not None:
                yield wanted[path], path, file.read()


def _wanted() -> Iterator[tuple[str, str]]:
    for label, stamps in STAMPS_BY_CLASS.items():
        first, *others = stamps.split()
        folder = first.rpartition("/")[0]
        for name in (first, *(f"{folder}/{other}" for other in others)):
            yield f"{name}.png", label


def _trimmed(pixels: RGBA) -> RGBA | None:
    """Without the empty margin, and no larger than wanted; None where it has no alpha."""
    bounds = mask_bounds(pixels[..., 3] > 8) if pixels.ndim == 3 and pixels.shape[2] == 4 else None
    if bounds is None:
        return None
    left, top, right, bottom = bounds
    cut = np.ascontiguousarray(pixels[top:bottom, left:right])
    scale = min(1.0, SIDE / max(cut.shape[:2]))
    return resized(cut, max(1, round(cut.shape[1] * scale)), max(1, round(cut.shape[0] * scale)))


def _keep(folder: Path, label: str, path: str, pixels: RGBA) -> CutOut:
    height, width = pixels.shape[:2]
    area = int(np.count_nonzero(pixels[..., 3]))
    name = write_cutout(folder, pixels)
    return CutOut(
        name, label, f"tuxpaint/{path}", width, height, area, average_hash(pixels),
        licence=LICENCE, creator=CREATOR,
    )  # fmt: skip
