"""The fingerprint under which answers are kept: the system's own word, its source, and its files."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from instar.core.system import System

DEEPEST = 4  # levels of options in which names of files are looked for


def fingerprint_of(system: System) -> str:
    """The system's own fingerprint or name, and the source of its class where that is a user's."""
    if getattr(system, "isolated", False):  # then its process has seen to it
        return str(system.fingerprint)  # type: ignore[attr-defined]  # as is said in `core/system.py`
    holder = getattr(system, "function", type(system))
    module = sys.modules.get(getattr(holder, "__module__", None) or "")
    path = Path(getattr(module, "__file__", None) or "")
    return fingerprint_with(system, [path] if _is_foreign(path) else [])


def fingerprint_with(system: System, files: Iterable[Path]) -> str:
    """The system's own fingerprint or name, with a hash of what the files hold."""
    own = str(getattr(system, "fingerprint", system.name))
    total = hashlib.sha256()
    some = False
    for path in sorted(set(files)):
        with contextlib.suppress(OSError), path.open("rb") as file:
            total.update(path.name.encode())
            while part := file.read(1 << 20):
                total.update(part)
            some = True
    return f"{own} {total.hexdigest()[:16]}" if some else own


def files_of(system: System, named_in: Any, opened: Iterable[str]) -> list[Path]:
    """The user's files that a system was made of.

    They are the modules that were imported, what was opened while it was built, and what its options
    (`named_in`) and its attributes name. Installed packages are left out, and so is whatever lies neither
    below the current folder nor beside one of the modules, unless it was named: caches and logs of libraries
    change all the time.
    """
    loaded = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    modules = {path for path in map(_resolve, filter(None, loaded)) if path and _is_foreign(path)}
    roots = {Path.cwd().resolve(), *(path.parent for path in modules)}
    seen = {path for path in map(_resolve, opened) if path and _is_foreign(path)}
    beside = {path for path in seen if any(root in path.parents for root in roots)}
    named = {_resolve(text) for text in _texts([named_in, getattr(system, "__dict__", {})], DEEPEST)}
    return sorted({*modules, *beside, *(path for path in named if path is not None)})


@contextlib.contextmanager
def watch_files() -> Iterator[list[str]]:
    """The names of the files that are opened for reading meanwhile. A hook cannot be taken away again, so
    this is for processes that end soon.
    """
    opened: list[str] = []
    watching = True

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        if watching and event == "open":
            path, mode, flags = arguments
            reads = mode is None or not set(str(mode)) & set("wax+")
            if isinstance(path, (str, Path)) and reads and not (flags or 0) & (os.O_WRONLY | os.O_RDWR):
                opened.append(str(path))

    sys.addaudithook(look)
    try:
        yield opened
    finally:
        watching = False


def _is_foreign(path: Path) -> bool:
    """Whether a file is the user's own: neither Python's, nor an installed package's, nor ours."""
    return path.is_file() and path.suffix != ".pyc" and not _not_theirs().intersection(path.parents)


@cache
def _not_theirs() -> frozenset[Path]:
    places = sysconfig.get_paths()
    installed = [Path(places[key]).resolve() for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    return frozenset([*installed, Path(__file__).resolve().parents[1]])


def _resolve(text: str) -> Path | None:
    """The file of that name, where there is one."""
    with contextlib.suppress(OSError, ValueError):
        path = Path(text).resolve()
        if path.is_file():
            return path
    return None


def _texts(value: Any, deep: int) -> Iterator[str]:
    """The texts in a value and in what it holds that could name a file."""
    if isinstance(value, (str, Path)):
        yield str(value)
    elif deep and isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item, deep - 1)
    elif deep and isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item, deep - 1)
    elif deep and dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _texts(getattr(value, field.name, None), deep - 1)
