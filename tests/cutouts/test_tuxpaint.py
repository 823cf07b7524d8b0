"""Stamps out of a Debian package: the wanted ones, trimmed, under their classes."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

from instar.core.errors import BadInput, FetchFailed
from instar.cutouts.tuxpaint import STAMPS, pool_from_tuxpaint
from instar.imaging.codecs import encode_png
from instar.tasks.detection.coco_names import COCO_NAMES


def stamp(height: int, width: int) -> bytes:
    """A red thing of that size within an empty margin."""
    pixels = np.zeros((height + 20, width + 20, 4), np.uint8)
    pixels[10:-10, 10:-10] = (200, 30, 30, 255)
    return encode_png(pixels)


def package(folder: Path, files: dict[str, bytes]) -> tuple[Path, str]:
    """A package with these files, and its hash."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:xz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"./{STAMPS}{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    content = b"!<arch>\n"
    for name, part in (("debian-binary", b"2.0\n"), ("data.tar.xz", data.getvalue())):
        content += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(part):<10}`\n".encode() + part
        content += b"\n" * (len(part) % 2)
    path = folder / "stamps.deb"
    path.write_bytes(content)
    return path, hashlib.sha256(content).hexdigest()


def test_wanted_stamps_become_cut_outs_of_their_class(tmp_path: Path) -> None:
    files = {
        "animals/mammals/bovines/cow.png": stamp(60, 90),
        "animals/mammals/bovines/yak.png": stamp(60, 90),
        "vehicles/auto/sedan.png": stamp(400, 800),
    }
    deb, sha256 = package(tmp_path, files)
    pool = pool_from_tuxpaint(tmp_path / "pool", package=deb, sha256=sha256)
    assert {(c.label, c.height, c.width, c.licence) for c in pool.cutouts} == {
        ("cow", 60, 90, "GPL-2"),
        ("car", 160, 320, "GPL-2"),
    }
    cow = next(c for c in pool.cutouts if c.label == "cow")
    assert pool.pixels(cow.digest)[0, 0].tolist() == [200, 30, 30, 255]


def test_another_file_is_refused(tmp_path: Path) -> None:
    deb, _ = package(tmp_path, {})
    with pytest.raises(BadInput, match="its SHA-256 is"):
        pool_from_tuxpaint(tmp_path / "pool", package=deb)
    assert not (tmp_path / "pool").exists()


def test_without_apt_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FetchFailed, match=r"give tuxpaint-stamps-default_.* with --package"):
        pool_from_tuxpaint(tmp_path / "pool")


def test_classes_are_those_of_coco() -> None:
    from instar.cutouts.tuxpaint import STAMPS_BY_CLASS

    assert set(STAMPS_BY_CLASS) <= set(COCO_NAMES)
